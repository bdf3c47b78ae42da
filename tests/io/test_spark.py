"""Rows sorted by the hash of their query: whole queries come out, whatever the batches."""

import polars as pl
import pytest

from calipers.errors import InvalidInput
from calipers.io import spark
from calipers.io.load import load
from calipers.io.spark import HASH, whole_queries
from calipers.io.tables.columns import Columns

ROWS = pl.DataFrame({"query": [f"q{i * 7 % 40}" for i in range(400)], "item": range(400)})


@pytest.mark.parametrize("size", [1, 37, 1000])
def test_all_rows_of_a_query_come_out_together(monkeypatch, size):
    monkeypatch.setattr(spark, "ROWS_AT_ONCE", 100)
    # Two queries may have one hash.
    rows = ROWS.with_columns((pl.col("query").hash() % 31).alias(HASH)).sort(HASH)
    blocks = list(whole_queries(rows.iter_slices(size)))
    assert pl.concat(blocks).sort("item").equals(rows.sort("item"))
    queries = [name for block in blocks for name in block["query"].unique()]
    assert len(queries) == len(set(queries))
    assert len(blocks) > 1 or size == 1000


class Frame:
    """As much of a DataFrame of Spark as is needed to understand its columns."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows
        self.columns = rows.columns

    def limit(self, most: int) -> "Frame":
        return Frame(self.rows.head(most))

    def toArrow(self) -> object:  # noqa: N802 - its name there
        return self.rows.to_arrow()


RUN = {"query": ["q1", "q1"], "target": ["a", "b"], "score": [2.0, 1.0]}


def test_a_column_that_nobody_knows_is_proposed_as_for_a_file() -> None:
    rows = pl.DataFrame(RUN).rename({"target": "hit"})
    with pytest.raises(InvalidInput) as of_file:
        load(rows, "run")
    with pytest.raises(InvalidInput) as of_spark:
        spark._in_our_names(Frame(rows), "run", Columns())
    assert str(of_spark.value) == str(of_file.value)
    assert '"item": "hit"' in str(of_spark.value)


def test_the_names_of_a_file_are_those_of_spark(monkeypatch) -> None:
    """Understood in the same way; what Spark then does with its columns needs Spark."""
    seen = {}
    monkeypatch.setattr(spark, "_check_order", lambda columns, _: seen.update(columns) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        spark._in_our_names(Frame(pl.DataFrame(RUN)), "run", Columns())
    assert seen == {"query": "query", "item": "target", "score": "score"}
    assert load(pl.DataFrame(RUN), "run").run.frame["item"].to_list() == ["a", "b"]
