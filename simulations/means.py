"""Coverage of the interval of a mean."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.statistics.clusters import cluster_sizes
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.score_interval import mean_interval, score_ends
from simulations.rates import Rate
from simulations.shapes import (
    SEED,
    Floats,
    Generator,
    Shape,
    among,
    choice,
    hits,
    real,
    several_targets,
    third_zeros_fifth_ones,
)

NUMBERS = (2, 5, 10, 20, 50, 200, 1000)
CONFIDENCE = 0.95
_RANKS = np.arange(1, 11)
_ZIPF = np.append(1.0 / _RANKS, 0.6)
_ZIPF /= _ZIPF.sum()
_RECIPROCAL = np.append(1.0 / _RANKS, 0.0)

ORDINARY = [
    Shape("hits, 0.35", hits(0.35), 0.35, share=True),
    Shape("hits, 0.72", hits(0.72), 0.72, share=True),
    Shape("hits, 0.9", hits(0.9), 0.9, share=True),
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

CLUSTERS: dict[str, tuple[int, ...]] = {
    "12 × 6": (6,) * 12,
    "30 × 3": (3,) * 30,
    "1 to 12": tuple(range(1, 13)) * 2,
    "one of 30 among 15 pairs": (30, *(2,) * 15),
    "one of 40 among 40 single queries": (40, *(1,) * 40),
}
CLUSTER_SCORES: dict[str, tuple[float, float]] = {
    "alike within (beta 0.8, 0.4)": (0.8, 0.4),
    "partly alike (beta 3, 2)": (3.0, 2.0),
}
"""The rate of hits of each cluster."""


def clustered_hits(kind: str, sizes: Sequence[int], rng: Generator) -> tuple[Floats, Floats]:
    """Hits, and the cluster of each query."""
    names = np.repeat(np.arange(len(sizes)), sizes)
    rates = rng.beta(*CLUSTER_SCORES[kind], len(sizes))[names]
    return (rng.random(len(names)) < rates) * 1.0, names


def coverage(draws: int, numbers: Sequence[int] = NUMBERS) -> Iterator[Rate]:
    """How often the interval holds the true mean."""
    for shape in (*ORDINARY, *RARE_SCORES):
        for n in numbers:
            # As many as fit: what is near certain for large n needs no more.
            some = max(500, min(draws, 4_000_000 // n))
            held = covered(shape, n, some, np.random.default_rng([SEED, 1, n]))
            # Shares are discrete, and few queries with rare zeros may be on the safe side.
            too_wide = 0.98 if n >= 50 and not shape.share and shape in ORDINARY else None
            yield Rate(shape.name, n, held, some, 0.93, too_wide, known=shape in RARE_SCORES)


def covered(shape: Shape, n: int, draws: int, rng: Generator) -> float:
    inside = 0
    for start in range(0, draws, step := max(1, 1_000_000 // n)):
        values = shape.draw(rng, (min(step, draws - start), n))
        low, high = score_ends(*moments(values), n, CONFIDENCE)
        inside += int(((low <= shape.mean + 1e-12) & (high >= shape.mean - 1e-12)).sum())
    return inside / draws


def moments(values: Floats) -> tuple[Floats, Floats]:
    """Means and variances of rows; of equal values the variance is 0, not nearly."""
    variance = values.var(axis=1, ddof=1)
    variance[np.ptp(values, axis=1) == 0.0] = 0.0
    return values.mean(axis=1), variance


def clustered(draws: int) -> Iterator[Rate]:
    """Coverage and false findings with clusters as units, and as if each query were one."""
    for kind, (a, b) in CLUSTER_SCORES.items():
        for name, sizes in CLUSTERS.items():
            rng = np.random.default_rng([SEED, 16, len(sizes)])
            held = alone = found = 0
            for _ in range(draws):
                values, names = clustered_hits(kind, sizes, rng)
                other = clustered_hits(kind, sizes, rng)[0]
                named, plain = mean_interval(values, clusters=names), mean_interval(values)
                held += named.low <= a / (a + b) <= named.high
                alone += plain.low <= a / (a + b) <= plain.high
                found += paired_rows([values - other], names)[0].standing != "no clear difference"
            # A note then says that a few clusters decide.
            decides = cluster_sizes(names).uneven
            row = f"{name}, {kind}"
            yield Rate(row, "interval holds", held / draws, draws, 0.92, known=decides)
            yield Rate(row, "without clusters", alone / draws, draws)
            yield Rate(row, "false findings", found / draws, draws, highest=0.06, known=decides)
