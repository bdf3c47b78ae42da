"""Parquet files that grow block by block, and are held to what their footer says."""

from contextlib import suppress
from pathlib import Path
from random import Random

import polars as pl
import pytest

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.parquet import check_parquet, write_blocks
from calipers.io.files.write import whole_file
from calipers.io.load import load
from calipers.io.tables.scan import explained

BLOCKS = [pl.DataFrame({"query": [f"q{i}"] * i, "value": [float(i)] * i}) for i in (3, 1, 4)]


def test_what_stops_the_blocks_is_what_is_raised_and_nothing_is_written(tmp_path):
    def stops():
        yield from BLOCKS
        raise InvalidInput("no")

    (tmp_path / "a.parquet").write_text("as it was")
    with pytest.raises(InvalidInput, match="no"), whole_file(tmp_path / "a.parquet") as file:
        write_blocks(stops(), file)
    assert [one.read_text() for one in tmp_path.iterdir()] == ["as it was"]
    with whole_file(tmp_path / "a.parquet") as file:
        write_blocks(BLOCKS, file, metadata={"rows": "8"})
    assert pl.read_parquet(tmp_path / "a.parquet").equals(pl.concat(BLOCKS))
    assert pl.read_parquet_metadata(tmp_path / "a.parquet")["rows"] == "8"


def _rows(path: Path) -> None:
    many = 5_000_000
    frame = pl.select(query=pl.repeat("q", many), item=pl.repeat("a", many), rank=pl.lit(1))
    frame.write_parquet(path, compression="zstd")


def test_a_small_file_that_says_it_is_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    _rows(path)
    assert path.stat().st_size < 200_000
    with pytest.raises(UnreadableFile, match="made to fill the memory"):
        load(path, "run")


def test_a_damaged_footer_is_left_to_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame({"query": ["q"], "item": ["a"], "rank": [1]}).write_parquet(path)
    content, random = path.read_bytes(), Random(1)
    for _ in range(300):
        at = random.randrange(4, len(content))
        path.write_bytes(content[:at] + bytes([random.randrange(256)]) + content[at + 1 :])
        with suppress(UnreadableFile), explained(str(path)):
            check_parquet(path)
