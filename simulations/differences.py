"""Level and power of the test of paired differences."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.score_interval import normal_cdf, t_quantile
from simulations.rates import Rate
from simulations.shapes import SEED, Draw, Floats, Generator, Shape, among, choice, real

NUMBERS = (10, 20, 50, 200)
ALPHA = 0.05
FEW = 10
"""With fewer queries that change, a t test shows more than any test by signs can."""
FEW_HITS = 40
"""The same for hits, whose sums take few values: exactly, 0.06 less than t of 80 queries."""
MOST, MOST_OF_FEW, MOST_OF_HITS = 0.05, 0.12, 0.4
"""By how much less often than a t test it may find a true gain: where enough queries change, where
few do, and where few hits do."""
MOST_RAISED = 0.08
AT_ONCE = 48
"""Rows that share their random subsets, and are in memory together."""
Flags = NDArray[np.bool_]

# Differences with a mean of 0


def _turned(values: Floats) -> Draw:
    """Differences of two real systems, as if it were chance which of the two is which."""
    return lambda rng, size: among(values)(rng, size) * rng.choice([-1.0, 1.0], size)


def _two_widths(rng: Generator, size: tuple[int, ...]) -> Floats:
    width = np.where(rng.random(size) < 0.3, 0.3, 0.04)
    return np.clip(rng.normal(0.0, width), -1.0, 1.0)


_BM25_LESS_DENSE = real("claims", "bm25", "ndcg@10") - real("claims", "dense", "ndcg@10")
_HYBRID_LESS_BM25 = real("claims", "hybrid", "ndcg@10") - real("claims", "bm25", "ndcg@10")
_DEMO = real("demo", "hybrid", "ndcg@10") - real("demo", "dense", "ndcg@10")

SYMMETRIC_DIFFERENCES = [
    Shape("Laplace", lambda rng, size: np.clip(rng.laplace(0.0, 0.12, size), -1, 1)),
    Shape("a quarter moves by ±⅓", choice([-1 / 3, 1 / 3, 0], [1 / 8, 1 / 8, 3 / 4])),
    Shape("hits, 12% flip each way", choice([-1, 1, 0], [0.12, 0.12, 0.76])),
    Shape("two widths", _two_widths),
    Shape("real: claims, bm25 and dense, turned", _turned(_BM25_LESS_DENSE)),
    Shape("real: demo, hybrid and dense, turned", _turned(_DEMO)),
]
_MILD = choice([-0.4, 0.2, 0.0], [0.15, 0.30, 0.55])
MILDLY_SKEWED = [
    Shape("15% lose 0.4, 30% gain 0.2", _MILD),
    Shape("30% lose 0.2, 15% gain 0.4", lambda rng, size: -_MILD(rng, size)),
    Shape("beta 2, 5, centred", lambda rng, size: rng.beta(2, 5, size) - 2 / 7),
    Shape("beta 5, 2, centred", lambda rng, size: rng.beta(5, 2, size) - 5 / 7),
    Shape(
        "real: claims, bm25 and dense, centred", among(_BM25_LESS_DENSE - _BM25_LESS_DENSE.mean())
    ),
    Shape(
        "real: claims, hybrid and bm25, centred",
        among(_HYBRID_LESS_BM25 - _HYBRID_LESS_BM25.mean()),
    ),
    Shape("real: demo, hybrid and dense, centred", among(_DEMO - _DEMO.mean())),
]
_SPREAD, _LARGEST = 0.9, 20.0
_LOG_NORMAL = math.exp(_SPREAD**2 / 2) * normal_cdf(
    math.log(_LARGEST) / _SPREAD - _SPREAD
) + _LARGEST * normal_cdf(-math.log(_LARGEST) / _SPREAD)


def _log_normal(rng: Generator, size: tuple[int, ...]) -> Floats:
    return 0.04 * (np.minimum(rng.lognormal(0.0, _SPREAD, size), _LARGEST) - _LOG_NORMAL)


STRONGLY_SKEWED = [
    Shape("6% lose 0.7, 42% gain 0.1", choice([-0.7, 0.1, 0], [0.06, 0.42, 0.52])),
    Shape("4% lose 0.6, others gain 0.025", choice([-0.6, 0.025], [0.04, 0.96])),
    Shape("2% lose 1, half gain 0.04", choice([-1, 0.04, 0], [0.02, 0.5, 0.48])),
    Shape("log-normal losses", lambda rng, size: -_log_normal(rng, size)),
    Shape("log-normal gains", _log_normal),
]

RARE_CHANGES: dict[str, Draw] = {
    f"hits: {share:.0%} change": choice([-1, 1, 0], [share / 2, share / 2, 1 - share])
    for share in (0.05, 0.1, 0.15, 0.3)
}
"""Equal systems that differ in few queries, as those with few changes that are shown or not."""
CHANGED = (3, 4, 5, 6, 8, 10)
"""The same, by how many of thirty hits changed."""

EFFECTS: dict[str, Draw] = {
    "hits: 30% gained, 10% lost": choice([1, -1, 0], [0.30, 0.10, 0.60]),
    "hits: 15% gained, none lost": choice([1, 0], [0.15, 0.85]),
    "nDCG: normal, +0.08": lambda rng, size: np.clip(rng.normal(0.08, 0.2, size), -1, 1),
    "long tails: Laplace, +0.06": lambda rng, size: np.clip(rng.laplace(0.06, 0.12, size), -1, 1),
    "half moves by +0.3 or −0.2": choice([0.3, -0.2, 0], [0.3, 0.2, 0.5]),
    "real: claims, hybrid over dense": among(
        real("claims", "hybrid", "ndcg@10") - real("claims", "dense", "ndcg@10")
    ),
}
"""True differences, of which as many are to be shown as the better of two usual tests shows."""

KNOWN = {
    *(shape.name for shape in STRONGLY_SKEWED),
    # Moved to a mean of 0, what was a tie is a small change, the same in very many queries.
    "real: claims, hybrid and bm25, centred",
    "real: demo, hybrid and dense, centred",
}
"""Shapes with rare large changes one way, and many small ones the other way."""


def rejected(values: Floats, alpha: float) -> tuple[Flags, Flags]:
    """For each row, whether it is worse or better by a test of its own at alpha."""
    standings = [
        one.standing
        for start in range(0, len(values), AT_ONCE)
        for one in _each_alone(values[start : start + AT_ONCE], alpha)
    ]
    found = np.array(standings)
    return found == "worse", found == "better"


def _each_alone(values: Floats, alpha: float) -> list[PairedRow]:
    return paired_rows(list(values), alpha=alpha, marked=[False] * len(values))


def coverage(draws: int, numbers: Sequence[int] = (12, 30, 150)) -> Iterator[Rate]:
    """How often the interval of a mean difference holds it, where 8 or more queries changed."""
    for shape in (*SYMMETRIC_DIFFERENCES, *MILDLY_SKEWED, *STRONGLY_SKEWED):
        for n in numbers:
            rng = np.random.default_rng([SEED, 41, n])
            held = []
            for start in range(0, draws, AT_ONCE):
                drawn = shape.draw(rng, (min(AT_ONCE, draws - start), n))
                ends = (row.interval for row in _each_alone(drawn, ALPHA))
                held += [one.low <= 0.0 <= one.high for one in ends if one is not None]
            if len(held) * 2 >= draws:
                known = shape.name in KNOWN
                yield Rate(shape.name, n, float(np.mean(held)), len(held), 0.93, known=known)


def level(draws: int, numbers: Sequence[int] = NUMBERS) -> Iterator[Rate]:
    """Type I: how often a difference is shown where there is none, beside the t test."""
    for shape in (*SYMMETRIC_DIFFERENCES, *MILDLY_SKEWED, *STRONGLY_SKEWED):
        for n in numbers:
            values = shape.draw(np.random.default_rng([SEED, 2, n]), (draws, n))
            below, above = rejected(values, ALPHA)
            found, known = float((below | above).mean()), shape.name in KNOWN
            yield Rate(shape.name, n, found, draws, highest=0.06, known=known)
            yield Rate(shape.name, f"t, {n}", _by_t(values), draws)


def few_changes(draws: int, n: int = 30) -> Iterator[Rate]:
    """Type I where few hits change: on average, and by how many did."""
    rng = np.random.default_rng([SEED, 21, n])
    kinds = {name: draw(rng, (draws, n)) for name, draw in RARE_CHANGES.items()}
    for changed in CHANGED:
        values = np.zeros((draws, n))
        values[:, :changed] = rng.choice([-1.0, 1.0], (draws, changed))
        kinds[f"{changed} of {n} hits change"] = values
    for name, values in kinds.items():
        below, above = rejected(values, ALPHA)
        yield Rate(name, "signs", float((below | above).mean()), draws, highest=0.06)
        yield Rate(name, "t test", _by_t(values), draws)


def power(draws: int, numbers: Sequence[int] = (12, 30, 50, 80)) -> Iterator[Rate]:
    """By how much a true gain is shown less often than a t test shows it on the same samples.

    Beside it stands how often each of the two shows it.
    """
    for name, draw in EFFECTS.items():
        for n in numbers:
            values = draw(np.random.default_rng([SEED, 3, n]), (draws, n))
            _, above = rejected(values, ALPHA)
            found, rival = float(above.mean()), float(t_shows(values).mean())
            # Of few queries only some change, and few signs give few p-values.
            fewest = FEW_HITS if name.startswith("hits") else FEW
            few = bool(n * np.mean(values != 0.0) < fewest)
            most = (MOST_OF_HITS if name.startswith("hits") else MOST_OF_FEW) if few else MOST
            yield Rate(name, n, max(rival - found, 0.0), len(values), highest=most)
            yield Rate(name, f"found, {n}", found, len(values))
            yield Rate(name, f"t, {n}", rival, len(values))


def _by_t(values: Floats) -> float:
    """How often a t test shows a mean above or below zero."""
    return float((t_shows(values) | t_shows(-values)).mean())


def t_shows(values: Floats) -> Flags:
    """Rows of which a two-sided t test shows a mean above zero; equal values show none."""
    n = values.shape[1]
    spread = values.std(axis=1, ddof=1)
    shows: Flags = (spread > 0) & (
        values.mean(axis=1) * np.sqrt(n) > t_quantile(0.975, n - 1) * spread
    )
    return shows


WEIGHTS: dict[str, Draw] = {
    "weights 1 to 3": lambda rng, size: rng.choice([1.0, 2.0, 3.0], size),
    "weights of traffic, log-normal": lambda rng, size: rng.lognormal(0.0, 1.0, size),
}
WEIGHED = (
    SYMMETRIC_DIFFERENCES[1],
    SYMMETRIC_DIFFERENCES[0],
    *MILDLY_SKEWED[:4],
    STRONGLY_SKEWED[0],
)
"""Differences of which each counts as much as its weight."""


def weighed(draws: int, numbers: Sequence[int] = (20, 40, 100)) -> Iterator[Rate]:
    """How often a weighted difference is shown where there is none."""
    for shape in WEIGHED:
        for kind, weights in WEIGHTS.items():
            for n in numbers:
                rng = np.random.default_rng([SEED, 22, n])
                shown = 0
                for _ in range(draws):
                    weight = weights(rng, (n,))
                    [row] = paired_rows([shape.draw(rng, (n,))], alpha=ALPHA, weights=weight)
                    shown += row.standing != "no clear difference"
                # Skewed differences break it, and weights make few of them count most.
                known = shape not in SYMMETRIC_DIFFERENCES
                name = f"{shape.name}, {kind}"
                yield Rate(name, n, shown / draws, draws, highest=0.06, known=known)


RAISED: dict[str, Draw] = {
    "hits": choice([-1, 1, 0], [0.1, 0.35, 0.55]),
    "halves and thirds": choice([-1 / 2, -1 / 3, 0, 1 / 3, 1 / 2, 1], [1 / 6] * 6),
    "normal": lambda rng, size: np.clip(rng.normal(0.05, 0.2, size), -1, 1),
}


def raised(draws: int) -> Iterator[Rate]:
    """How often one query gains more and an end of the interval falls all the same.

    The ends are quantiles of random subsets, of units in order of size: a query that is no tie any
    more is drawn as another. Beside it stands the largest fall, as a share of the interval.
    """
    for name, draw in RAISED.items():
        rng = np.random.default_rng([SEED, 23])
        falls = []
        for _ in range(draws):
            values = draw(rng, (int(rng.integers(17, 60)),))
            more = values.copy()
            more[rng.integers(len(more))] += rng.choice([0.01, 0.1, 0.5])
            before, after = (row.interval for row in _each_alone(np.array([values, more]), ALPHA))
            if before is not None and after is not None:
                lower = max(before.low - after.low, before.high - after.high)
                falls.append(max(lower, 0.0) / (before.high - before.low))
        fell = float(np.mean(np.array(falls) > 1e-9))
        yield Rate(name, "falls", fell, len(falls), highest=MOST_RAISED)
        yield Rate(name, "by at most", max(falls), len(falls))
