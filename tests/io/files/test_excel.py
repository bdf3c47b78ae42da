"""Excel files: one sheet is read as the same rows in a CSV would be."""

import json
import sys
import zipfile
from typing import Any

import pytest

from calipers import evaluate
from calipers.version import pip_install
from tests.command import calipers_command, refused
from tests.workbook import write_workbook

QUESTIONS: list[list[Any]] = [
    ["question", "chunk_id", "remark"],
    ["How do lists grow?", 12, "by hand"],
    [None, 13, None],
    [None, None, None],
    ["What is the GIL?", "gil#2", None],
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = {"How do lists grow?": ["12", "x", "y"], "What is the GIL?": ["x", "gil#2"]}
    (tmp_path / "run.json").write_text(json.dumps(run))
    return tmp_path


def recalls(*arguments):
    printed = calipers_command("eval", *arguments, "-m", "recall@2", "--json")
    assert printed.code == 0, printed.err
    found = json.loads(printed.out)
    return [one["scores"]["recall@2"] for one in found["per_query"]]


def test_a_csv_of_the_same_cells_gives_the_same(folder):
    write_workbook(folder / "gold.xlsx", {"Questions": QUESTIONS})
    lines = [",".join("" if one is None else str(one) for one in row) for row in QUESTIONS]
    (folder / "gold.csv").write_text("\n".join(lines))
    read = evaluate(ground_truth="gold.xlsx", run="run.json")
    same = evaluate(ground_truth="gold.csv", run="run.json")
    assert read.fingerprints["ground_truth"] == same.fingerprints["ground_truth"]


def test_another_sheet_is_named_in_every_way(folder):
    write_workbook(folder / "gold.xlsx", {"Cover": [["Our questions"]], "Data": QUESTIONS})
    values = recalls("-g", "gold.xlsx", "-r", "run.json", "--sheet", "Data")
    assert values == [0.5, 1.0]
    scores = evaluate(ground_truth="gold.xlsx", run="run.json", columns={"sheet": "Data"})
    assert scores["recall@10"].mean == 0.75
    (folder / "calipers.toml").write_text('[columns]\nsheet = "Data"\n')
    assert recalls("-g", "gold.xlsx", "-r", "run.json") == [0.5, 1.0]


def test_a_sheet_that_is_taken_among_several_is_named(folder):
    write_workbook(folder / "gold.xlsx", {"Data": QUESTIONS, "Old": QUESTIONS})
    asked = ("eval", "-g", "gold.xlsx", "-r", "run.json", "--explain")
    printed = calipers_command(*asked, columns=200)
    assert "gold.xlsx has 2 sheets, and the first, 'Data', is read; --sheet takes another" in (
        printed.out
    )


def test_questions_of_a_sheet_are_asked(folder):
    write_workbook(folder / "gold.xlsx", {"Cover": [["Our questions"]], "Data": QUESTIONS})
    (folder / "search.py").write_text("def search(query, k):\n    return ['12', 'gil#2']\n")
    printed = calipers_command(
        "retrieve", "search.py:search", "gold.xlsx", "-o", "out.jsonl", "--sheet", "Data"
    )
    assert "calipers eval -g gold.xlsx --run out.jsonl --sheet Data" in printed.out
    assert recalls("-g", "gold.xlsx", "-r", "out.jsonl", "--sheet", "Data") == [0.5, 1.0]


def test_what_is_wrong_is_said(folder):
    write_workbook(folder / "gold.xlsx", {"Cover": [["Our questions"]], "Data": QUESTIONS})
    run = ("-r", "run.json")
    sentence = refused("eval", "-g", "gold.xlsx", *run, "--sheet", "Date")
    assert "There is no sheet 'Date': gold.xlsx has Cover, Data." in sentence
    write_workbook(folder / "cover.xlsx", {"Cover": [["a", "b"], [1, 2]], "Data": QUESTIONS})
    sentence = refused("eval", "-g", "cover.xlsx", *run)
    assert "cover.xlsx was read from its first sheet, 'Cover'; --sheet takes another" in sentence
    (folder / "gold.csv").write_text("question,chunk_id\nWhat is the GIL?,gil#2\n")
    write_workbook(folder / "empty.xlsx", {"Data": QUESTIONS[:1]})
    assert "holds no rows below a header" in refused("eval", "-g", "empty.xlsx", *run)
    write_workbook(folder / "twice.xlsx", {"Data": [["question", "a", "a"], ["q", 1, 2]]})
    assert "has the column 'a' twice in the sheet 'Data'" in refused(
        "eval", "-g", "twice.xlsx", *run
    )
    whole = (folder / "gold.xlsx").read_bytes()
    (folder / "cut.xlsx").write_bytes(whole[: len(whole) // 2])
    sentence = refused("eval", "-g", "cut.xlsx", *run)
    assert "The Excel file cut.xlsx cannot be read" in sentence
    assert "save the sheet as CSV" in sentence
    write_workbook(folder / "bad.xlsx", {"Data": [["query", "item", "grade"], ["q", "a", "high"]]})
    assert "bad.xlsx, sheet 'Data', row 1 below the header" in refused(
        "eval", "-g", "bad.xlsx", *run
    )


def test_a_file_that_fills_the_memory_is_not_opened(folder):
    with zipfile.ZipFile(folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", b"<a>" + b" " * (64 << 20))
    assert "usually made to fill the memory" in refused("audit", "bomb.xlsx")


def test_another_zip_file_is_no_spreadsheet(folder):
    with zipfile.ZipFile(folder / "some.zip", "w") as book:
        book.writestr("notes.txt", "hello")
    assert "binary and in no format Calipers knows" in refused("audit", "some.zip")


def test_without_the_library_the_sentence_says_what_to_do(folder, monkeypatch):
    write_workbook(folder / "gold.xlsx", {"Data": QUESTIONS})
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    sentence = refused("eval", "-g", "gold.xlsx", "-r", "run.json")
    assert "gold.xlsx is an Excel file, which needs a library" in sentence
    assert f"{pip_install('excel')}, or save the sheet as CSV (UTF-8)" in sentence


def test_a_title_above_the_header_is_called_that(folder):
    rows: list[list[Any]] = [["Our questions", None, None], [None, None, None], *QUESTIONS]
    write_workbook(folder / "gold.xlsx", {"Data": rows})
    said = refused("eval", "-g", "gold.xlsx", "-r", "run.json")
    assert "above the table in gold.xlsx" in said
    assert "(question, chunk_id, remark)" in said
