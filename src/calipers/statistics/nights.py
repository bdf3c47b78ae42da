"""Has a metric that is measured every night got worse? The gate over nights.

Each query is compared with itself: its value tonight with its value in the reference,
seven nights of the same name that did not ring. The reference moves up by itself and
never down.

- **Is there noise?** A query that moves and moves back within 56 nights is noise. Nights that rang
  do not count: mending a fall is no noise.
- **Without noise** changes are facts. A loss of more than is allowed rings if three queries or more
  are lost net, and at most a quarter as many were won.
- **With noise** there are three looks. Tonight, and the mean of the last seven nights, against the
  reference: each rings where the loss is significantly larger than is allowed, at half of the
  level. And tonight against the last seven nights that did not ring: a loss of more than is
  allowed, of three queries net, and 1.5 times the largest such change of the last 60 nights.
- **The reference moves up** without noise after seven nights that are all better; with noise when
  the last seven are better by more than is allowed, and significantly (p ≤ .01).
"""

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from calipers.frozen import dataclass
from calipers.model.arrays import Floats
from calipers.statistics.paired_rows import paired_rows

WEEK = 7
"""Nights of a reference, and of the mean of the last nights."""
NOISE = 56
"""A change that is undone within so many nights is noise."""
MEMORY = 60
"""Nights whose largest change a sudden loss has to exceed."""
SUDDEN = 1.5
FEWEST = 3
"""Queries that have to be lost net."""
WON = 0.25
"""Without noise, at most so many are won for each one lost."""
SURE = 0.01
"""The p from which a better week becomes the reference."""
_ROUNDING = 1e-9
_SURELY_NOT = 2.0
"""Fewer standard deviations than this are never significant at the level of an alarm."""

Look = Literal["fact", "tonight", "week", "sudden"]
"""What rang: a loss without noise; tonight, or the last seven nights, against the
reference; or tonight against the nights just before."""


@dataclass(frozen=True, eq=False)
class Watched:
    """The result for the last night, and which nights rang."""

    rings: tuple[Look | None, ...]
    """Which test rang, for each night."""
    reference: tuple[int, ...]
    """The nights that the last one is compared with: those just before it after a sudden
    loss."""
    best: int | None
    """The night that represents the reference where there is no noise."""
    noisy: bool
    before: Floats
    """The value each query is compared with: its reference, or its last nights after a
    sudden loss; NaN where there is none."""
    gains: Floats
    """The gain of each query since then, tonight or over the last seven nights."""


def watch(values: Floats, allow: float, level: float) -> Watched:
    """Test the last night; ``values`` has a row per night, oldest first, and a column per query.

    More is better; NaN where a night lacks a query. ``level`` is the false alarm rate per
    night.

    >>> values = np.ones((8, 200))
    >>> values[7, :5] = 0.0
    >>> watch(values, 0.02, 1 / 365).rings[-1]
    'fact'
    """
    state = _State(values, allow, level)
    for night in range(len(values) - 1):
        state.judge(night)
    return state.judge(len(values) - 1)


def gains_of(now: Floats, before: Floats) -> Floats:
    """The gain of each query; NaN where one side lacks it."""
    gains: Floats = now - before
    gains[np.abs(gains) < _ROUNDING] = 0.0
    return gains


def mean_of(values: Floats) -> Floats:
    """The mean of each query over the nights that have it, NaN where none has.

    >>> mean_of(np.array([[1.0, 0.5], [0.5, np.nan]])).tolist()
    [0.75, 0.5]
    """
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    mean: Floats = np.divide(
        total, counts, out=np.full(len(total), np.nan), where=counts > 0
    )
    return mean


def loss_of(gains: Floats) -> float:
    """The mean loss over the queries that are compared; 0 without any."""
    known = gains[np.isfinite(gains)]
    return -float(known.mean()) if known.size else 0.0


def net_lost(gains: Floats) -> int:
    """How many more queries lost than won."""
    return int(np.count_nonzero(gains < 0.0) - np.count_nonzero(gains > 0.0))


class _State:
    """The state before a night; nights are added in order."""

    def __init__(self, values: Floats, allow: float, level: float) -> None:
        self.values = values
        self.allow = allow
        self.level = level
        self.rings: list[Look | None] = []
        self.quiet: list[int] = []
        """The nights that did not ring."""
        self.reference: list[int] = []
        self.noisy = False
        self.changes: dict[int, float] = {}
        """How far each quiet night was from those just before it."""
        n = values.shape[1]
        self._last, self._way = np.full(n, np.nan), np.zeros(n)
        self._moved: npt.NDArray[np.int64] = np.zeros(n, dtype=np.int64)

    def judge(self, night: int) -> Watched:
        reference = tuple(self.reference)
        best = self._best()
        base = self._base()
        noisy = self.noisy
        before = base
        now = self.values[night]
        rings = self._rings(night, base) if reference else None
        self.rings.append(rings)
        if rings == "week":
            now = mean_of(self.values[self._week(night)])
        elif rings == "sudden":
            reference, best = tuple(self.quiet[-WEEK:]), None
            before = mean_of(self.values[self.quiet[-WEEK:]])
        if rings is None:
            self._add(night, base)
        gains = gains_of(now, before)
        return Watched(tuple(self.rings), reference, best, noisy, before, gains)

    def _best(self) -> int | None:
        """Without noise, the best night of the reference is what the retriever could do."""
        if self.noisy or not self.reference:
            return None
        return max(self.reference, key=lambda at: (-loss_of(self.values[at]), at))

    def _base(self) -> Floats:
        """The reference of each query; that of a new query is its own first nights."""
        if not self.reference:
            return np.full(self.values.shape[1], np.nan)
        best = self._best()
        base = (
            mean_of(self.values[self.reference])
            if best is None
            else self.values[best].copy()
        )
        for query in np.flatnonzero(~np.isfinite(base)):
            known = [at for at in self.quiet if np.isfinite(self.values[at, query])][
                :WEEK
            ]
            if known:
                base[query] = self.values[known, query].mean()
        return base

    def _rings(self, night: int, base: Floats) -> Look | None:
        gains = gains_of(self.values[night], base)
        if not self.noisy:
            lost = np.count_nonzero(gains < 0.0)
            won = np.count_nonzero(gains > 0.0)
            is_fact = (
                self._beyond(gains) and net_lost(gains) >= FEWEST and won <= WON * lost
            )
            return "fact" if is_fact else None
        if self._beyond(gains):
            if self._larger(gains):
                return "tonight"
            week = self._week(night)
            if len(week) > 1 and self._larger(gains_of(mean_of(self.values[week]), base)):
                return "week"
        recent = self._recent(night)
        moved = [
            abs(change) for at, change in self.changes.items() if night - at <= MEMORY
        ]
        is_sudden = (
            len(moved) >= WEEK
            and self._beyond(recent)
            and net_lost(recent) >= FEWEST
            and loss_of(recent) > SUDDEN * max(moved)
        )
        return "sudden" if is_sudden else None

    def _week(self, night: int) -> list[int]:
        first = max(0, night + 1 - WEEK)
        return [at for at in range(first, night + 1) if at not in self.reference]

    def _recent(self, night: int) -> Floats:
        """Tonight against the last seven nights that did not ring."""
        return gains_of(self.values[night], mean_of(self.values[self.quiet[-WEEK:]]))

    def _beyond(self, gains: Floats) -> bool:
        return loss_of(gains) > self.allow + _ROUNDING

    def _larger(self, gains: Floats) -> bool:
        """Whether the loss is significantly larger than is allowed."""
        return _significant(-gains - self.allow, self.level / 2.0)

    def _add(self, night: int, base: Floats) -> None:
        """Update noise, the range of changes and the reference from a night that did not ring."""
        now = self.values[night]
        if self.quiet:
            self.changes[night] = loss_of(self._recent(night))
        way = np.sign(np.nan_to_num(gains_of(now, self._last)))
        undone = (way * self._way < 0.0) & (night - self._moved <= NOISE)
        self.noisy = self.noisy or bool(undone.any())
        self._way = np.where(way != 0.0, way, self._way)
        self._moved = np.where(way != 0.0, night, self._moved)
        self._last = np.where(np.isfinite(now), now, self._last)
        self.quiet.append(night)
        if len(self.reference) < WEEK:
            self.reference.append(night)
        elif self._moves_up(base):
            self.reference = self.quiet[-WEEK:]

    def _moves_up(self, base: Floats) -> bool:
        week = self.quiet[-WEEK:]
        if {*week} & {*self.reference}:
            return False
        if not self.noisy:
            return all(
                loss_of(gains_of(self.values[at], base)) < -_ROUNDING for at in week
            )
        gains = gains_of(mean_of(self.values[week]), base)
        return loss_of(gains) < -self.allow and _significant(gains, SURE / 2.0)


def _significant(gains: Floats, level: float) -> bool:
    """Whether the mean is significantly above zero, by the one-sided paired test."""
    known = gains[np.isfinite(gains)]
    far = float(known.sum())
    if far <= 0.0 or far < _SURELY_NOT * math.sqrt(float(np.square(known).sum())):
        return False
    [row] = paired_rows([known])
    return row.p is not None and row.p / 2.0 <= level
