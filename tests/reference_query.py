"""One query as plain values, and what was found of it: the ground of the references."""

from collections.abc import Callable
from dataclasses import dataclass, field

Step = tuple[int, float, float]


@dataclass(frozen=True)
class Query:
    ranking: list[str]
    grades: dict[str, float]
    highest: float = 1.0
    """The highest grade in the whole ground truth."""
    corpus_size: int = 1000
    inside: dict[str, set[str]] = field(default_factory=dict)
    """The targets that a result holds; none named: itself."""
    group: dict[str, str] = field(default_factory=dict)
    """Targets of one group are alternatives: one of them is enough."""


def wanted(query: Query, rel: float | None = None) -> set[str]:
    """The items that count as relevant."""
    if rel is None:
        return {item for item, grade in query.grades.items() if grade > 0}
    return {item for item, grade in query.grades.items() if grade >= rel}


def units(query: Query, items: set[str]) -> dict[str, set[str]]:
    """The items, alternatives together."""
    found: dict[str, set[str]] = {}
    for item in items:
        found.setdefault(query.group.get(item, f"only {item}"), set()).add(item)
    return found


def shown(query: Query, k: int | None = None) -> list[set[str]]:
    """What each of the first k results holds; a copy holds nothing."""
    first_k = query.ranking[:k]
    return [
        query.inside.get(result, {result}) if result not in first_k[:i] else set()
        for i, result in enumerate(first_k)
    ]


def ranks_of(query: Query, items: set[str], k: int | None = None) -> list[int]:
    """The ranks up to k that hold one of the items."""
    return [rank for rank, held in enumerate(shown(query, k), 1) if held & items]


def found(query: Query, items: set[str], k: int | None = None) -> list[tuple[int, float]]:
    """For each unit that stands in the first k: its first rank, and its best grade there."""
    results = shown(query, k)
    firsts = []
    for unit in units(query, items).values():
        rank = next((rank for rank, held in enumerate(results, 1) if held & unit), None)
        if rank is not None:
            grade = max(query.grades[item] for item in results[rank - 1] & unit)
            firsts.append((rank, grade))
    return firsts


def paid(query: Query, items: set[str], k: int | None = None) -> list[tuple[int, float]]:
    """Position and grade of what was found: the best grade first takes the first free position
    at or after its rank."""
    taken: dict[int, float] = {}
    for rank, grade in sorted(found(query, items, k), key=lambda one: -one[1]):
        position = rank
        while position in taken:
            position += 1
        taken[position] = grade
    return sorted((at, grade) for at, grade in taken.items() if k is None or at <= k)


def improvements(query: Query, items: set[str], k: int | None = None) -> list[Step]:
    """Rank, grade, and the best grade before: of each unit, and of better alternatives of it."""
    steps = []
    for unit in units(query, items).values():
        best = None
        for rank, held in enumerate(shown(query, k), 1):
            grade = max((query.grades[item] for item in held & unit), default=None)
            if grade is not None and (best is None or grade > best):
                steps.append((rank, grade, best or 0.0))
                best = grade
    return steps


def credited(
    query: Query, items: set[str], k: int | None, value: Callable[[float, float], float]
) -> list[tuple[int, float]]:
    """Position and value of all that adds something, by its grade and the one before it: what is
    worth most takes the first free position at or after its rank."""
    taken: dict[int, float] = {}
    steps = [(rank, value(*grades)) for rank, *grades in improvements(query, items, k)]
    for rank, added in sorted(steps, key=lambda one: -one[1]):
        position = rank
        while position in taken:
            position += 1
        taken[position] = added
    return sorted((at, added) for at, added in taken.items() if k is None or at <= k)


def satisfied(grade: float, before: float, highest: float) -> float:
    """The share that a grade satisfies, of those whom an earlier one left unsatisfied."""
    return (2**grade - 2**before) / (2**highest - 2**before + 1)


def satisfaction(positions: list[tuple[int, float]]) -> float:
    """Expected reciprocal rank of what satisfies at positions."""
    total, still_reading = 0.0, 1.0
    for at, share_of_them in positions:
        total += still_reading * share_of_them / at
        still_reading *= 1 - share_of_them
    return total


def gain_of(grade: float, gain: str) -> float:
    return 2**grade - 1 if gain == "exp" else grade


def ideal(query: Query) -> list[float]:
    """The best grades there are, of alternatives the best, from the highest down."""
    some = units(query, wanted(query)).values()
    return sorted((max(query.grades[item] for item in unit) for unit in some), reverse=True)
