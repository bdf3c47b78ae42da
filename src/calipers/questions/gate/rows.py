"""One metric on one slice beside the baseline: what was lost, and what its standing is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calipers.model.arrays import Floats
from calipers.model.slicing import QuerySlice
from calipers.questions.compare.metric_difference import ROUNDING, mean_difference
from calipers.questions.gate.result import SHOWN, Status
from calipers.statistics.many_tests import family_of
from calipers.statistics.paired_test import PairedTest, sign_test

SIGN_LEVEL = 0.01
"""Below this sign test no row is called passed, whatever its mean says."""


@dataclass(frozen=True)
class GateRule:
    """What fails a row."""

    confidence: float = 0.95
    allow: float = 0.05
    only_shown: bool = False

    @property
    def alpha(self) -> float:
        """The error that is allowed over all rows together."""
        return round(1.0 - self.confidence, 12)


@dataclass(frozen=True, eq=False)
class GateRow:
    """One metric on one slice: its gains, above 0 where the new result is better."""

    metric: str
    part: QuerySlice
    gains: Floats
    test: PairedTest | None
    rows: int
    """How many rows it is corrected for, itself among them."""
    p_loss: float | None
    p_gain: float | None

    @property
    def place(self) -> str:
        """The metric, and of which queries."""
        return self.metric if self.part.name is None else f"{self.metric} ({self.part.name})"

    @property
    def loss(self) -> float:
        """How much the mean fell."""
        gains = self.gains[~np.isnan(self.gains)]
        return -mean_difference(gains) if gains.size else 0.0

    @property
    def better(self) -> int:
        """Queries that gained."""
        return int(np.count_nonzero(self.gains > 0))

    @property
    def worse(self) -> int:
        """Queries that lost."""
        return int(np.count_nonzero(self.gains < 0))

    @property
    def units(self) -> int:
        """Queries, or clusters of them."""
        return self.test.n if self.test else int(np.count_nonzero(~np.isnan(self.gains)))

    def shows(self, rule: GateRule) -> bool:
        """Whether a loss or a gain is shown beyond these queries."""
        return any(p is not None and p <= rule.alpha for p in (self.p_loss, self.p_gain))

    def fewest(self, alpha: float) -> int:
        """How many queries could show a loss among so many rows, were all of them lost."""
        return max(2, math.ceil(math.log2(self.rows / alpha)))


def gate_rows(
    places: Sequence[tuple[str, QuerySlice]],
    gains: Sequence[Floats],
    tests: Sequence[PairedTest | None],
    alpha: float = 0.05,
) -> list[GateRow]:
    """The rows of one gate: metric, slice, gains and test of each, corrected over all of them."""
    least = [0.5**test.n if test else None for test in tests]
    lost = family_of([test.p_below() if test else None for test in tests], least, alpha)
    gained = family_of([test.p_above() if test else None for test in tests], least, alpha)
    return [
        GateRow(
            name, part, gains[at], tests[at], lost.rows[at], lost.adjusted[at], gained.adjusted[at]
        )
        for at, (name, part) in enumerate(places)
    ]


def standing(row: GateRow, rule: GateRule) -> tuple[Status, tuple[str, ...]]:
    """The answer to both questions, and why it is no pass."""
    failed, unsure = [], []
    if row.p_loss is not None and row.p_loss <= rule.alpha:
        failed.append(SHOWN)
    if not rule.only_shown and row.loss > rule.allow + ROUNDING:
        failed.append(f"more than the {rule.allow:g} allowed")
    if failed:
        return "failed", tuple(failed)
    if row.loss > 0 or sign_test(row.worse, row.better) < SIGN_LEVEL:
        unsure.append("a loss, not significant")
    if row.units < row.fewest(rule.alpha):
        n = row.units
        queries = "no query" if n == 0 else "1 query" if n == 1 else f"{n:,} queries"
        unsure.append(f"{queries} can show no loss, {row.fewest(rule.alpha)} could")
    if not unsure:
        return "passed", ()
    return "no clear difference", tuple(unsure)
