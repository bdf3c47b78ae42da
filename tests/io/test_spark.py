"""Rows sorted by the hash of their query: whole queries come out, whatever the batches."""

import polars as pl
import pytest

from calipers.io import spark
from calipers.io.spark import HASH, whole_queries

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
