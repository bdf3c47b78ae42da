"""False alarms a year, and how soon a loss is heard, with the looks that the alarm takes."""

from collections.abc import Iterator, Sequence

import numpy as np

from calipers.questions.history.alarm import NIGHTS_A_YEAR
from calipers.statistics.drift import NightLook, first_quiet, looks
from simulations.held_out import SEED
from simulations.held_out_cases import NIGHTS
from simulations.rates import Rate
from simulations.shapes import Floats

REFERENCE = 7
ALLOW = 0.02
LEVEL = 1.0 / NIGHTS_A_YEAR
AT_ONCE = 14
"""Nights that share the random subsets of their tests."""
BEFORE = 30
"""Nights before a loss."""


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


def lose(values: Floats, loss: float, how: str, rng: np.random.Generator) -> None:
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
