"""Whether ids that a rule makes equal name one thing in two spellings, or two things.

`page` and `page_de` may be one page, written in two ways, or two pages about the same. Two names of
one thing do not stand in one list, as it is returned once; two things that are alike do. So how
often a missed target meets a result is held against how often the best results of all lists meet
another one of their list.
"""

from functools import cached_property

import numpy as np

from calipers.frozen import dataclass
from calipers.model.arrays import Bools, Ints
from calipers.questions.diagnose.lists import Lists
from calipers.statistics.fisher import more_often

BEST = 3
"""So many results of each list are as near to the query as its targets are; further down there
may be fewer that are alike."""
FEWEST = 3
"""A rule that mends fewer queries may do so by chance."""
CERTAIN = 0.001
"""About twenty rules are tried on each run: together they err in at most 2 % of runs."""
CLEAR = 0.01
"""The level where a gain is tested besides, and results of one list become one."""


@dataclass(frozen=True, eq=False)
class SameIds:
    """What a rule for ids does to the lists of a run."""

    recorded: Lists
    mapped: Lists
    """The same results, row by row, with the ids that they have once mapped."""
    mended: int
    """Queries of which a missed target meets a result."""
    missed: int
    """Queries that miss a target."""
    found: Ints
    """The rows of the results that hold a target."""

    @cached_property
    def _joined(self) -> Bools:
        """Results that become one with another of their list."""
        mapped = self.mapped
        joined = np.zeros(mapped.rank.size, dtype=np.bool_)
        # Only these have the id of another, and they are few.
        is_one_of_several = mapped.repeats.copy()
        is_one_of_several[mapped.same_id[mapped.repeats]] = True
        rows = np.flatnonzero(is_one_of_several)
        before = self.recorded.same_id[rows]
        joined[rows] = _sizes(mapped.same_id[rows]) > _sizes(before)
        return joined

    @cached_property
    def _p(self) -> float:
        """The p that missed targets meet a result no more often than the best results do."""
        among = self.recorded.rank <= BEST
        among[self.found] = True
        return more_often(
            self.mended, self.missed, int(self._joined[among].sum()), int(among.sum())
        )

    @cached_property
    def name_one_thing(self) -> bool:
        """Whether the ids that meet are two spellings of one, as far as the lists tell."""
        return not self._joined.any() or self._p <= CLEAR

    @cached_property
    def is_certain(self) -> bool:
        """Whether missed targets meet a result far more often than ids are alike otherwise."""
        return self.mended >= FEWEST and self._p <= CERTAIN


def _sizes(first: Ints) -> Ints:
    """How many results of the same list have the id of each, itself included."""
    _, kind, sizes = np.unique(first, return_inverse=True, return_counts=True)
    every: Ints = sizes[kind]
    return every
