"""Shapes that no rule was tuned on: fixed, with their seed, before the rules were run on them.

They are drawn differently from those in `shapes.py`, which the rules were made with, and are not
changed when a rule breaks its promise on one of them: the page then says so.
"""

import math
from collections.abc import Callable

import numpy as np

from calipers.statistics.score_interval import normal_cdf
from simulations.real import real_scores
from simulations.shapes import Draw, Floats, Shape, choice

SEED = 25_071_601
Generator = np.random.Generator


def among(values: Floats) -> Draw:
    """Values of a real sample, as if it were the whole population."""
    return lambda rng, size: values[rng.integers(0, len(values), size)]


def real(collection: str, system: str, metric: str) -> Floats:
    return real_scores()[collection, system, metric]


# Per-query scores

_TARGETS = np.array([1, 1, 1, 2, 3, 4])


def several_targets(rng: Generator, size: tuple[int, ...]) -> Floats:
    """Recall of one to four targets, each found with a rate of the query's own (mean 0.7)."""
    wanted = rng.choice(_TARGETS, size)
    return rng.binomial(wanted, rng.beta(3.5, 1.5, size)) / wanted


def third_zeros_fifth_ones(rng: Generator, size: tuple[int, ...]) -> Floats:
    kind = rng.random(size)
    return np.where(kind < 1 / 3, 0.0, np.where(kind < 8 / 15, 1.0, rng.beta(3, 3, size)))


_RANKS = np.arange(1, 11)
_ZIPF = np.append(1.0 / _RANKS, 0.6)
_ZIPF /= _ZIPF.sum()
_RECIPROCAL = np.append(1.0 / _RANKS, 0.0)

ORDINARY = [
    Shape("hits, 0.35", lambda rng, size: (rng.random(size) < 0.35) * 1.0, 0.35, share=True),
    Shape("hits, 0.72", lambda rng, size: (rng.random(size) < 0.72) * 1.0, 0.72, share=True),
    Shape("hits, 0.9", lambda rng, size: (rng.random(size) < 0.9) * 1.0, 0.9, share=True),
    Shape("recall of 1 to 4 targets", several_targets, 0.7),
    Shape(
        "recall in fifths",
        choice([0, 0.2, 0.4, 0.6, 0.8, 1], [0.08, 0.07, 0.15, 0.2, 0.25, 0.25]),
        0.644,
    ),
    Shape("nDCG, ⅓ at 0, ⅕ at 1", third_zeros_fifth_ones, 0.2 + 0.5 * (1 - 8 / 15)),
    Shape(
        "reciprocal ranks, cut at 10",
        choice(_RECIPROCAL.tolist(), _ZIPF.tolist()),
        float(_RECIPROCAL @ _ZIPF),
    ),
    Shape("AP, one hump (beta 3, 4)", lambda rng, size: rng.beta(3, 4, size), 3 / 7),
    Shape("precision@5 of one target", choice([0, 0.2], [0.22, 0.78]), 0.156),
    *(
        Shape(f"real: {name}", among(values), float(values.mean()))
        for name, values in {
            "demo, hybrid ndcg@10": real("demo", "hybrid", "ndcg@10"),
            "claims, bm25 ndcg@10": real("claims", "bm25", "ndcg@10"),
            "claims, dense recall@10": real("claims", "dense", "recall@10"),
        }.items()
    ),
]


def _rare(share: float, rare: float, a: float, b: float) -> Shape:
    mean = share * rare + (1 - share) * a / (a + b)
    return Shape(
        f"{100 * share:g}% at {rare:g}, others near {a / (a + b):.2g}",
        lambda rng, size: np.where(rng.random(size) < share, rare, rng.beta(a, b, size)),
        mean,
    )


RARE_SCORES = [
    _rare(0.02, 0.0, 180.0, 20.0),
    _rare(0.03, 0.0, 60.0, 40.0),
    _rare(0.025, 0.0, 485.0, 15.0),
    _rare(0.02, 1.0, 4.0, 96.0),
]


# Paired differences, with a mean of 0


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
    Shape("Laplace", lambda rng, size: np.clip(rng.laplace(0.0, 0.12, size), -1, 1), 0.0),
    Shape("a quarter moves by ±⅓", choice([-1 / 3, 1 / 3, 0], [1 / 8, 1 / 8, 3 / 4]), 0.0),
    Shape("hits, 12% flip each way", choice([-1, 1, 0], [0.12, 0.12, 0.76]), 0.0),
    Shape("two widths", _two_widths, 0.0),
    Shape("real: claims, bm25 and dense, turned", _turned(_BM25_LESS_DENSE), 0.0),
    Shape("real: demo, hybrid and dense, turned", _turned(_DEMO), 0.0),
]
_MILD = choice([-0.4, 0.2, 0.0], [0.15, 0.30, 0.55])
MILDLY_SKEWED = [
    Shape("15% lose 0.4, 30% gain 0.2", _MILD, 0.0),
    Shape("30% lose 0.2, 15% gain 0.4", lambda rng, size: -_MILD(rng, size), 0.0),
    Shape("beta 2, 5, centred", lambda rng, size: rng.beta(2, 5, size) - 2 / 7, 0.0),
    Shape("beta 5, 2, centred", lambda rng, size: rng.beta(5, 2, size) - 5 / 7, 0.0),
    Shape(
        "real: claims, bm25 and dense, centred",
        among(_BM25_LESS_DENSE - _BM25_LESS_DENSE.mean()),
        0.0,
    ),
    Shape(
        "real: claims, hybrid and bm25, centred",
        among(_HYBRID_LESS_BM25 - _HYBRID_LESS_BM25.mean()),
        0.0,
    ),
    Shape("real: demo, hybrid and dense, centred", among(_DEMO - _DEMO.mean()), 0.0),
]
_SPREAD, _LARGEST = 0.9, 20.0
_LOG_NORMAL = math.exp(_SPREAD**2 / 2) * normal_cdf(
    math.log(_LARGEST) / _SPREAD - _SPREAD
) + _LARGEST * normal_cdf(-math.log(_LARGEST) / _SPREAD)


def _log_normal(rng: Generator, size: tuple[int, ...]) -> Floats:
    return 0.04 * (np.minimum(rng.lognormal(0.0, _SPREAD, size), _LARGEST) - _LOG_NORMAL)


STRONGLY_SKEWED = [
    Shape("6% lose 0.7, 42% gain 0.1", choice([-0.7, 0.1, 0], [0.06, 0.42, 0.52]), 0.0),
    Shape("4% lose 0.6, others gain 0.025", choice([-0.6, 0.025], [0.04, 0.96]), 0.0),
    Shape("2% lose 1, half gain 0.04", choice([-1, 0.04, 0], [0.02, 0.5, 0.48]), 0.0),
    Shape("log-normal losses", lambda rng, size: -_log_normal(rng, size), 0.0),
    Shape("log-normal gains", _log_normal, 0.0),
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


# Builds that a gate compares: (before, now), each a row per query of recall@10 and ndcg@10

Build = Callable[[Generator, int], tuple[Floats, Floats]]


def ranked(found: Floats, rank: Floats) -> Floats:
    return np.column_stack([found * 1.0, found / np.log2(1.0 + rank)])


def _noisy(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Each query is found with a rate of its own, at a rank that varies."""
    rate = rng.beta(4.0, 1.5, n)
    before, now = (ranked(rng.random(n) < rate, rng.geometric(0.5, n)) for _ in range(2))
    return before, now


def _one_in_eight(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """One query in eight is drawn anew."""
    before = ranked(rng.random(n) < 0.8, rng.geometric(0.4, n))
    again = ranked(rng.random(n) < 0.8, rng.geometric(0.4, n))
    return before, np.where((rng.random(n) < 0.125)[:, None], again, before)


def _reordered(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """The same is found, in another order in two queries of five."""
    found, rank = rng.random(n) < 0.85, rng.geometric(0.5, n)
    other = np.where(rng.random(n) < 0.4, rng.geometric(0.5, n), rank)
    return ranked(found, rank), ranked(found, other)


def _several(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Recall of one to four targets, each drawn anew in one query of five."""
    wanted, rate = rng.choice(_TARGETS, n), rng.beta(3.5, 1.5, n)
    runs = [rng.binomial(wanted, rate) / wanted for _ in range(2)]
    runs[1] = np.where(rng.random(n) < 0.2, runs[1], runs[0])
    before, now = (np.column_stack([one, one * rng.beta(8, 2, n)]) for one in runs)
    return before, now


def _shifted_by(shape: Shape) -> Build:
    """Differences of a shape in both metrics, around the middle of the range."""

    def build(rng: Generator, n: int) -> tuple[Floats, Floats]:
        away = np.column_stack([shape.draw(rng, (n,)) for _ in range(2)])
        before = np.clip(
            rng.uniform(0.3, 0.7, (n, 2)), np.maximum(-away, 0), np.minimum(1 - away, 1)
        )
        return before, before + away

    return build


UNCHANGED: dict[str, Build] = {
    "a retriever with luck": _noisy,
    "one query in eight drawn anew": _one_in_eight,
    "reordered": _reordered,
    "several targets, a fifth drawn anew": _several,
}
UNCHANGED_MILDLY: dict[str, Build] = {shape.name: _shifted_by(shape) for shape in MILDLY_SKEWED}
UNCHANGED_STRONGLY: dict[str, Build] = {
    shape.name: _shifted_by(shape) for shape in STRONGLY_SKEWED[:3]
}


def collapse(kind: str, rng: Generator) -> tuple[Floats, Floats, list[str]]:
    """Six slices of 16; the third falls, the others stay, or move a little by luck."""
    n, part = 96, np.repeat(np.arange(6), 16)
    tags = [f"s{one}" for one in part]
    fallen = part == 2
    if kind == "ranked sixth to tenth instead of first":
        later = np.where(fallen, rng.integers(6, 11, n), 1)
        return ranked(np.ones(n), np.ones(n)), ranked(np.ones(n), later), tags
    if kind == "from 1 to 0.188, nothing else moves":
        lost = np.isin(np.arange(n), rng.choice(np.flatnonzero(fallen), 13, replace=False))
        return ranked(np.ones(n), np.ones(n)), ranked(1.0 - lost, np.ones(n)), tags
    found, rank = (rng.random(n) < 0.95) * 1.0, rng.geometric(0.5, n)
    flipped = np.where(rng.random(n) < 0.03, 1.0 - found, found)
    after = np.where(fallen, found * (rng.random(n) < 0.1), flipped)
    return ranked(found, rank), ranked(after, rank), tags


COLLAPSES = (
    "from 1 to 0.188, nothing else moves",
    "from 0.95 to 0.1, others flip 3%",
    "ranked sixth to tenth instead of first",
)
