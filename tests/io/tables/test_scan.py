"""Tables that are read some rows at a time, and CSV as other readers read it."""

import csv
import gzip
import io
import random
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from calipers.errors import UnreadableFile
from calipers.io.files import open as open_files
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.tables import scan
from calipers.io.tables.scan import delimited, explained, in_batches
from tests.command import refused

LARGE_CSV = (
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
    some = found.open().select("score", "query").head(2).collect()
    assert some.equals(whole.select("score", "query").head(2))
    return whole


@pytest.mark.parametrize("block", [16, 64, 1 << 20])
@pytest.mark.parametrize("packed", [False, True])
def test_a_large_file_holds_what_a_small_one_does(
    block: int, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    path.write_bytes(LARGE_CSV)
    small = table(path)
    assert small.height == 5
    if packed:
        path.write_bytes(gzip.compress(LARGE_CSV))
    monkeypatch.setattr(scan, "SMALL", 0)
    monkeypatch.setattr(open_files, "LARGE", 0)
    monkeypatch.setattr(open_files, "BLOCK", block)
    large = table(path)
    assert large.to_dict(as_series=False) == small.to_dict(as_series=False)


@pytest.mark.parametrize("small", [0, 1 << 20])
def test_a_first_name_that_a_plain_reader_wrote_back_is_read(
    small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A reader without byte order marks takes the mark and the quotes as part of the name.
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = [['\ufeff"query_id"', 'size 5"', "item"], ["a", "1", "x"], ["b", "2", "y"]]
        csv.writer(file).writerows(rows)
    monkeypatch.setattr(scan, "SMALL", small)
    opened = delimited(Source(path))
    assert opened is not None
    assert opened.columns == {"query_id", 'size 5"', "item"}
    read = opened.open().collect()
    assert read.columns == ["query_id", 'size 5"', "item"]
    assert read["query_id"].to_list() == ["a", "b"]


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


def read(path):
    table = Probe(Source(path)).table
    rows = table.open().collect().rows()
    return table.names(), [["" if cell is None else cell for cell in row] for row in rows]


CASES = {
    "line ends in cells": 'question,quote\n"a\nb","c ""d""\ne"\nq2,x\n',
    "Windows line ends in cells": 'question,quote\r\n"a\r\nb",c\r\nq2,x\r\n',
    "an empty line in a cell": 'question,quote\n"a\n\nb",c\n',
    "a name of a column over two lines": 'question,"the\nquote",chunk_id\nq1,a,b\n',
    "the first name over two lines": '"question\n(English)",quote\nq1,a\n',
    "marks inside of a cell": 'question,quote\nq1,the "GIL" lock\nq2,x\n',
    "empty lines": "question,quote\n\nq1,a\n\n\nq2,b\n\n",
    "no last line end": 'question,quote\nq1,"a\nb"',
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_as_pythons_reader_and_pandas(tmp_path, case):
    path = tmp_path / "a.csv"
    path.write_bytes(CASES[case].encode())
    header, *rows = (row for row in csv.reader(io.StringIO(CASES[case], newline="")) if row)
    assert read(path) == (header, rows)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert table.to_numpy().tolist() == rows


def test_whatever_was_written_is_read(tmp_path):
    draw = random.Random(7)
    pieces = ["a", " ", ",", ";", '"', "\n", "\r\n", "\n\n", "x y", "é", '""']
    path = tmp_path / "a.csv"
    for number in range(200):
        rows = [
            ["q" + "".join(draw.choices(pieces, k=draw.randint(0, 6))) for _ in range(3)]
            for _ in range(draw.randint(1, 6))
        ]
        text = io.StringIO(newline="")
        ends = draw.choice(["\n", "\r\n"])
        csv.writer(text, lineterminator=ends).writerows([["question", "quote", "note"], *rows])
        path.write_bytes(text.getvalue().encode())
        assert read(path)[1] == rows, (number, text.getvalue())


def test_a_place_is_the_line_where_the_row_ends(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text('query,item,grade\n"a\nb",x,1\n\nq2,y,high\n')
    assert "holds 'high' at a.csv:5" in refused("audit", "a.csv")


@pytest.mark.parametrize("cell", ['"never closed', '"closed" and more', '5" pipe'])
def test_a_mark_that_is_not_closed_is_refused(tmp_path, monkeypatch, cell):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(f'question,quote\nq1,{cell}\nq2,5" pipe\n')
    sentence = refused("audit", "a.csv")
    assert "A quotation mark is not closed, or stands inside of a cell, from a.csv:" in sentence
    assert "write those inside of it twice" in sentence


ROWS = 3_000
TABLE = pl.DataFrame(
    {"query": [f"q{i // 10}" for i in range(ROWS)], "score": [i / 7 for i in range(ROWS)]}
)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_damaged_file_gives_every_row_or_a_sentence(tmp_path: Path, form: str) -> None:
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
