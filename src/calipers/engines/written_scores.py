"""Scores whose queries are in a Parquet file that was written on the way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from calipers.engines.summary_only import ScoresElsewhere
from calipers.io.tables.tags import TAG
from calipers.model.arrays import Floats
from calipers.model.scores import ROWS_AT_ONCE, Scores


@dataclass(frozen=True, eq=False, repr=False)
class WrittenScores(ScoresElsewhere):
    """Scores that read from their file what is asked of single queries."""

    place: ClassVar[str] = "a file"
    path: str = ""
    """The file, with one row per query in the order in which the run has them."""

    @property
    def _file(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False)

    @property
    def per_query(self) -> pl.DataFrame:
        """The whole file as a table."""
        return self._file.collect()

    def query_blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[pl.DataFrame]:
        """The same in pieces."""
        return self._file.collect_batches(chunk_size=rows, maintain_order=True)

    def of(self, name: str) -> Floats:
        """The values of one metric, in the order of the file."""
        column = self._file.select(self[name].metric).collect().to_series()
        return column.fill_null(np.nan).to_numpy()

    def to_slice(self, by: Sequence[str], metrics: Sequence[str]) -> Scores:
        """Scores in memory of what the slices need: these metrics, tags and queries."""
        tags = [name for name in by if name in self.tags]
        texts = ["query", "text"] if "length" in by and "length" not in tags else []
        asked = self._file.select(*texts, "targets", *(TAG + name for name in tags)).collect()
        return self.brought_here(
            metrics,
            np.column_stack([self.of(name) for name in metrics]),
            asked.select(*texts, "targets"),
            {name: asked[TAG + name].alias(name) for name in tags}
            | {name: tag for name, tag in self.tags.items() if name not in tags},
        )

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        return super().to_dict(per_query=per_query)
