"""One query as plain values, and what was found of it: the ground of the references."""

from dataclasses import dataclass, field, replace


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


def worth(query: Query, gains: str | None) -> Query:
    """The query with gains in place of grades."""
    if gains is None:
        return query
    table = {2.0: 2.25, 3.0: 7.0}
    assert gains == "{2:2.25,3:7}"
    grades = {item: table.get(grade, grade) for item, grade in query.grades.items()}
    return replace(query, grades=grades, highest=table.get(query.highest, query.highest))
