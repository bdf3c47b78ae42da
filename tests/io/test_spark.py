"""Rows packed by query: whatever batches they came in, whole queries come out, in their order."""

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

from calipers.errors import InvalidInput
from calipers.io import spark
from calipers.io.spark import (
    FIRST,
    OTHERS,
    ROWS,
    Buckets,
    _packing,
    _probed,
    _sorting,
    unpacked,
)

pa = pytest.importorskip("pyarrow")
BUCKETS = Buckets(7, 7, _probed())
RUN = pl.DataFrame({"query": [f"q{i * 7 % 40}" for i in range(400)], "item": range(400)})
TRUTH = pl.DataFrame({"query": [f"q{i}" for i in range(30, 50)], "target": range(20)})


def packed(rows: pl.DataFrame, size: int, first: int = 0) -> dict[int, bytes]:
    """What Spark has of each bucket after its shuffle, from batches of some size."""
    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    batches = list(_packing(BUCKETS, first)(table.to_batches(max_chunksize=size)))
    shuffled = pa.Table.from_batches(batches[::-1]).sort_by("bucket")
    done = pa.Table.from_batches(_sorting(["query", rows.columns[1]], first)(shuffled.to_batches()))
    return dict(zip(*done.to_pydict().values(), strict=True))


@pytest.mark.parametrize("size", [1, 37, 1000])
def test_both_sides_of_every_query_come_out_together(monkeypatch, size):
    monkeypatch.setattr(spark, "_PACKED_AT_ONCE", 50)
    monkeypatch.setattr(spark, "ROWS_AT_ONCE", 100)
    run, truth = packed(RUN, size), packed(TRUTH, size)
    both = [(run.get(one), truth.get(one)) for one in sorted(run.keys() | truth.keys())]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(side, pa.binary()) for side in zip(*both, strict=True)], [ROWS, OTHERS]
    )
    blocks = list(unpacked([batch[:3], batch[3:]], RUN.clear(), TRUTH.clear()))
    assert len(blocks) > 1
    found = [
        pl.concat(side).sort("query", maintain_order=True) for side in zip(*blocks, strict=True)
    ]
    assert found[0].equals(RUN.sort("query", "item"))
    assert found[1].equals(TRUTH.sort("query", "target"))
    for results, judged in blocks:
        assert all(side["query"].is_sorted() for side in (results, judged))
        others = [one for one in blocks if one[0] is not results]
        names = {*results["query"], *judged["query"]}
        assert not any(names & {*one["query"], *other["query"]} for one, other in others)


def test_the_first_rows_are_those_of_all_batches(monkeypatch):
    monkeypatch.setattr(spark, "_PACKED_AT_ONCE", 50)
    unnamed = pl.DataFrame({"query": [None], "item": [-1]}, schema=RUN.schema)
    rows = pl.concat([unnamed, RUN])
    first = pl.read_ipc_stream(packed(rows, 50, first=9)[FIRST])
    assert first.equals(rows.sort("query", "item", nulls_last=True).head(9))
    all_of_them = pl.read_ipc_stream(packed(rows, 50, first=1000)[FIRST])
    assert all_of_them.equals(rows.sort("query", "item", nulls_last=True))


def test_machines_that_hash_otherwise_are_refused():
    with pytest.raises(InvalidInput, match="hashes names otherwise than the driver"):
        replace(BUCKETS, probes=(1, 2)).packed(RUN)


def test_there_are_buckets_for_every_partition():
    def found(n: str) -> Buckets:
        return Buckets.of(SimpleNamespace(conf={"spark.sql.shuffle.partitions": n}))

    assert [found(n).n for n in ("1", "4", "33", "200", "1000")] == [512, 512, 528, 600, 1000]
    assert found("auto").partitions == 200
