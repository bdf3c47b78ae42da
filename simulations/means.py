"""Coverage of the interval of a mean."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.statistics.clusters import cluster_sizes
from calipers.statistics.paired_test import paired_test
from calipers.statistics.score_interval import score_ends, score_interval
from simulations.held_out import ORDINARY, RARE_SCORES, SEED
from simulations.held_out_cases import CLUSTER_SCORES, CLUSTERS, clustered_hits
from simulations.rates import Rate
from simulations.shapes import Floats, Shape

NUMBERS = (2, 5, 10, 20, 50, 200, 1000)
CONFIDENCE = 0.95


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


def covered(shape: Shape, n: int, draws: int, rng: np.random.Generator) -> float:
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
                named, plain = score_interval(values, clusters=names), score_interval(values)
                held += named.low <= a / (a + b) <= named.high
                alone += plain.low <= a / (a + b) <= plain.high
                found += paired_test(values - other, names).p_value() <= 0.05
            # A note then says that a few clusters decide.
            decides = cluster_sizes(names).uneven
            row = f"{name}, {kind}"
            yield Rate(row, "interval holds", held / draws, draws, 0.92, known=decides)
            yield Rate(row, "without clusters", alone / draws, draws)
            yield Rate(row, "false findings", found / draws, draws, highest=0.06, known=decides)
