"""Every metric for one query, as plainly as it can be said: the oracle of the tests.

Nothing here is fast and nothing is shared with the source. A query is its ranking (items, best
first, copies included) and its grades (item to number); None means undefined.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from calipers.measures import Metric
from calipers.model.policy import Policy
from tests.reference_query import (
    Query,
    credited,
    found,
    gain_of,
    ideal,
    paid,
    ranks_of,
    satisfaction,
    satisfied,
    shown,
    units,
    wanted,
)


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


def num_ret(query: Query, rel: float | None = None) -> float:
    return len(query.ranking)


def num_rel(query: Query, rel: float | None = None) -> float:
    return len(units(query, wanted(query, rel)))


def num_rel_ret(query: Query, rel: float | None = None) -> float:
    return len(found(query, wanted(query, rel)))


def set_precision(query: Query, rel: float | None = None) -> float:
    useful = len(ranks_of(query, wanted(query, rel)))
    return useful / len(query.ranking) if query.ranking else 0.0


def set_recall(query: Query, rel: float | None = None) -> float | None:
    return share(num_rel_ret(query, rel), num_rel(query, rel))


def dcg(query: Query, k: int | None = None, gain: str = "linear") -> float:
    def added(grade: float, before: float) -> float:
        return gain_of(grade, gain) - gain_of(before, gain)

    return sum(v / math.log2(at + 1) for at, v in credited(query, wanted(query), k, added))


def ndcg(query: Query, k: int | None = None, gain: str = "linear") -> float | None:
    best_first = enumerate(ideal(query)[:k], 1)
    best = sum(gain_of(grade, gain) / math.log2(rank + 1) for rank, grade in best_first)
    return share(dcg(query, k, gain), best)


def err(query: Query, k: int | None = None, gmax: float | None = None) -> float:
    highest = query.highest if gmax is None else gmax
    shares = credited(query, wanted(query), k, lambda one, before: satisfied(one, before, highest))
    return satisfaction(shares)


def nerr(query: Query, k: int | None = None, gmax: float | None = None) -> float | None:
    highest = query.highest if gmax is None else gmax
    best = [satisfied(grade, 0.0, highest) for grade in ideal(query)[:k]]
    return share(err(query, k, highest), satisfaction(list(enumerate(best, 1))))


def rbp(
    query: Query,
    k: int | None = None,
    p: float = 0.8,
    gmax: float | None = None,
    highest: str = "all",
) -> float:
    best = query.highest if highest == "all" else max([1.0, *query.grades.values()])
    if gmax is not None:
        best = gmax
    steps = credited(query, wanted(query), k, lambda grade, before: (grade - before) / best)
    return sum((1 - p) * p ** (at - 1) * gain for at, gain in steps)


def alpha_ndcg(
    query: Query, k: int | None = None, alpha: float = 0.5, rel: float | None = None
) -> float | None:
    topics = units(query, wanted(query, rel))

    def gain(results: list[set[str]]) -> float:
        seen = dict.fromkeys(topics, 0)
        total = 0.0
        for rank, held in enumerate(results, 1):
            for topic, items in topics.items():
                if held & items:
                    total += (1 - alpha) ** seen[topic] / math.log2(rank + 1)
                    seen[topic] += 1
        return total

    best: list[set[str]] = []
    left = [{item} for item in query.grades if item in wanted(query, rel)]
    while left:
        best.append(max(left, key=lambda one: (round(gain([*best, one]), 12), max(one).encode())))
        left.remove(best[-1])
    value = share(gain(shown(query, k)), gain(best[:k]))
    return None if value is None else min(value, 1.0)


def rbp_residual(query: Query, p: float = 0.8, all_judged: str = "below") -> float:
    pool = {item for item, grade in query.grades.items() if grade >= 0}
    known = {
        *ranks_of(query, pool),
        *(at for at, _ in credited(query, pool, None, lambda g, b: g - b)),
    }
    if all_judged == "zero" and known >= set(range(1, len(query.ranking) + 1)):
        return 0.0
    return 1 - sum((1 - p) * p ** (at - 1) for at in known)


def judged(query: Query, k: int) -> float | None:
    pool = {item for item, grade in query.grades.items() if grade >= 0}
    return share(len(ranks_of(query, pool, k)), min(k, len(query.ranking)))


def unjudged(query: Query, k: int) -> float:
    pool = {item for item, grade in query.grades.items() if grade >= 0}
    return (len(query.ranking[:k]) - len(ranks_of(query, pool, k))) / k


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


def abstention(query: Query, rel: float | None = None) -> float | None:
    if wanted(query, rel):
        return None
    return 0.0 if query.ranking else 1.0


def unwanted(query: Query, k: int | None = None, rel: float | None = None) -> float | None:
    return None if wanted(query, rel) else float(len(query.ranking[:k]))


def precision_at_recall(query: Query, level: float, rel: float | None = None) -> float | None:
    """As trec_eval does it: from the end of the ranking upwards."""
    relevant = wanted(query, rel)
    total = len(units(query, relevant))
    positions = [at for at, _ in paid(query, relevant)]
    if not total:
        return None
    needed = int(level * total + 0.5)
    if needed > len(positions):
        return 0.0
    reached = [
        sum(at <= place for at in positions) / place
        for place in range(1, max(positions, default=0) + 1)
        if sum(at <= place for at in positions) >= needed
    ]
    return max(reached, default=0.0)


def eleven_points(query: Query, rel: float | None = None) -> float | None:
    values = [precision_at_recall(query, tenth / 10, rel) for tenth in range(11)]
    return None if values[0] is None else sum(value or 0.0 for value in values) / 11


def set_f(query: Query, beta: float = 1.0, rel: float | None = None) -> float | None:
    p, r = set_precision(query, rel), set_recall(query, rel)
    if r is None:
        return None
    return 0.0 if p + r == 0 else (1 + beta**2) * p * r / (beta**2 * p + r)


REFERENCE: dict[str, Callable[..., float | None]] = {
    function.__name__: function
    for function in (
        hit_rate,
        precision,
        recall,
        f1,
        f,
        full_recall,
        capped_recall,
        tp,
        fp,
        fn,
        tn,
        mrr,
        first_rank,
        r_precision,
        dcg,
        ndcg,
        err,
        rbp,
        rbp_residual,
        judged,
        bpref,
        abstention,
        unwanted,
        num_ret,
        num_rel,
        num_rel_ret,
        set_precision,
        set_recall,
        nerr,
        alpha_ndcg,
        unjudged,
    )
}
REFERENCE["map"] = average_precision
REFERENCE["11pt_avg"] = eleven_points
REFERENCE["set_F"] = set_f
for _tenth in range(11):
    REFERENCE[f"iprec_at_recall_{_tenth / 10:.2f}"] = partial(
        precision_at_recall, level=_tenth / 10
    )


def expected(
    metric: Metric, query: Query, policy: Policy | None = None, *, missing: bool = False
) -> float | None:
    """The value of a metric for a query under a policy."""
    policy = policy or Policy()
    if metric.parts:
        parts = [expected(part, query, policy, missing=missing) for part, _ in metric.parts]
        weights = [weight for _, weight in metric.parts]
        if any(value is None for value in parts):
            return None
        return math.fsum(w * (v or 0.0) for v, w in zip(parts, weights, strict=True)) / sum(weights)
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
        return definition.bounds[0] if value is None and definition.better == "higher" else value
    return value
