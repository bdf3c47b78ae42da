"""Parquet files that grow block by block."""

import errno
from collections.abc import Callable

import polars as pl
import pytest

from calipers.errors import InvalidInput, WriteFailed
from calipers.io.files.parquet import parquet_in_blocks

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
