"""Runs whose rows are on other machines, and the blocks in which they are worked on there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import polars as pl

from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run, Scan


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole queries with their results."""

    ground_truth: GroundTruth
    codes: Ints
    """Where its queries stand in the whole ground truth."""
    rows: Ints
    """Where its targets stand there."""
    run: Run


class RowsElsewhere(Protocol):
    """A scan of rows that can be worked on where they are."""

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The rows, brought here."""

    def then(self, step: Callable[[Run], Run], scan: Scan) -> "RowsElsewhere":
        """The same rows, of a run that ``step`` changes there; ``scan`` brings them here."""

    def over_blocks(self, truth: GroundTruth, work: Callable[[Block], Any]) -> Iterator[Any]:
        """What ``work`` makes of each block, in any order."""


def elsewhere(run: Run) -> RowsElsewhere | None:
    """The rows of a run that are on other machines; None where they are read on this one."""
    # Asked by name: a scan whose first rows were looked at passes on what else it can do, which
    # a check of its type does not see.
    return cast(RowsElsewhere, run.scan) if hasattr(run.scan, "over_blocks") else None


def changed_by(step: Callable[[Run], Run], run: Run, scan: Scan) -> Scan:
    """How to read what ``step`` makes of a run query by query: by ``scan``, or where its rows are.

    After any other change of a scan the rows are brought here.
    """
    there = elsewhere(run)
    return scan if there is None else there.then(step, scan)
