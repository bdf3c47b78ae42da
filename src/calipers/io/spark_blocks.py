"""Spark rows in buckets of whole queries, packed as Arrow.

Rows go from Spark to Python once. There they are partitioned by query, and only packed blocks are
shuffled: some thousands of values instead of millions of rows, which Spark would write, sort and
convert one by one.
"""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, check_number

BUCKET, ROWS, OTHERS = "bucket", "rows", "others"
FIRST = -1
"""The extra bucket with the first rows."""
_LEAST, _MOST = 512, 1 << 16
"""Limits on the number of buckets, so that one fits into memory and is worth packing."""
_USUAL = 200
"""Shuffle partitions, if Spark is not configured with a number."""
_PACKED_AT_ONCE = 500_000
_MOST_BYTES = 32 << 20
"""Rows and bytes that are partitioned together."""
ROWS_AT_ONCE = 200_000
"""Rows that a worker processes together."""
_PROBES = ("", "a", "query 17", "a name that is longer than those that are stored in place", "é")


@dataclass(frozen=True)
class Buckets:
    """Assigns queries to buckets, the same on every machine; plain values only."""

    n: int
    partitions: int
    probes: tuple[int, ...]
    """Hashes of some names on the driver, to check that workers hash alike."""

    @classmethod
    def of(cls, spark: Any, partitions: int | None = None) -> "Buckets":
        """Buckets to match the number of shuffle partitions."""
        if partitions is None:
            # On some clusters the number is "auto".
            set_to = spark.conf.get("spark.sql.shuffle.partitions")
            partitions = int(set_to) if set_to.isdigit() else _USUAL
        check_number("The number of partitions", partitions, whole=True, least=1)
        n = min(partitions * -(-_LEAST // partitions), _MOST)
        return cls(n, partitions, _probed())

    def packed(self, rows: pl.DataFrame) -> tuple[list[int], list[bytes]]:
        """The non-empty buckets and their packed rows, in order."""
        if _probed() != self.probes:
            raise InvalidInput(
                "A worker of Spark hashes names otherwise than the driver: it has polars "
                f"{pl.__version__}; give both the same version."
            )
        place = (rows["query"].hash() % self.n).to_numpy().astype(np.uint16)
        some, starts = np.unique(np.sort(place, kind="stable"), return_index=True)
        ends = np.append(starts[1:], rows.height)
        table = _arrow(rows).combine_chunks().take(np.argsort(place, kind="stable"))
        # Not compressed: Spark compresses shuffled data.
        blobs = [_written(table[a:b], None) for a, b in zip(starts, ends, strict=True)]
        return some.tolist(), blobs


def _probed() -> tuple[int, ...]:
    return tuple(pl.Series(_PROBES).hash().to_list())


def _arrow(rows: pl.DataFrame) -> Any:
    return rows.to_arrow(compat_level=pl.CompatLevel.oldest())


def _written(table: Any, compression: str | None) -> bytes:
    import pyarrow as pa

    sink, how = pa.BufferOutputStream(), pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=how) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


_KIND = f"{BUCKET} int, {ROWS} binary"


def pack_there(frame: Any, buckets: Buckets, within: Sequence[str], first: int = 0) -> Any:
    """A DataFrame with one row per non-empty bucket, partitioned for a join.

    Rows in a bucket are sorted by query, and then by the columns ``within``. One more bucket,
    ``FIRST``, holds the ``first`` rows in the order of all columns.
    """
    n = buckets.partitions
    parts = frame.mapInArrow(_packing(buckets, first), _KIND).repartition(n, BUCKET)
    sorting = _sorting(["query", *within], first)
    whole = parts.sortWithinPartitions(BUCKET).mapInArrow(sorting, _KIND)
    # Each is in its partition already. This tells Spark, which then joins without a shuffle.
    return whole.repartition(n, BUCKET)


def pack_here(spark: Any, rows: pl.DataFrame, buckets: Buckets) -> Any:
    """Like ``pack_there`` for local rows; those of a query keep their order."""
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_batches([_batch(*buckets.packed(rows))]))


def nothing_of(frame: Any) -> pl.DataFrame:
    """An empty table with the columns of a DataFrame."""
    return pl.DataFrame(frame.limit(0).toArrow())


def joined(run: Any, truth: Any) -> Any:
    """Both sides of each bucket in one row, for ``unpacked``."""
    results, judged = run.where(f"{BUCKET} != {FIRST}"), truth.withColumnRenamed(ROWS, OTHERS)
    return results.join(judged, BUCKET, "full_outer").drop(BUCKET)


def _packing(buckets: Buckets, first: int) -> Any:
    def work(batches: Any) -> Iterator[Any]:
        for rows in _pieces(batches):
            some, blobs = buckets.packed(rows)
            if first:
                top = rows.bottom_k(first, by=rows.columns)
                some, blobs = [*some, FIRST], [*blobs, _written(_arrow(top), None)]
            yield _batch(some, blobs)

    return work


def _pieces(batches: Any) -> Iterator[pl.DataFrame]:
    held: list[pl.DataFrame] = []
    rows = size = 0
    for batch in batches:
        if batch.num_rows:
            held.append(pl.DataFrame(batch))
            rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _PACKED_AT_ONCE or size >= _MOST_BYTES:
            yield pl.concat(held)
            held, rows, size = [], 0, 0
    if held:
        yield pl.concat(held)


def _sorting(by: list[str], first: int) -> Any:
    def work(batches: Any) -> Iterator[Any]:
        listed = (zip(*(one.to_pylist() for one in batch), strict=True) for batch in batches)
        for bucket, some in groupby(chain.from_iterable(listed), itemgetter(0)):
            rows = pl.concat([pl.read_ipc_stream(content) for _, content in some])
            if bucket == FIRST:
                rows = rows.sort(rows.columns, nulls_last=True).head(first)
            else:
                rows = rows.sort(by)
            yield _batch([bucket], [_written(_arrow(rows), "zstd")])

    return work


def _batch(buckets: list[int], blobs: list[bytes]) -> Any:
    import pyarrow as pa

    columns = [pa.array(buckets, pa.int32()), pa.array(blobs, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, [BUCKET, ROWS])


def unpacked(
    batches: Any, run: pl.DataFrame, truth: pl.DataFrame
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield the rows of both sides of ``joined``, some whole queries at a time, sorted by name.

    A side without rows is the given empty table.
    """
    held, n = ([run], [truth]), 0
    for batch in batches:
        for both in zip(*(batch.column(name) for name in (ROWS, OTHERS)), strict=True):
            for side, content in zip(held, both, strict=True):
                if content.is_valid:
                    side.append(pl.read_ipc_stream(content.as_py()))
                    n += side[-1].height
            if n >= ROWS_AT_ONCE:
                yield _in_order(held[0]), _in_order(held[1])
                held, n = ([run], [truth]), 0
    if n:
        yield _in_order(held[0]), _in_order(held[1])


def _in_order(frames: list[pl.DataFrame]) -> pl.DataFrame:
    """Rows sorted by query; the first frame is empty, and a single bucket is already sorted."""
    rows = pl.concat(frames)
    # Examples are the first by name, which must not depend on the hashing.
    return rows.sort("query", maintain_order=True) if len(frames) > 2 else rows


class PackedRun:
    """The rows packed in blocks of whole queries, cached by Spark while in use."""

    def __init__(self, frame: Any, within: Sequence[str], first: int) -> None:
        self._rows, self._within, self._first = frame, within, first

    @cached_property
    def buckets(self) -> Buckets:
        """The assignment of queries to buckets, for Spark's configured partitions."""
        return Buckets.of(self._rows.sparkSession)

    @cached_property
    def frame(self) -> Any:
        """The packed rows, one row per bucket."""
        kept = pack_there(self._rows, self.buckets, self._within, self._first).persist()
        weakref.finalize(self, _unpersist, kept).atexit = False
        return kept

    @property
    def head(self) -> pl.DataFrame:
        """The first rows in the order of all columns."""
        found = self.frame.where(f"{BUCKET} = {FIRST}").select(ROWS).collect()
        return pl.read_ipc_stream(bytes(found[0][0])) if found else nothing_of(self._rows)


def _unpersist(kept: Any) -> None:
    # The session may have ended already.
    with suppress(Exception):
        kept.unpersist()
