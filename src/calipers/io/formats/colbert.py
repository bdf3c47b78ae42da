"""Rankings of ColBERT: lines of query, item, rank and score, without a header."""

from collections.abc import Iterator

import polars as pl

from calipers.io.build import ResultRows, build
from calipers.io.files.probe import Probe
from calipers.io.format import Format
from calipers.io.tables.lines import (
    LineLayout,
    are_ranked_fours,
    first_rows,
    holds_texts,
    scan,
)
from calipers.io.tables.scan import explained
from calipers.model.matched import Dataset, Role

COLBERT_RUN = LineLayout(
    "run",
    "query item rank score",
    ((0, "query"), (1, "item"), (2, "rank"), (3, "score")),
    "score",
    4,
)


class ColbertRun(Format):
    """A ranking of ColBERT: query, item, rank and score."""

    name = "colbert_run"
    title = "a ranking of ColBERT (query, item, rank, score)"
    only = "run"

    def detect(self, probe: Probe) -> bool:
        """Four columns, of which the third counts up in each query and the second does not."""
        rows = first_rows(probe)
        return are_ranked_fours(rows) and not holds_texts(probe)

    def read(self, probe: Probe, role: Role) -> Dataset:
        """A run in the order of its ranks, read in blocks when needed."""
        del role

        def batches() -> Iterator[pl.DataFrame]:
            for frame in scan(probe.source, COLBERT_RUN):
                with explained(probe.name):  # a rank that is no whole number
                    yield frame.with_columns(pl.col("rank").cast(pl.Int64))

        results = ResultRows(batches, COLBERT_RUN.names, name=probe.name)
        return build(self.title, results=results)
