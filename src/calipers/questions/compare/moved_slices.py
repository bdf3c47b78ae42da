"""Slices that moved much more than all queries together: what one mean does not show."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.fact import Fact, Sentence, joined
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import QuerySlice, slices_by, tag_cuts
from calipers.questions.compare.comparable import Aligned
from calipers.questions.compare.paired_claim import (
    LARGE,
    difference_of,
    fact_of,
    is_large,
    since_baseline,
)
from calipers.shell import join_words
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import PairedRow, paired_rows

TIMES = 2.0
"""A slice is named that moved so many times as far as all queries, or the other way."""
MOST_CELLS = 400_000
"""Slices times queries that are tested: more would take longer than the comparison."""
Tested = tuple[str, QuerySlice, Floats]
"""A system, a slice, and the gain of each query in it; NaN for the others."""


@dataclass(frozen=True, eq=False)
class SliceTests:
    """The slices of some queries, and how each system is tested on them."""

    aligned: Aligned
    baseline: str
    metric: MetricFacts
    alpha: float
    """How often any slice may be named where nothing changed: all are tested together, and beside
    what the comparison marks."""
    units: Ints | None
    weights: Floats | None

    def moved(
        self, scores: Scores, wholes: Mapping[str, PairedRow], without: set[str | None]
    ) -> tuple[Sentence, ...]:
        """The slice that fell most and the one that rose most, where they moved significantly.

        ``wholes`` are the tests of all queries by system; tags in ``without`` cut nothing.
        """
        tags = [tag for tag in tag_cuts(scores.tags) if tag not in without]
        shared = scores.rows_of(self.aligned.queries["query"])
        tested = [
            (system, part, np.where(part.chosen[shared], gains, np.nan))
            for system in wholes
            if (gains := self._gains(system)).any()
            for part in slices_by(scores, tags)
        ]
        tested = [each for each in tested if self._is_testable(each[2])]
        facts = [
            self._fact(system, part, ~np.isnan(gains), row)
            for (system, part, gains), row in zip(
                tested, self._rows(tested), strict=False
            )
            if _stands_out(row, wholes[system])
        ]
        several = len(wholes) > 1
        return tuple(
            _in_words(fact, self.metric, several=several) for fact in self._most(facts)
        )

    def _rows(self, tested: Sequence[Tested]) -> Sequence[PairedRow]:
        """The tests of all slices together; none where no slice is significant by itself."""
        columns = [gains for _, _, gains in tested]
        if not columns or len(columns) * len(columns[0]) > MOST_CELLS:
            return []
        test = partial(
            paired_rows, clusters=self.units, alpha=self.alpha, weights=self.weights
        )
        large = [each for each in columns if abs(self._mean(each)) >= LARGE]
        alone = test(large, marked=[False] * len(large)) if large else []
        if all(row.standing == "no clear difference" for row in alone):
            return []
        return test(columns)

    def _is_testable(self, gains: Floats) -> bool:
        """Whether so many queries changed that all of them, one way, are significant."""
        moves = ~np.isnan(gains) & (gains != 0.0)
        return bool(2.0 ** (1 - np.count_nonzero(moves)) <= self.alpha)

    def _mean(self, values: Floats) -> float:
        return as_units(values, None, self.weights).mean

    def _gains(self, system: str) -> Floats:
        return self.aligned.gains(system, self.baseline, self.metric.name)

    def _fact(self, system: str, part: QuerySlice, there: Bools, row: PairedRow) -> Fact:
        """How a system changed on the queries of a slice that are compared."""
        at = [fact.name for fact in self.aligned.facts].index(self.metric.name)
        names = (self.baseline, system)
        old, new = (
            self._mean(np.where(there, self.aligned.values[name][:, at], np.nan))
            for name in names
        )
        difference = difference_of(row, self.metric, names, (old, new))
        return fact_of(difference, self.metric, part.name or "")

    def _most(self, facts: list[Fact]) -> Iterator[Fact]:
        """The largest fall and the largest rise."""
        large = [fact for fact in facts if is_large(fact, self.metric)]
        for way in ("worse", "better"):
            there = [fact for fact in large if fact.direction == way]
            yield from sorted(there, key=lambda fact: -abs(fact.difference or 0.0))[:1]


def _stands_out(row: PairedRow, whole: PairedRow) -> bool:
    """Whether a slice moved significantly, and much further than all queries or the other way."""
    moved = row.difference or 0.0
    all_moved = (whole.difference or 0.0) * np.sign(moved)
    return row.standing != "no clear difference" and abs(moved) >= TIMES * all_moved


def _in_words(fact: Fact, metric: MetricFacts, *, several: bool) -> Sentence:
    """A slice that moved, and the command that shows its queries."""
    what = f"{metric.name} of {fact.system}" if several else metric.name
    text = since_baseline(fact, metric, f"{what} ({fact.slice})", "worse")
    where = join_words([fact.slice or ""])
    return joined(text, f"Which: `calipers compare --where {where} --explain`")
