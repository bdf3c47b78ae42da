"""False alarms a year, and how soon a loss is heard, with the looks that the alarm takes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calipers.questions.history.alarm import NIGHTS_A_YEAR
from calipers.statistics.drift import NightLook, first_quiet, looks
from simulations.rates import Rate
from simulations.shapes import SEED, Floats, Generator

REFERENCE = 7
ALLOW = 0.02
LEVEL = 1.0 / NIGHTS_A_YEAR
AT_ONCE = 14
"""Nights that share the random subsets of their tests."""
BEFORE = 30
"""Nights before a loss."""


@dataclass(frozen=True, eq=False)
class Nights:
    """Values by night and query, and the mean that each night has over all such queries."""

    values: Floats
    truth: Floats


def _chances(rng: Generator, n: int) -> Floats:
    """Queries that are always found, never, or sometimes (a fifth)."""
    kind = rng.random(n)
    return np.where(kind < 0.65, 1.0, np.where(kind < 0.8, 0.0, rng.uniform(0.2, 0.8, n)))


_CHANCES = 0.65 + 0.2 * 0.5


def _steady(values: Floats, mean: float) -> Nights:
    return Nights(values, np.full(len(values), mean))


def independent_hits(rng: Generator, count: int, n: int) -> Nights:
    return _steady((rng.random((count, n)) < _chances(rng, n)) * 1.0, _CHANCES)


def independent_ndcg(rng: Generator, count: int, n: int) -> Nights:
    """nDCG that a reranker shakes in a quarter of the queries of every night."""
    level = np.where(rng.random(n) < 0.25, 0.0, rng.beta(6, 2, n))
    shaken = rng.random((count, n)) < 0.25
    factor = np.where(shaken, rng.choice([0.5, 0.63, 1.0], (count, n)), 1.0)
    return _steady(level * factor, 0.75 * 0.75 * (0.75 + 0.25 * (0.5 + 0.63 + 1) / 3))


def _sticky(stays: float) -> Callable[[Generator, int, int], Nights]:
    def draw(rng: Generator, count: int, n: int) -> Nights:
        values = (rng.random((count, n)) < _chances(rng, n)) * 1.0
        same = rng.random((count, n)) < stays
        for night in range(1, count):
            values[night] = np.where(same[night], values[night - 1], values[night])
        return _steady(values, _CHANCES)

    return draw


def _rebuilt(every: int) -> Callable[[Generator, int, int], Nights]:
    """An index that stays as it was built, and a tenth of the queries undecided every night."""

    def draw(rng: Generator, count: int, n: int) -> Nights:
        builds = (rng.random((count // every + 1, n)) < _chances(rng, n)) * 1.0
        values = builds[np.arange(count) // every]
        noisy = rng.random(n) < 0.1
        values[:, noisy] = rng.random((count, int(noisy.sum()))) < 0.6
        return _steady(values, 0.9 * _CHANCES + 0.1 * 0.6)

    return draw


def _with_effect(size: float) -> Callable[[Generator, int, int], Nights]:
    """What a night has in common for all queries, half of which stays for the next (ρ = .5)."""

    def draw(rng: Generator, count: int, n: int) -> Nights:
        effect = np.zeros(count)
        for night in range(1, count):
            effect[night] = 0.5 * effect[night - 1] + rng.normal(0.0, size * np.sqrt(0.75))
        chance = np.clip(rng.choice([0.2, 0.5, 0.9], n) + effect[:, None], 0.0, 1.0)
        truth = np.clip(np.array([0.2, 0.5, 0.9]) + effect[:, None], 0.0, 1.0).mean(axis=1)
        return Nights((rng.random((count, n)) < chance) * 1.0, truth)

    return draw


NIGHTS: dict[str, Callable[[Generator, int, int], Nights]] = {
    "independent, hits": independent_hits,
    "independent, nDCG": independent_ndcg,
    "sticky queries, 0.5": _sticky(0.5),
    "sticky queries, 0.95": _sticky(0.95),
    "rebuilt weekly": _rebuilt(7),
    "nights with an effect of 0.01, ρ = .5": _with_effect(0.01),
    "nights with an effect of 0.03, ρ = .5": _with_effect(0.03),
    "identical": lambda rng, count, n: _steady(
        np.tile((rng.random(n) < 0.8) * 1.0, (count, 1)), 0.8
    ),
}


class Watch:
    """An alarm that looks at nights one after the other."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._seen: dict[tuple[tuple[int, ...], int], list[NightLook]] = {}

    def _looks(self, reference: Sequence[int], night: int) -> list[NightLook]:
        """What is said of a night is asked again when it may join the reference."""
        key = (tuple(reference), night)
        if key not in self._seen:
            self._seen[key] = looks(self.values, reference, [night], ALLOW, LEVEL)[0]
        return self._seen[key]

    def reference(self, nights: int) -> list[int]:
        """That of the last of so many nights."""

        def doubtful(before: Sequence[int], night: int) -> bool:
            return any(look.doubtful for look in self._looks(before, night))

        return first_quiet(doubtful, nights, REFERENCE)

    def rings(self, first: int = 1) -> Iterator[tuple[int, int]]:
        """The nights that ring, from the first of interest on, and over how many each look was."""
        night = first
        while night < len(self.values):
            reference = self.reference(night + 1)
            if len(reference) < REFERENCE:
                found = [self._looks(reference, night)]
            else:
                # The reference is full and stays: some nights at once take less time.
                after = range(night, min(night + AT_ONCE, len(self.values)))
                found = looks(self.values, reference, after, ALLOW, LEVEL)
            for at, one in enumerate(found, night):
                if rung := [look.window for look in one if look.rings]:
                    yield at, rung[0]
            night += len(found)


def false_alarms(
    years: int, numbers: Sequence[int] = (50, 200), kinds: Sequence[str] = tuple(NIGHTS)
) -> Iterator[Rate]:
    """Nights of a year that ring and speak of nights that truly were no worse than is allowed.

    A look at seven nights speaks of their mean: what is said of it may be true where tonight alone
    was no worse. Both are counted; the budget is one.
    """
    for kind in kinds:
        for n in numbers:
            rng = np.random.default_rng([SEED, 9, n])
            some = years if n <= 100 else max(1, years // 2)
            alarms = tonight = 0
            for _ in range(some):
                drawn = NIGHTS[kind](rng, NIGHTS_A_YEAR + REFERENCE, n)
                watch = Watch(drawn.values)
                reference = watch.reference(len(drawn.values))
                allowed = drawn.truth[reference].mean() - ALLOW
                for night, window in watch.rings():
                    spoken_of = drawn.truth[max(0, night + 1 - window) : night + 1]
                    tonight += bool(drawn.truth[night] >= allowed)
                    alarms += bool(min(spoken_of.mean(), drawn.truth[night]) >= allowed)
            yield Rate(kind, n, alarms / some, some, highest=2.0)
            yield Rate(kind, f"{n}, by tonight alone", tonight / some, some)


CASES = (
    ("identical", 0.035, 1, 1.0),
    ("independent, hits", 0.28, 1, 0.99),
    ("independent, nDCG", 0.28, 1, 0.99),
    ("sticky queries, 0.95", 0.28, 1, None),
    ("rebuilt weekly", 0.28, 1, None),
    ("independent, hits", 0.10, 1, None),
    ("independent, hits", 0.10, 7, 0.9),
    ("independent, nDCG", 0.10, 7, 0.9),
    ("sticky queries, 0.95", 0.10, 7, None),
    ("independent, hits", 0.05, 60, 0.6),
    ("independent, nDCG", 0.05, 60, 0.6),
    ("sticky queries, 0.95", 0.05, 60, None),
)
"""Nights, the loss, within how many nights it is to be heard, and how often."""


def heard(
    draws: int, hows: Sequence[str] = ("for good", "by chance"), longest: int = 60
) -> Iterator[Rate]:
    """How often a loss of some of 200 queries is heard in time."""
    for kind, loss, within, lowest in (case for case in CASES if case[2] <= longest):
        for how in hows if kind != "identical" else hows[:1]:
            rng = np.random.default_rng([SEED, 10, within])
            found = 0
            for _ in range(draws):
                values = NIGHTS[kind](rng, BEFORE + within, 200).values
                lose(values[BEFORE:], loss, how, rng)
                found += next(Watch(values).rings(BEFORE), None) is not None
            nights = "the same night" if within == 1 else f"within {within} nights"
            yield Rate(f"{loss:g} of 200, {kind}: {nights}", how, found / draws, draws, lowest)


def lose(values: Floats, loss: float, how: str, rng: Generator) -> None:
    """Take so much from the mean: the same queries each night, or others each night."""
    level = float(values.mean())
    if how == "for good":
        found = np.flatnonzero(values.mean(axis=0) > 0.4)
        rng.shuffle(found)
        for query in found:
            if level - float(values.mean()) >= loss - 1e-9:
                break
            values[:, query] = 0.0
    else:
        values[rng.random(values.shape) < loss / level] = 0.0
