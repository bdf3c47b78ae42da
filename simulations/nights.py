"""False alarms a year, and how soon a loss is heard, by the function that the alarm asks."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calipers.questions.history.alarm import NIGHTS_A_YEAR
from calipers.statistics.nights import WEEK, watch
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

ALLOW = 0.02
LEVEL = 1.0 / NIGHTS_A_YEAR
BEFORE = 30
"""Nights before a loss."""


def _chances(rng: Generator, n: int, undecided: float = 0.2) -> Floats:
    """Queries that are always found, never, or sometimes (a fifth)."""
    kind, always = rng.random(n), 0.8 * (1.0 - undecided)
    sometimes = rng.uniform(0.2, 0.8, n)
    return np.where(kind < always, 1.0, np.where(kind < 1.0 - undecided, 0.0, sometimes))


def independent_hits(rng: Generator, count: int, n: int) -> Floats:
    return (rng.random((count, n)) < _chances(rng, n)) * 1.0


def nearly_decided(rng: Generator, count: int, n: int) -> Floats:
    return (rng.random((count, n)) < _chances(rng, n, 0.05)) * 1.0


def independent_ndcg(rng: Generator, count: int, n: int) -> Floats:
    """nDCG that a reranker shakes in a quarter of the queries of every night."""
    level = np.where(rng.random(n) < 0.25, 0.0, rng.beta(6, 2, n))
    shaken = rng.random((count, n)) < 0.25
    factor = np.where(shaken, rng.choice([0.5, 0.63, 1.0], (count, n)), 1.0)
    return level * factor


def _sticky(stays: float) -> Callable[[Generator, int, int], Floats]:
    def draw(rng: Generator, count: int, n: int) -> Floats:
        values = (rng.random((count, n)) < _chances(rng, n)) * 1.0
        same = rng.random((count, n)) < stays
        for night in range(1, count):
            values[night] = np.where(same[night], values[night - 1], values[night])
        return values

    return draw


def _rebuilt(every: int) -> Callable[[Generator, int, int], Floats]:
    """An index that stays as it was built, and a tenth of the queries undecided every night."""

    def draw(rng: Generator, count: int, n: int) -> Floats:
        builds = (rng.random((count // every + 1, n)) < _chances(rng, n)) * 1.0
        values = builds[np.arange(count) // every]
        noisy = rng.random(n) < 0.1
        values[:, noisy] = rng.random((count, int(noisy.sum()))) < 0.6
        return values

    return draw


def _with_effect(size: float) -> Callable[[Generator, int, int], Floats]:
    """What a night has in common for all queries, half of which stays for the next (ρ = .5)."""

    def draw(rng: Generator, count: int, n: int) -> Floats:
        effect = np.zeros(count)
        for night in range(1, count):
            effect[night] = 0.5 * effect[night - 1] + rng.normal(0.0, size * np.sqrt(0.75))
        chance = np.clip(rng.choice([0.2, 0.5, 0.9], n) + effect[:, None], 0.0, 1.0)
        return (rng.random((count, n)) < chance) * 1.0

    return draw


NIGHTS: dict[str, Callable[[Generator, int, int], Floats]] = {
    "independent, hits": independent_hits,
    "independent, nDCG": independent_ndcg,
    "sticky queries, 0.5": _sticky(0.5),
    "sticky queries, 0.95": _sticky(0.95),
    "rebuilt weekly": _rebuilt(7),
    "night effect 0.01": _with_effect(0.01),
    "night effect 0.03": _with_effect(0.03),
    "5% undecided": nearly_decided,
    "identical": lambda rng, count, n: np.tile((rng.random(n) < 0.8) * 1.0, (count, 1)),
}
KNOWN = tuple(name for name in NIGHTS if "effect" in name)
"""What all queries of a night share makes it ring: named on the page."""


def episodes(values: Floats) -> list[int]:
    """The nights on which it begins to ring: not one of the seven before rang."""
    rang = [night for night, look in enumerate(watch(values, ALLOW, LEVEL).rings) if look]
    return [night for night in rang if not any(night - 7 <= one < night for one in rang)]


def nights_of_an_alarm(years: int, n: int = 200) -> Iterator[Rate]:
    """How many nights a false alarm rings, on average and at most, and how many begin in a year."""
    for kind in ("sticky queries, 0.95", "rebuilt weekly", "night effect 0.03"):
        rng = np.random.default_rng([SEED, 12, n])
        begun, rung, longest = 0, 0, 0
        for _ in range(years):
            values = NIGHTS[kind](rng, NIGHTS_A_YEAR + WEEK, n)
            rang = [bool(look) for look in watch(values, ALLOW, LEVEL).rings]
            begun += len(episodes(values))
            rung += sum(rang)
            longest = max(longest, _longest(rang))
        yield Rate(kind, "episodes a year", begun / years, years)
        yield Rate(kind, "nights of an episode", rung / max(begun, 1), years)
        yield Rate(kind, "nights in a row, at most", longest, years)


def _longest(rang: Sequence[bool]) -> int:
    """The most nights in a row that rang."""
    most = row = 0
    for rings in rang:
        row = row + 1 if rings else 0
        most = max(most, row)
    return most


def false_alarms(
    years: int, numbers: Sequence[int] = (30, 50, 200), kinds: Sequence[str] = tuple(NIGHTS)
) -> Iterator[Rate]:
    """Episodes in a year of nights in which nothing changes."""
    for kind in kinds:
        for n in numbers:
            rng = np.random.default_rng([SEED, 9, n])
            found = sum(
                len(episodes(NIGHTS[kind](rng, NIGHTS_A_YEAR + WEEK, n))) for _ in range(years)
            )
            yield Rate(kind, n, found / years, years, highest=2.0, known=kind in KNOWN)


CASES = (
    ("identical", 200, 0.025, 1, 1.0),
    ("independent, hits", 200, 0.28, 1, 0.99),
    ("independent, nDCG", 200, 0.28, 1, 0.99),
    ("sticky queries, 0.95", 200, 0.28, 1, None),
    ("rebuilt weekly", 200, 0.28, 1, None),
    ("5% undecided", 200, 0.05, 1, None),
    ("5% undecided", 50, 0.10, 1, None),
    ("5% undecided", 30, 0.28, 1, None),
    ("independent, hits", 200, 0.10, 7, 0.9),
    ("independent, nDCG", 200, 0.10, 7, 0.9),
    ("sticky queries, 0.95", 200, 0.10, 7, None),
    ("independent, hits", 200, 0.05, 60, 0.6),
    ("independent, nDCG", 200, 0.05, 60, 0.6),
    ("sticky queries, 0.95", 200, 0.05, 60, None),
)
"""Nights, queries, the loss, within how many nights it is to be heard, and how often."""


def heard(draws: int, longest: int = 60) -> Iterator[Rate]:
    """How often a loss of the same queries for good is heard in time."""
    for kind, n, loss, within, lowest in (case for case in CASES if case[3] <= longest):
        rng = np.random.default_rng([SEED, 10, within])
        found = 0
        for _ in range(draws):
            values = NIGHTS[kind](rng, BEFORE + within, n)
            lose(values[BEFORE:], loss, rng)
            found += any(watch(values, ALLOW, LEVEL).rings[BEFORE:])
        nights = "the same night" if within == 1 else f"within {within} nights"
        yield Rate(f"{loss:g} of {n}, {kind}", nights, found / draws, draws, lowest)


def after_a_rise(draws: int) -> Iterator[Rate]:
    """A fall back to where it was a month ago, which noise of few queries hides."""
    for n in (50, 200):
        rng = np.random.default_rng([SEED, 11, n])
        found = 0
        for _ in range(draws):
            values = NIGHTS["independent, hits"](rng, BEFORE + 31, n)
            lose(values[:BEFORE], 0.10, rng)
            lose(values[-1:], 0.10, rng)
            found += watch(values, ALLOW, LEVEL).rings[-1] is not None
        shape = f"0.1 of {n}"
        yield Rate(shape, "the same night", found / draws, draws, lowest=0.9, known=True)


def lose(values: Floats, loss: float, rng: Generator) -> None:
    """Take so much from the mean: the same queries each night."""
    level = float(values.mean())
    found = np.flatnonzero(values.mean(axis=0) > 0.4)
    rng.shuffle(found)
    for query in found:
        if level - float(values.mean()) >= loss - 1e-9:
            break
        values[:, query] = 0.0
