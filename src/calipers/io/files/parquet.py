"""Parquet files: write in blocks; check the size in the footer before reading."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from calipers.errors import UnreadableFile
from calipers.io.tables.scan import lazily


def write_blocks(blocks: Iterable[pl.DataFrame], file: BinaryIO, **options: Any) -> None:
    """Write blocks of one table, at least one, without holding all of them in memory."""
    waiting = iter(blocks)
    first = next(waiting)
    lazily(first.schema, lambda: chain([first], waiting)).sink_parquet(file, **options)


LARGE = 64 << 20
"""Larger files need memory in proportion to their size, so their footer is not checked."""
SMALL_CELLS = 10_000_000
CELLS_PER_BYTE = 32
"""Cells that any file may hold, and how many more per byte of its size."""


def check_parquet(path: Path) -> None:
    """Refuse a small file whose footer claims an implausible number of rows."""
    size = path.stat().st_size
    if size > LARGE:
        return
    table = pl.scan_parquet(path, glob=False)
    cells = int(table.select(pl.len()).collect().item()) * len(table.collect_schema())
    if cells > SMALL_CELLS + CELLS_PER_BYTE * size:
        raise UnreadableFile(
            f"The Parquet file {path} of {size:,} bytes says that it holds {cells:,} cells, as if "
            "made to fill the memory; if it is sound, write it without compression."
        )
