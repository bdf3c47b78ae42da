"""What a fixed difference takes: whether the range holds the number of queries that detects it."""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from calipers.model.claim import QueriesToDetect
from calipers.statistics import queries_to_detect as rule
from calipers.statistics.paired_rows import paired_rows
from simulations.differences import ALPHA, AT_ONCE, rejected
from simulations.plans import PilotShape
from simulations.rates import Rate
from simulations.shapes import SEED, Draw, Floats, Generator, choice, real

DIFFERENCE = 0.05
PILOT_SIZES = (30, 42, 100)
NUMBERS = (24, 48, 96, 192, 384, 768, 1_536, 3_072)
"""Queries for which the power is simulated; between them it is read off a line."""
SAMPLES = 600
"""Samples of each number of queries, of which the test detects the difference in some."""
PROMISED = 0.89


def _shifted(draw: Draw) -> PilotShape:
    """Every query gains the difference."""
    return PilotShape(draw, lambda rng, size: draw(rng, size) + DIFFERENCE, DIFFERENCE)


def _tilted(sizes: Draw, usual: float) -> PilotShape:
    """As many queries change by as much, and more of them gain; `usual` is the mean change."""
    gaining = 0.5 + 0.5 * DIFFERENCE / usual

    def draw(rng: Generator, size: tuple[int, ...], gains: float) -> Floats:
        return sizes(rng, size) * np.where(rng.random(size) < gains, 1.0, -1.0)

    return PilotShape(
        lambda rng, size: draw(rng, size, 0.5),
        lambda rng, size: draw(rng, size, gaining),
        DIFFERENCE,
    )


def _hits(share: float) -> PilotShape:
    """A share of hits changes."""
    return _tilted(choice([1, 0], [share, 1 - share]), share)


def _real(collection: str, systems: tuple[str, str], metric: str) -> PilotShape:
    """Differences of two real systems, as if it were chance which of the two is which."""
    first, second = (real(collection, system, metric) for system in systems)
    sizes = np.abs(first - second)
    return _tilted(lambda rng, size: rng.choice(sizes, size), float(sizes.mean()))


def _two_widths(rng: Generator, size: tuple[int, ...]) -> Floats:
    return rng.normal(0.0, np.where(rng.random(size) < 0.3, 0.35, 0.08))


def _half_tied(rng: Generator, size: tuple[int, ...]) -> Floats:
    return np.abs(rng.normal(0.0, 0.25, size)) * (rng.random(size) < 0.5)


SHAPES: dict[str, PilotShape] = {
    "10% of hits change": _hits(0.1),
    "20% of hits change": _hits(0.2),
    "40% of hits change": _hits(0.4),
    "8% of hits gained, none lost": PilotShape(
        choice([1, 0], [0.08, 0.92]), choice([1, -1, 0], [0.065, 0.015, 0.92]), DIFFERENCE
    ),
    "a third moves by ±0.3": _tilted(choice([0.3, 0], [1 / 3, 2 / 3]), 0.1),
    "recall of one to three targets": _tilted(
        choice([1, 1 / 2, 1 / 3, 0], [0.12, 0.12, 0.12, 0.64]), 0.22
    ),
    "nDCG: normal": _shifted(lambda rng, size: rng.normal(0.0, 0.2, size)),
    "long tails: Laplace": _shifted(lambda rng, size: rng.laplace(0.0, 0.12, size)),
    "two widths": _shifted(_two_widths),
    "half tied, others normal": _tilted(_half_tied, 0.125 * (2 / np.pi) ** 0.5),
    "real: claims, bm25 and dense, turned": _real("claims", ("bm25", "dense"), "ndcg@10"),
    "real: claims, hybrid and bm25, turned": _real("claims", ("hybrid", "bm25"), "ndcg@10"),
    "real: demo, hybrid and dense, turned": _real("demo", ("hybrid", "dense"), "ndcg@10"),
    "30% of hits gained, none lost": PilotShape(
        choice([1, 0], [0.3, 0.7]), choice([1, -1, 0], [0.08, 0.03, 0.89]), DIFFERENCE
    ),
}
KNOWN = ("30% of hits gained, none lost", "real: demo, hybrid and dense, turned")
"""A pilot with a large gain of its own: fewer queries change where the gain is small. And changes
that are 0.053 on average, so that 0.05 is a gain in nearly all of them."""


def ranges(
    draws: int,
    numbers: Sequence[int] = PILOT_SIZES,
    shapes: Sequence[str] = tuple(SHAPES),
    samples: int = SAMPLES,
) -> Iterator[Rate]:
    """How often the range of a pilot that speaks holds the number of queries with 80% power."""
    for name in shapes:
        needed = true_number(name, samples)
        for n in numbers:
            found = _of_pilots(SHAPES[name].pilot, draws, n)
            held = [one.low <= needed <= one.high for one in found]
            known = name in KNOWN
            yield Rate(name, n, float(np.mean(held)), len(held), PROMISED, known=known)
            width = float(np.median([one.high / one.low for one in found]))
            yield Rate(name, f"{n}, width", width, len(held))


def _of_pilots(pilot: Draw, draws: int, n: int) -> list[QueriesToDetect]:
    """What the pilots that speak say."""
    rng = np.random.default_rng([SEED, 51, n])
    found = []
    for start in range(0, draws, AT_ONCE):
        values = pilot(rng, (min(AT_ONCE, draws - start), n))
        for row in paired_rows(list(values), alpha=ALPHA, marked=[False] * len(values)):
            spoken = rule.queries_to_detect(row, DIFFERENCE)
            found += [spoken] if spoken else []
    return found


@cache
def true_number(name: str, samples: int = SAMPLES) -> float:
    """The number of queries of which 80% of samples detect the difference."""
    rng = np.random.default_rng([SEED, 52])
    powers = []
    for n in NUMBERS:
        powers.append(float(rejected(SHAPES[name].later(rng, (samples, n)), ALPHA)[1].mean()))
        if powers[-1] > 0.95:
            break
    return float(np.exp(np.interp(rule.POWER, powers, np.log(NUMBERS[: len(powers)]))))
