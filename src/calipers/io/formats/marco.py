"""Three columns without a header: the run of MS MARCO, or judgements of the shortest kind.

The third column decides: ranks count 1, 2, 3 within a query; grades repeat and may be 0.
"""

from collections.abc import Iterator

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.files.probe import Sight
from calipers.io.format import Format
from calipers.io.tables.lines import (
    NUMBER,
    LineLayout,
    are_measures,
    empty,
    first_rows,
    holds_texts,
    mostly,
    place_of,
    scan,
)
from calipers.io.tables.scan import explained
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import Run

RUN = LineLayout("run", "query item rank", ((0, "query"), (1, "item"), (2, "rank")), "rank", 3)
JUDGEMENTS = LineLayout(
    "judgement", "query item grade", ((0, "query"), (1, "item"), (2, "grade")), "grade", 3
)
CLEARLY_RANKED = 3
"""So many results that count up from 1 are ranks, not grades."""


class MarcoRun(Format):
    """Query, item and rank."""

    name = "msmarco_run"
    title = "an MS MARCO run (query, item, rank)"
    only = "run"

    def detect(self, sight: Sight) -> bool:
        """Whether the third column can be ranks: whole, from 1, none twice for a query."""
        ranks = _third_by_query(sight)
        return bool(ranks) and all(
            all(one.isdigit() and int(one) >= 1 for one in third) and len(set(third)) == len(third)
            for third in ranks.values()
        )

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset:
        """A run in the order of its ranks, read in blocks whenever it is needed."""
        del role, watch

        def batches() -> Iterator[pl.DataFrame]:
            seen = []
            for frame in scan(sight.source, RUN):
                with explained(sight.name):  # a rank that no whole number of 64 bits is
                    ranked = frame.with_columns(pl.col("rank").cast(pl.Int64))
                yield ranked
                last = pl.col("rank").max().alias("last")
                seen.append(ranked.group_by("query", maintain_order=True).agg(last, n=pl.len()))
            _check_gaps(seen, sight.name)

        return Dataset(run=Run(batches, order="rank", name=sight.name), kind="an MS MARCO run")


def _check_gaps(seen: list[pl.DataFrame], name: str) -> None:
    """Refuse ranks of which some are missing: the official script divides by what is given."""
    if not seen:
        return
    queries = pl.concat(seen).group_by("query", maintain_order=True)
    gaps = queries.agg(pl.col("last").max(), pl.col("n").sum()).filter(
        pl.col("last") != pl.col("n")
    )
    if gaps.height:
        query, last, n = gaps.row(0)
        raise InvalidInput(
            f"The ranks of query {query!r} in {name} have gaps: {n} results, and the last has rank "
            f"{last}. The official script of MS MARCO divides by the rank that is given, and "
            "others by the place in the list; number the results 1, 2, 3 without gaps, or give "
            "all of them."
        )


class ThreeColumns(Format):
    """Query, item and grade."""

    name = "three_columns"
    title = "judgements (query, item, grade)"
    only = "ground_truth"

    def detect(self, sight: Sight) -> bool:
        """Whether the third column can be grades: numbers that do not just count up."""
        grades = _third_by_query(sight)
        return bool(grades) and not any(_counts_up(third) for third in grades.values())

    def read(self, sight: Sight, role: Role, watch: bool) -> Dataset:
        """The judgements, checked."""
        del role, watch
        frame = pl.concat([empty(JUDGEMENTS), *scan(sight.source, JUDGEMENTS)])
        truth = GroundTruth.from_targets(frame, where=lambda row: place_of(sight.source, row))
        return Dataset(ground_truth=truth, kind="judgements in three columns")


def _third_by_query(sight: Sight) -> dict[bytes, list[bytes]]:
    """The third column, where the first line has three.

    A later line that has not is an error of the file, to be said when it is read.
    """
    rows = first_rows(sight, most=None)
    if not rows or not _fits(rows[0]) or not mostly(rows, _fits) or holds_texts(sight):
        return {}
    if are_measures(sight):
        return {}
    third: dict[bytes, list[bytes]] = {}
    for row in filter(_fits, rows):
        third.setdefault(row[0], []).append(row[2])
    return third


def _fits(row: list[bytes]) -> bool:
    return len(row) == 3 and bool(NUMBER.fullmatch(row[2]))


def _counts_up(third: list[bytes]) -> bool:
    wanted = [str(i).encode() for i in range(1, len(third) + 1)]
    return len(third) >= CLEARLY_RANKED and third == wanted
