"""CSV with line ends and quotation marks in its cells: read as Python's reader and pandas do."""

import csv
import io
import random

import pandas as pd
import pytest

from calipers import evaluate
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from tests.command import refused


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
    "a mark inside of a cell": 'question,quote\nq1,5" pipe\nq2,x\n',
    "two such marks": 'question,quote\nq1,5" pipe\nq2,a 6" one\n',
    "such a mark beside cells of several lines": 'question,quote\n"a\nb",5" pipe\nq2,"x\ny"\n',
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


def test_questions_over_several_lines_are_measured(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('question,quote\n"How thick\nis it?",5" pipe\n')
    run = [{"query": "How thick\nis it?", "retrieved": [{"text": 'A 5" pipe.'}]}]
    assert evaluate(ground_truth=path, run=run, metrics="mrr")["mrr"].mean == 1.0


@pytest.mark.parametrize("cell", ['"never closed', '"closed" and more'])
def test_a_mark_that_takes_the_rest_of_the_file_is_refused(tmp_path, monkeypatch, cell):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(f'question,quote\nq1,{cell}\nq2,5" pipe\n')
    sentence = refused("audit", "a.csv")
    assert "A quotation mark is not closed before a.csv:" in sentence
    assert "write those inside of it twice" in sentence
