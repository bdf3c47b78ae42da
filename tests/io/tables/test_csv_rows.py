"""Large CSV files, read in blocks of whole rows."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from calipers.errors import UnreadableFile
from calipers.io.files import open as open_files
from calipers.io.files.open import Source
from calipers.io.tables import scan
from calipers.io.tables.scan import delimited

ROWS = (
    b'query,item,"the\ntext",score\r\n'
    b"q1,a,plain,0.9\r\n"
    b'q1,b,"goes on\r\n\r\nthree lines, ""so""",0.8\r\n'
    b"\r\n"
    b"q2,'=1+1,,0.7\n"
    b"q2,,empty id,\n"
    b'q3,c,"it\'s",0.5'
)


def table(path: Path) -> pl.DataFrame:
    found = delimited(Source(path))
    assert found is not None
    whole = found.open().collect()
    taken = list(found.batches(found.names(), 2))
    assert pl.concat(taken).equals(whole)
    assert (
        found.open()
        .select("score", "query")
        .head(2)
        .collect()
        .equals(whole.select("score", "query").head(2))
    )
    return whole


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_a_large_file_holds_what_a_small_one_does(
    block: int, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(ROWS)
    small = table(path)
    assert small.height == 5
    if packed:
        path.write_bytes(gzip.compress(ROWS))
    monkeypatch.setattr(scan, "SMALL", 0)
    monkeypatch.setattr(open_files, "LARGE", 0)
    monkeypatch.setattr(open_files, "BLOCK", block)
    large = table(path)
    assert large.to_dict(as_series=False) == small.to_dict(as_series=False)


def test_a_large_file_says_where_it_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "SMALL", 0)
    monkeypatch.setattr(open_files, "BLOCK", 16)
    path = tmp_path / "run.csv"
    path.write_bytes(b"query,item,score\nq,a,1\nq,b,2\nq,c,3,4\n")
    found = delimited(Source(path))
    assert found is not None
    assert "run.csv:4 has 4 cells, and the header has 3" in str(found.fault())
    assert found.where(1).endswith("run.csv:3")
    with pytest.raises(pl.exceptions.PolarsError):
        list(found.batches(["query"], 2))
    path.write_bytes(b'query,item,score\nq,"a,1\nq,b,2\n')
    found = delimited(Source(path))
    assert found is not None
    with pytest.raises(UnreadableFile, match=r"A quotation mark is not closed in .*run\.csv"):
        list(found.batches(["query"], 2))
    monkeypatch.setattr(scan, "HEAD", 16)
    with pytest.raises(UnreadableFile, match="The first line of"):
        found.open()
