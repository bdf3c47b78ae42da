"""Which k to take: by recall, by F1, by a budget of tokens."""

from collections.abc import Sequence

import numpy as np

from calipers.analyse.context import Context
from calipers.analyse.intervals import exact_mean
from calipers.analyse.paired import paired_result, randomisation_tests
from calipers.analyse.visible import visibility
from calipers.model.arrays import Floats, Ints
from calipers.model.sweep import F1Advice, RecallAdvice, SweepPoint, TokenAdvice, TokenUse

EVERY_K_UP_TO = 100
PER_DECADE = 12
FITTING_SHARE = 0.95


def usual_cutoffs(depth: int) -> list[int]:
    """Every k up to 100, then about twelve per tenfold, and the depth itself.

    >>> usual_cutoffs(4)
    [1, 2, 3, 4]
    >>> usual_cutoffs(200)[98:]
    [99, 100, 121, 146, 177, 200]
    """
    ks = set(range(1, min(depth, EVERY_K_UP_TO) + 1))
    step = 1
    while EVERY_K_UP_TO * 10 ** (step / PER_DECADE) < depth:
        ks.add(int(EVERY_K_UP_TO * 10 ** (step / PER_DECADE)))
        step += 1
    return sorted({*ks, depth})


def advise_recall(
    ks: Sequence[int], recall: Floats, *, level: float, resamples: int, seed: int
) -> RecallAdvice | None:
    """From recall per query (rows) and k (columns): the smallest k that loses nothing shown.

    The tests go up from the smallest k and stop at the first that is not significant. A
    sequence that is fixed beforehand and stops there needs no correction: a false stop too late
    requires a false alarm in its last test alone.
    """
    defined = recall[~np.isnan(recall).any(axis=1)]
    if not len(defined):
        return None
    losses = defined - defined[:, -1:]
    p_values = randomisation_tests(losses, resamples, seed)
    alpha = round(1.0 - level, 12)
    at = int(np.argmax(p_values > alpha))
    same = int(np.argmax((losses == 0).all(axis=0)))
    result = paired_result(losses[:, at], level, resamples, seed)
    mean, largest = exact_mean(defined[:, at]), exact_mean(defined[:, -1])
    return RecallAdvice(
        ks[at], mean, ks[-1], largest, result.mean_difference or 0.0, result.interval,
        result.p_value, visibility(losses[:, at], alpha), ks[same],
    )  # fmt: skip


def advise_f1(points: Sequence[SweepPoint]) -> F1Advice | None:
    """The k with the highest mean F1; of equals the smallest."""
    best: F1Advice | None = None
    for point in points:
        value = point.values["f1"]
        if value.mean is not None and (best is None or value.mean > best.f1):
            best = F1Advice(point.k, value.mean, value.interval)
    return best


def token_table(context: Context, counts: Ints, ks: Sequence[int]) -> Floats:
    """Tokens of the first k results: one row per query, one column per k."""
    return np.column_stack([context.summed(counts, k) for k in ks])


def token_use(column: Floats, price: float | None) -> TokenUse:
    """What the first k results cost, over all queries.

    >>> token_use(np.array([100.0, 300.0]), price=2.5)
    TokenUse(mean=200.0, p95=300.0, highest=300, cost_per_1000=0.5)
    """
    mean = exact_mean(column)
    cost = None if price is None else mean * 1000 / 1_000_000 * price
    return TokenUse(mean, _at_share(column, FITTING_SHARE), int(column.max()), cost)


def advise_tokens(points: Sequence[SweepPoint], table: Floats, budget: int) -> TokenAdvice:
    """The largest k whose results fit the budget for at least 95 of 100 queries."""
    fitting = [
        (point, column)
        for point, column in zip(points, table.T, strict=True)
        if point.tokens is not None and point.tokens.p95 <= budget
    ]
    if not fitting:
        return TokenAdvice(budget, None, None, None, None, False)
    point, column = fitting[-1]
    return TokenAdvice(
        budget, point.k, point.tokens, point.values["recall"].mean,
        float(np.mean(column > budget)), point is points[-1],
    )  # fmt: skip


def ceilings(targets: Ints, k: int) -> tuple[float | None, float | None]:
    """The highest recall and precision at k if every result holds one target at most.

    >>> ceilings(np.array([1, 4]), 2)
    (0.75, 0.75)
    """
    targets = targets[targets > 0]
    if not targets.size:
        return None, None
    reachable = np.minimum(targets, k).astype(np.float64)
    return exact_mean(reachable / targets), exact_mean(reachable / k)


def _at_share(column: Floats, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = np.sort(column)
    return float(ordered[max(0, int(np.ceil(share * len(ordered) - 1e-9)) - 1)])
