"""Scores whose queries stay in Spark, and their slices, which Spark counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np
import polars as pl

from calipers.engines.blocks import RemoteScores
from calipers.errors import InvalidInput
from calipers.io.records.results import KEY, QUERY_SCHEMA
from calipers.io.spark import quoted, spoken
from calipers.io.tables.cells import TAG
from calipers.model.scores import Scores
from calipers.model.slicing import (
    AUTO,
    FROM_TEXT,
    check_cut,
    check_slices,
    check_texts,
    labels_of,
    with_computed,
)

SLICE, VALUE, COUNT = "slice_", "value_", "count"


def gather_slices(scores: Any, by: Sequence[str], metrics: Sequence[str]) -> Scores:
    """Scores on this machine with the right values in every slice, but not per query.

    Queries in the same slices are adjacent. Among them the values of each metric are sorted
    separately, as they come as counts: a row no longer holds the values of one query, which no
    slice needs.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    asks = F.col("text").isNotNull() | F.trim("query").contains(" ")
    needing = [name for name in with_computed(by) if name in FROM_TEXT and name not in scores.tags]
    texts = bool(needing) and scores.frame.where(asks).limit(1).count() > 0
    for name in by:
        if name != AUTO:
            check_cut(name, list(scores.tags))
            if name in needing:
                check_texts(name, texts)
    # Cuts that "auto" leaves out, as no query has a text.
    by = [name for name in with_computed(by) if texts or name not in needing]
    labelled = _labelled(scores.frame, by, list(scores.tags), metrics).persist()
    slices = [f"{SLICE}{i}" for i in range(len(by))]
    columns, labels = [], pl.DataFrame()
    try:
        several = labelled.agg(*(F.count_distinct(one).alias(one) for one in slices)).collect()[0]
        for name, one in zip(by, slices, strict=True):
            check_slices(name, several[one], len(scores))
        for i in range(len(metrics)):
            counted = labelled.groupBy(*slices, f"{VALUE}{i}").agg(F.count(F.lit(1)).alias(COUNT))
            table = pl.DataFrame(counted.toArrow()).sort(*slices, f"{VALUE}{i}", nulls_last=True)
            counts = table[COUNT].to_numpy()
            columns.append(np.repeat(table[f"{VALUE}{i}"].fill_null(np.nan).to_numpy(), counts))
            labels = table.select(slices)[np.repeat(np.arange(table.height), counts)]
    finally:
        labelled.unpersist()
    tags = {name: labels[one] for name, one in zip(by, slices, strict=True)}
    nobody = pl.DataFrame(schema=QUERY_SCHEMA)
    found: Scores = scores.brought_here(metrics, np.column_stack(columns), nobody, tags)
    return found


def _labelled(frame: Any, by: Sequence[str], tags: Iterable[str], metrics: Sequence[str]) -> Any:
    """One row per query: the names of its slices, by the same rule as on one machine."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    tagged = [name for name in tags if name in by]
    chosen = [
        F.col("query"),
        F.col("text"),
        F.col("targets"),
        *(F.col(quoted(TAG + name)).alias(f"tag_{i}") for i, name in enumerate(tagged)),
        *(F.col(quoted(name)).alias(f"{VALUE}{i}") for i, name in enumerate(metrics)),
    ]
    schema = [f"{SLICE}{i} string" for i in range(len(by))]
    schema += [f"{VALUE}{i} double" for i in range(len(metrics))]
    work = _labelling(tuple(by), {name: f"tag_{i}" for i, name in enumerate(tagged)})
    return frame.select(*chosen).mapInArrow(work, ", ".join(schema))


def _labelling(by: tuple[str, ...], tags: Mapping[str, str]) -> Any:
    def work(batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            rows = pl.DataFrame(batch)
            tagged = {name: rows[column] for name, column in tags.items()}
            labels = [labels_of(rows, tagged, name).to_arrow().cast(pa.string()) for name in by]
            values = [name for name in rows.columns if name.startswith(VALUE)]
            yield pa.RecordBatch.from_arrays(
                [*labels, *(batch.column(name) for name in values)],
                names=[*(f"{SLICE}{i}" for i in range(len(by))), *values],
            )

    return work


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(RemoteScores):
    """Scores whose queries stay in Spark; this object has summaries and counts."""

    place: ClassVar[str] = "Spark"
    frame: Any = None
    """One row per query."""
    persisted: Any = None
    """The DataFrame that Spark caches, so that a second question does not measure again."""

    def unpersist(self) -> None:
        """Free Spark's cache; ``per_query`` is measured again when it is used."""
        self.persisted.unpersist()

    @property
    def per_query(self) -> Any:
        """A Spark DataFrame with one row per query, which says what it holds when it is written.

        Written as Parquet, it can be compared and sliced like other scores.
        """
        about = msgspec.json.encode(self.to_dict(per_query=False)).decode()
        return self.frame.withMetadata("query", {KEY: about})

    def of(self, name: str) -> Any:
        """Refused: the values of single queries are only in ``per_query``."""
        raise InvalidInput(
            f"The values of {name} stay in Spark, one row per query; take them from per_query, or "
            "write that to Parquet and read the file with Calipers."
        )

    def to_slice(self, by: Sequence[str], metrics: Sequence[str]) -> Scores:
        """The values by slice, counted in Spark: all that means, intervals and tests need."""
        with spoken():
            return gather_slices(self, by, metrics)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """The whole result as plain values, without the scores of single queries."""
        if per_query:
            self.of("single queries")
        return super().to_dict(per_query=False)
