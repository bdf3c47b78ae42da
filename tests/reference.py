"""Every metric for one query, as plainly as it can be said: the oracle of the tests.

Nothing here is fast and nothing is shared with the source. A query is its ranking (items, best
first, copies included) and its grades (item to number); None means undefined.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from calipers.metrics import Metric
from calipers.model.policy import Policy


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


def share(above: float, below: float) -> float | None:
    return above / below if below else None


def hit_rate(query: Query, k: int, rel: float | None = None) -> float:
    return 1.0 if ranks_of(query, wanted(query, rel), k) else 0.0


def precision(query: Query, k: int, rel: float | None = None) -> float:
    return len(ranks_of(query, wanted(query, rel), k)) / k


def recall(query: Query, k: int, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    return share(len(found(query, relevant, k)), len(units(query, relevant)))


def f1(query: Query, k: int, rel: float | None = None) -> float | None:
    return f(query, k, 1.0, rel)


def f(query: Query, k: int, beta: float = 1.0, rel: float | None = None) -> float | None:
    p, r = precision(query, k, rel), recall(query, k, rel)
    if r is None:
        return None
    return 0.0 if p + r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def full_recall(query: Query, k: int, rel: float | None = None) -> float | None:
    reached = recall(query, k, rel)
    return None if reached is None else 1.0 if reached == 1 else 0.0


def capped_recall(query: Query, k: int, rel: float | None = None) -> float | None:
    most = min(len(units(query, wanted(query, rel))), k)
    return share(min(len(found(query, wanted(query, rel), k)), most), most)


def tp(query: Query, k: int, rel: float | None = None) -> float:
    return len(found(query, wanted(query, rel), k))


def fp(query: Query, k: int, rel: float | None = None) -> float:
    return len(query.ranking[:k]) - len(ranks_of(query, wanted(query, rel), k))


def fn(query: Query, k: int, rel: float | None = None) -> float:
    return len(units(query, wanted(query, rel))) - tp(query, k, rel)


def tn(query: Query, k: int, rel: float | None = None) -> float:
    return query.corpus_size - tp(query, k, rel) - fp(query, k, rel) - fn(query, k, rel)


def mrr(query: Query, k: int | None = None, rel: float | None = None) -> float:
    ranks = ranks_of(query, wanted(query, rel), k)
    return 1 / ranks[0] if ranks else 0.0


def first_rank(query: Query, rel: float | None = None) -> float | None:
    ranks = ranks_of(query, wanted(query, rel))
    return ranks[0] if ranks else None


def average_precision(
    query: Query, k: int | None = None, denominator: str = "all", rel: float | None = None
) -> float | None:
    relevant = wanted(query, rel)
    precisions = [n / at for n, (at, _) in enumerate(paid(query, relevant, k), 1)]
    best = len(units(query, relevant))
    if denominator == "min" and k is not None:
        best = min(best, k)
    return share(sum(precisions), best)


def r_precision(query: Query, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    size = len(units(query, relevant))
    return share(len(found(query, relevant, size)), size)


def gain_of(grade: float, gain: str) -> float:
    return 2**grade - 1 if gain == "exp" else grade


def dcg(query: Query, k: int | None = None, gain: str = "linear") -> float:
    return sum(
        gain_of(grade, gain) / math.log2(at + 1) for at, grade in paid(query, wanted(query), k)
    )


def ideal(query: Query) -> list[float]:
    """The best grades there are, of alternatives the best, from the highest down."""
    some = units(query, wanted(query)).values()
    return sorted((max(query.grades[item] for item in unit) for unit in some), reverse=True)


def ndcg(query: Query, k: int | None = None, gain: str = "linear") -> float | None:
    best_first = enumerate(ideal(query)[:k], 1)
    best = sum(gain_of(grade, gain) / math.log2(rank + 1) for rank, grade in best_first)
    return share(dcg(query, k, gain), best)


def err(query: Query, k: int | None = None, gmax: float | None = None) -> float:
    highest = query.highest if gmax is None else gmax
    total, still_reading = 0.0, 1.0
    for at, grade in paid(query, wanted(query), k):
        satisfied = (2**grade - 1) / 2**highest
        total += still_reading * satisfied / at
        still_reading *= 1 - satisfied
    return total


def rbp(query: Query, p: float = 0.8, gmax: float | None = None) -> float:
    highest = query.highest if gmax is None else gmax
    return sum(
        (1 - p) * p ** (at - 1) * grade / highest for at, grade in paid(query, wanted(query))
    )


def rbp_residual(query: Query, p: float = 0.8) -> float:
    pool = {item for item, grade in query.grades.items() if grade >= 0}
    known = {*ranks_of(query, pool), *(at for at, _ in paid(query, pool))}
    return 1 - sum((1 - p) * p ** (at - 1) for at in known)


def judged(query: Query, k: int) -> float | None:
    return share(len(ranks_of(query, set(query.grades), k)), min(k, len(query.ranking)))


def bpref(query: Query, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    irrelevant = {item for item, grade in query.grades.items() if grade >= 0} - relevant
    size = len(units(query, relevant))
    useful = ranks_of(query, relevant)
    total = 0.0
    for rank, _ in found(query, relevant):
        against = [r for r in ranks_of(query, irrelevant) if r < rank and r not in useful]
        most = min(len(irrelevant), size)
        total += 1 - min(len(against), most) / most if against else 1
    return share(total, size)


REFERENCE: dict[str, Callable[..., float | None]] = {
    function.__name__: function
    for function in (
        hit_rate, precision, recall, f1, f, full_recall, capped_recall, tp, fp, fn, tn, mrr,
        first_rank, r_precision, dcg, ndcg, err, rbp, rbp_residual, judged, bpref,
    )
}  # fmt: skip
REFERENCE["map"] = average_precision


def expected(
    metric: Metric, query: Query, policy: Policy | None = None, *, missing: bool = False
) -> float | None:
    """The value of a metric for a query under a policy."""
    policy = policy or Policy()
    if missing and policy.missing == "exclude":
        return None
    given: dict[str, Any] = dict(metric.parameters)
    arguments = {**given, **({} if metric.k is None else {"k": metric.k})}
    value = REFERENCE[metric.name](query, **arguments)
    definition = metric.definition
    hopeless = not wanted(query, given.get("rel"))
    if definition.without_targets == "undefined" and hopeless:
        if policy.unanswerable == "exclude":
            return None
        # Where less is better, 0 would be a reward.
        return 0.0 if value is None and definition.better == "higher" else value
    return value
