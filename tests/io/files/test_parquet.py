"""Parquet files that grow block by block, and are held to what their footer says."""

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import polars as pl
import pytest

from calipers.errors import InvalidInput, UnreadableFile, WriteFailed
from calipers.io.files.open import most_unpacked
from calipers.io.files.parquet import check_parquet, parquet_in_blocks, stated
from calipers.io.load import load

BLOCKS = [pl.DataFrame({"query": [f"q{i}"] * i, "value": [float(i)] * i}) for i in (3, 1, 4)]


def test_all_blocks_are_there_with_what_is_known_at_the_end(tmp_path):
    with parquet_in_blocks(tmp_path / "a.parquet") as file:
        for block in BLOCKS:
            file.put(block)
            assert not (tmp_path / "a.parquet").exists()
        file.about = {"rows": "8"}
    assert pl.read_parquet(tmp_path / "a.parquet").equals(pl.concat(BLOCKS))
    assert pl.read_parquet_metadata(tmp_path / "a.parquet")["rows"] == "8"
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]


def put(path, blocks, error=None):
    with parquet_in_blocks(path) as file:
        for block in blocks:
            file.put(block)
        if error is not None:
            raise error
        file.about = {"rows": "8"}


@pytest.mark.parametrize("error", [InvalidInput("no"), KeyboardInterrupt(), OSError(5, "a disk")])
@pytest.mark.parametrize("blocks", [0, 1, 3])
def test_what_stops_the_caller_is_what_is_raised_and_nothing_is_written(tmp_path, error, blocks):
    (tmp_path / "a.parquet").write_text("as it was")
    with pytest.raises(type(error)) as raised:
        put(tmp_path / "a.parquet", BLOCKS[:blocks], error)
    assert raised.value is error
    assert [one.read_text() for one in tmp_path.iterdir()] == ["as it was"]


def test_a_full_disk_is_said_and_nobody_waits_for_it(tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", full)
    with pytest.raises(WriteFailed, match="cannot be written: No space left on device"):
        put(tmp_path / "a.parquet", BLOCKS * 5)
    assert not list(tmp_path.iterdir())


def test_metadata_that_are_asked_for_too_early_are_refused(tmp_path, monkeypatch):
    def eager(_: object, file: object, metadata: Callable[[object], object]) -> None:
        metadata(None)

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", eager)
    with pytest.raises(RuntimeError, match="before its last row"):
        put(tmp_path / "a.parquet", BLOCKS)
    assert not list(tmp_path.iterdir())


def _footer(path: Path) -> bytes:
    content = path.read_bytes()
    return content[-8 - int.from_bytes(content[-8:-4], "little") : -8]


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("compression", ["zstd", "snappy", "uncompressed"])
def test_rows_and_columns_are_those_that_were_written(
    rows: int, compression: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.parquet"
    frame = pl.DataFrame({"query": ["q"] * rows, "rank": range(rows), "tags": [["a"]] * rows})
    frame.write_parquet(path, compression=compression, row_group_size=300)  # type: ignore[arg-type]
    found, columns, unpacked = stated(_footer(path))
    assert (found, columns) == (rows, 3)
    assert unpacked >= 0
    check_parquet(path)


def _rows(path: Path) -> None:
    many = 5_000_000
    frame = pl.select(query=pl.repeat("q", many), item=pl.repeat("a", many), rank=pl.lit(1))
    frame.write_parquet(path, compression="zstd")


def _letters(path: Path) -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a" * (30 << 20)]})
    frame.write_parquet(path, compression="zstd")


@pytest.mark.parametrize("bomb", [_rows, _letters])
def test_a_small_file_that_says_it_is_large_is_refused(bomb, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    bomb(path)
    assert path.stat().st_size < 200_000
    with pytest.raises(UnreadableFile, match="made to fill the memory"):
        load(path, "run")


def test_many_rows_of_little_that_pack_well_are_no_bomb(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    number = pl.int_range(1_000_000, eager=True)
    pl.DataFrame({"query": "q" + number.cast(pl.String), "mrr": 0.5}).write_parquet(path)
    size, unpacked = path.stat().st_size, stated(_footer(path))[2]
    assert unpacked > most_unpacked(size)
    check_parquet(path)


def test_a_damaged_footer_is_left_to_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame({"query": ["q"], "item": ["a"], "rank": [1]}).write_parquet(path)
    content, random = path.read_bytes(), Random(1)
    for _ in range(300):
        at = random.randrange(4, len(content))
        path.write_bytes(content[:at] + bytes([random.randrange(256)]) + content[at + 1 :])
        with suppress(UnreadableFile):
            check_parquet(path)
