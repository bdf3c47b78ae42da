"""Every metric for one query, as plainly as it can be said: the oracle of the tests.

Nothing here is fast and nothing is shared with the source. A query is its ranking (items, best
first, copies included) and its grades (item to number); None means undefined.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calipers.measures import Metric
from calipers.model.policy import Policy


@dataclass(frozen=True)
class Query:
    ranking: list[str]
    grades: dict[str, float]
    highest: float = 1.0
    """The highest grade in the whole ground truth."""
    corpus_size: int = 1000


def wanted(query: Query, rel: float | None = None) -> set[str]:
    """The items that count as relevant."""
    if rel is None:
        return {item for item, grade in query.grades.items() if grade > 0}
    return {item for item, grade in query.grades.items() if grade >= rel}


def ranks_of(query: Query, items: set[str], k: int | None = None) -> list[int]:
    """The ranks up to k at which one of the items stands for the first time."""
    first_k = query.ranking[:k]
    return [i + 1 for i, item in enumerate(first_k) if item in items and item not in first_k[:i]]


def share(above: float, below: float) -> float | None:
    return above / below if below else None


def hit_rate(query: Query, k: int, rel: float | None = None) -> float:
    return 1.0 if ranks_of(query, wanted(query, rel), k) else 0.0


def precision(query: Query, k: int, rel: float | None = None) -> float:
    return len(ranks_of(query, wanted(query, rel), k)) / k


def recall(query: Query, k: int, rel: float | None = None) -> float | None:
    return share(len(ranks_of(query, wanted(query, rel), k)), len(wanted(query, rel)))


def f1(query: Query, k: int, rel: float | None = None) -> float | None:
    return f(query, k, 1.0, rel)


def f(query: Query, k: int, beta: float = 1.0, rel: float | None = None) -> float | None:
    p, r = precision(query, k, rel), recall(query, k, rel)
    if r is None:
        return None
    return 0.0 if p + r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


def full_recall(query: Query, k: int, rel: float | None = None) -> float | None:
    found = recall(query, k, rel)
    return None if found is None else 1.0 if found == 1 else 0.0


def capped_recall(query: Query, k: int, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    return share(len(ranks_of(query, relevant, k)), min(len(relevant), k))


def tp(query: Query, k: int, rel: float | None = None) -> float:
    return len(ranks_of(query, wanted(query, rel), k))


def fp(query: Query, k: int, rel: float | None = None) -> float:
    return len(query.ranking[:k]) - tp(query, k, rel)


def fn(query: Query, k: int, rel: float | None = None) -> float:
    return len(wanted(query, rel)) - tp(query, k, rel)


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
    precisions = [n / rank for n, rank in enumerate(ranks_of(query, relevant, k), 1)]
    best = len(relevant)
    if denominator == "min" and k is not None:
        best = min(best, k)
    return share(sum(precisions), best)


def r_precision(query: Query, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    return share(len(ranks_of(query, relevant, len(relevant))), len(relevant))


def gain_of(grade: float, gain: str) -> float:
    return 2**grade - 1 if gain == "exp" else grade


def dcg(query: Query, k: int | None = None, gain: str = "linear") -> float:
    return sum(
        gain_of(query.grades[query.ranking[rank - 1]], gain) / math.log2(rank + 1)
        for rank in ranks_of(query, wanted(query), k)
    )


def ndcg(query: Query, k: int | None = None, gain: str = "linear") -> float | None:
    best_first = sorted(query.grades, key=lambda item: -query.grades[item])
    return share(dcg(query, k, gain), dcg(Query(best_first, query.grades), k, gain))


def err(query: Query, k: int | None = None, gmax: float | None = None) -> float:
    highest = query.highest if gmax is None else gmax
    total, still_reading = 0.0, 1.0
    for rank in ranks_of(query, wanted(query), k):
        satisfied = (2 ** query.grades[query.ranking[rank - 1]] - 1) / 2**highest
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


def rbp(query: Query, p: float = 0.8, gmax: float | None = None) -> float:
    highest = query.highest if gmax is None else gmax
    return sum(
        (1 - p) * p ** (rank - 1) * query.grades[query.ranking[rank - 1]] / highest
        for rank in ranks_of(query, wanted(query))
    )


def rbp_residual(query: Query, p: float = 0.8) -> float:
    return 1 - sum((1 - p) * p ** (rank - 1) for rank in ranks_of(query, set(query.grades)))


def judged(query: Query, k: int) -> float | None:
    return share(len(ranks_of(query, set(query.grades), k)), min(k, len(query.ranking)))


def bpref(query: Query, rel: float | None = None) -> float | None:
    relevant = wanted(query, rel)
    irrelevant = {item for item, grade in query.grades.items() if grade >= 0} - relevant
    total = 0.0
    for rank in ranks_of(query, relevant):
        above = sum(1 for other in ranks_of(query, irrelevant) if other < rank)
        if above:
            total += 1 - min(above, len(relevant)) / min(len(irrelevant), len(relevant))
        else:
            total += 1
    return share(total, len(relevant))


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
