"""Tables that are read some rows at a time."""

import io
import os
import random
from pathlib import Path

import polars as pl
import pytest

from calipers.errors import UnreadableFile
from calipers.io.tables import scan
from calipers.io.tables.scan import explained, in_batches

ROWS = 3_000
TABLE = pl.DataFrame(
    {"query": [f"q{i // 10}" for i in range(ROWS)], "score": [i / 7 for i in range(ROWS)]}
)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_damaged_file_gives_every_row_or_a_sentence(
    tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"table.{form}"
    whole = io.BytesIO()
    write = TABLE.write_parquet if form == "parquet" else TABLE.write_ipc
    write(whole)
    draw = random.Random(4)
    refused: list[str] = []
    for _ in range(40):
        content = bytearray(whole.getvalue())
        for _ in range(draw.choice([1, 4, 30])):
            content[draw.randrange(len(content))] = draw.randrange(256)
        path.write_bytes(content)
        try:
            with explained(str(path)):
                opened = pl.scan_parquet if form == "parquet" else pl.scan_ipc
                lazy = opened(path, glob=False).select("query", "score")
                seen = sum(batch.height for batch in in_batches(lazy, 500))
                stated = lazy.select(pl.len()).collect().item()
        except UnreadableFile as error:
            refused.append(str(error))
        else:
            assert seen == stated
    assert len(refused) > 3
    assert not [one for one in refused if "unwrap" in one]
    assert "panicked" not in capfd.readouterr().err


def test_only_panics_are_kept_from_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with scan.panics_unprinted():
        with scan.panics_unprinted():
            os.write(2, b"a warning")
        os.write(2, b"\nthread 'async-1' (7) panicked at range.rs:10:9:\nindex 9 out of range\n")
    os.write(2, b"; after")
    assert capfd.readouterr().err == "a warning; after"


def test_a_panic_that_the_library_keeps_to_itself_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.parquet"
    TABLE.write_parquet(path)
    some = TABLE.head(2_000)
    monkeypatch.setattr(scan, "_stretches", lambda *_: iter([some]))
    said = "2,000 of its 3,000 rows could be read"
    with pytest.raises(UnreadableFile, match=said), explained("table.parquet"):
        list(in_batches(pl.scan_parquet(path, glob=False), 500))
    monkeypatch.setattr(pl.LazyFrame, "collect_batches", lambda *_, **__: iter([some]))
    # A text states no number of rows, and is not read twice to count them.
    lines = io.BytesIO(TABLE.write_csv().encode())
    assert len(list(in_batches(pl.scan_csv(lines), 500))) == 1
