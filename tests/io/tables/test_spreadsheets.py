"""Spreadsheets as people make them: read rightly with a note, or refused with what to do."""

import re
from dataclasses import dataclass

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.tables.columns import Columns

GIL = "The GIL is a lock that only one thread holds."
TWO = {"How?": ["a#14", "a#15"], "When?": ["b#1"]}
ONE = {"How?": ["a#14"], "When?": ["b#1"]}
QUOTES = {"How?": [GIL], "When?": ["Lists grow by an eighth of their length."]}


@dataclass(frozen=True)
class Sheet:
    """A file that somebody saved, and what it must be understood as."""

    content: str | bytes
    means: dict[str, list[str]]
    said: str = ""
    """What a note says; empty where there is nothing to say."""
    by: str = "item"
    columns: tuple[str, ...] = ()


READ = {
    "one row per target": Sheet("question,chunk_id\nHow?,a#14\nHow?,a#15\nWhen?,b#1\n", TWO),
    "semicolons in a cell": Sheet(
        "question,chunk_id\nHow?,a#14;a#15\nWhen?,b#1\n",
        TWO,
        "1 cell holds several ids in 'chunk_id': 2 ids, divided by ';'",
    ),
    "bars": Sheet("question,expected_ids\nHow?,a#14 | a#15\nWhen?,b#1\n", TWO, "divided by '|'"),
    "commas and blanks": Sheet(
        'question,chunk_ids\nHow?,"a#14, a#15"\nWhen?,b#1\n', TWO, "divided by commas"
    ),
    "line ends in a cell": Sheet(
        'question,chunk_ids\nHow?,"a#14\na#15"\nWhen?,b#1\n', TWO, "divided by line ends"
    ),
    "a list as in JSON": Sheet(
        'question,relevant\nHow?,"[""a#14"", ""a#15""]"\nWhen?,"[""b#1""]"\n',
        TWO,
        "divided by lists",
    ),
    "a list as Python prints it": Sheet(
        "question;gold\nHow?;['a#14', 'a#15']\nWhen?;['b#1']\n", TWO, "divided by lists"
    ),
    "a number that became a decimal": Sheet(
        "question,chunk_id\nHow?,14.0\nWhen?,1\n",
        {"How?": ["14.0"], "When?": ["1"]},
        r"Ids such as '14\.0' stand beside whole numbers in 'chunk_id'",
    ),
    "expected_chunks with texts": Sheet(
        f"question,expected_chunks\nHow?,{GIL}\nWhen?,{QUOTES['When?'][0]}\n",
        QUOTES,
        "quote ← expected_chunks .found where the text",
        by="quote",
    ),
    "capitals and blanks in the header": Sheet("Question , Chunk ID\nHow?,a#14\nWhen?,b#1\n", ONE),
    "an answer beside ids": Sheet(
        "question,chunk_id,answer\nHow?,a#14,By an eighth\nWhen?,b#1,Now\n",
        ONE,
        "not read: answer",
    ),
    "a column relevant beside ids": Sheet(
        "question,chunk_id,relevant\nHow?,a#14,1\nHow?,x,0\nWhen?,b#1,1\n", ONE
    ),
    "grades with a decimal comma": Sheet(
        "question;chunk_id;grade\nHow?;a#14;0,5\nWhen?;b#1;1\n", ONE
    ),
    "a comma in a header of semicolons": Sheet(
        "question;chunk_id;note (a, b)\nHow?;a#14;\nWhen?;b#1;see b\n", ONE
    ),
    "sep=; of Excel": Sheet("sep=;\r\nquestion;chunk_id\r\nHow?;a#14\r\nWhen?;b#1\r\n", ONE),
    "a byte order mark": Sheet(b"\xef\xbb\xbfquestion,chunk_id\r\nHow?,a#14\r\nWhen?,b#1\r\n", ONE),
    "Windows-1252": Sheet(
        "question;chunk_id\nWie groß?;a#14\nWhen?;b#1\n".encode("cp1252"),
        {"Wie groß?": ["a#14"], "When?": ["b#1"]},
        r"read as Windows-1252 \(cp1252\)",
    ),
    "UTF-16 as Excel's Unicode text": Sheet(
        "question\tchunk_id\nWie groß?\ta#14\nWhen?\tb#1\n".encode("utf-16"),
        {"Wie groß?": ["a#14"], "When?": ["b#1"]},
        "read as UTF-16",
    ),
    "line ends of an old Mac": Sheet(b"question,chunk_id\rHow?,a#14\rWhen?,b#1\r", ONE),
    "merged cells": Sheet(
        "question,chunk_id\nHow?,a#14\n,a#15\nWhen?,b#1\n",
        TWO,
        r"1 row has no question and belong.*merged cells",
    ),
    "empty rows at the end": Sheet("question,chunk_id\nHow?,a#14\nWhen?,b#1\n,\n,\n", ONE),
    "a question without an answer": Sheet(
        "question,chunk_id\nHow?,a#14\nWhen?,\n",
        {"How?": ["a#14"], "When?": []},
        "1 question has nothing that should be found, such as 'When.'",
    ),
    "quotes": Sheet(
        f'question,quote\nHow?,"{GIL}"\nWhen?,{QUOTES["When?"][0]}\n', QUOTES, by="quote"
    ),
    "answer alone": Sheet(
        f"question,answer\nHow?,{GIL}\nWhen?,{QUOTES['When?'][0]}\n",
        QUOTES,
        "quote ← answer .found where the text",
        by="quote",
    ),
    "an id and the text of a question": Sheet(
        "id,query_id,question,chunk_id\n1,q1,How?,a#14\n2,q2,When?,b#1\n",
        {"q1": ["a#14"], "q2": ["b#1"]},
    ),
    "columns that the user names": Sheet(
        "Frage;Fundstellen\nHow?;a#14;\nWhen?;b#1\n".replace(";\n", "\n"),
        ONE,
        columns=("query=Frage", "item=Fundstellen"),
    ),
    "a column in place of the usual one": Sheet(
        "question,chunk_id,checked\nHow?,x,a#14\nWhen?,y,b#1\n",
        ONE,
        "not read: chunk_id",
        columns=("item=checked",),
    ),
    "ids with bars, a row for each": Sheet(
        "question,chunk_id,grade\nHow?,a|14,1\nWhen?,b|1,1\n", {"How?": ["a|14"], "When?": ["b|1"]}
    ),
    "ground_truth with ids": Sheet(
        "question,ground_truth\nHow?,a#14;a#15\nWhen?,b#1\n", TWO, "2 ids, divided by ';'"
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_spreadsheet_is_read_as_it_is_meant(name, tmp_path):
    sheet = READ[name]
    path = tmp_path / "questions.csv"
    content = sheet.content
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    truth = load(path, "ground_truth", None, Columns.of(sheet.columns)).ground_truth
    assert truth is not None
    found: dict[str, list[str]] = {query: [] for query in truth.queries["query"]}
    for query, one, grade in truth.targets.select("query", sheet.by, "grade").iter_rows():
        if grade > 0:
            found[query].append(one)
    assert found == sheet.means
    # The first line says which column is what; further ones are expected only where they are said.
    notes = [note for note in truth.notes if sheet.said or "←" not in note]
    assert re.search(sheet.said, " ".join(notes)) if sheet.said else notes == []


REFUSED = {
    "mixed dividers": (
        "question,chunk_id\nHow?,a#14;a#15|a#16\n",
        r"two kinds of dividers at .*:2: 'a#14;a#15\|",
    ),
    "blanks between ids": ("question,chunk_id\nHow?,a#14 a#15\n", "could be 2 ids or one; put ';'"),
    "a list that is none": ("question,chunk_id\nHow?,[a#14]\n", "is no list of ids at .*:2"),
    "unknown names": (
        "Kysymys,Vastaus\nHow?,a#14\n",
        r"Say --column query=Kysymys.*no column for the query; found Kysymys, Vastaus",
    ),
    "an unknown name of ids": (
        "question,richtig\nHow?,a#14\n",
        r"Say --column item=richtig; .* no column for the item; found question, richtig\.",
    ),
    "a name that could be ids": (
        "question,right_chunks\nHow?,a#14\n",
        "Say --column item=right_chunks; ",
    ),
    "a column twice": ("question,chunk_id,chunk_id\nHow?,a,b\n", "column 'chunk_id' twice"),
    "whether, and not what": (
        "question,relevant\nHow?,1\nWhen?,0\n",
        "'relevant' of .* could be two things",
    ),
    "no header": ("how do lists grow\t17\t1\n", "a table without a header: its first line holds"),
    "no header, a question": ("How?,lists#14\n", r"header: its first line holds 'How\?'"),
    "the first question is missing": ("question,chunk_id\n,a\nHow?,b\n", "no question at .*:2"),
    "too many cells": ("question,chunk_id\nHow?,a,b\n", ":2 has 3 cells, and the header has 2"),
    "grades in words": (
        "question,chunk_id,grade\nHow?,a,fair\n",
        "'grade' holds 'fair' at .*:2; it must hold a finite number, or yes or no",
    ),
    "questions alone": (
        "question\nHow?\n",
        r"Add a column chunk_id .* no column for the item; found question\.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_spreadsheet_that_cannot_be_read_is_refused_with_what_to_do(name, tmp_path):
    content, said = REFUSED[name]
    path = tmp_path / "questions.csv"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=f"(?s){said}"):
        load(path, "ground_truth")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            ["item=nothing"],
            "There is no column 'nothing' to take as item: .* has question, chunk_id",
        ),
        (["itm=chunk_id"], "cannot be named as 'itm'; it can be .*Did you mean item"),
        (["chunk_id"], "'chunk_id' cannot be read; write what it is"),
        (["item=chunk_id", "item=question"], "said beside another column for the same"),
        ({"item": 3}, "The column for item is 3"),
    ],
)
def test_a_column_that_cannot_be_named_so(named, said, tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("question,chunk_id\nHow?,a\n")
    with pytest.raises(InvalidInput, match=said):
        evaluate({"How?": ["a"]}, ground_truth=path, columns=named)


def test_results_and_what_should_be_found_in_one_row(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("question,expected_ids,retrieved_ids\nHow?,a;b,b;c;a\nWhen?,d,\n")
    found = load(path, "both")
    assert found.run is not None
    assert found.ground_truth is not None
    assert found.run.frame.rows() == [("How?", 1, "b"), ("How?", 2, "c"), ("How?", 3, "a")]
    assert found.ground_truth.targets["item"].to_list() == ["a", "b", "d"]
    assert found.run.queries is not None
    assert found.run.queries["query"].to_list() == ["How?", "When?"]


def test_several_ids_in_a_cell_beside_a_grade_are_said_to_be_one(tmp_path):
    path = tmp_path / "gold.csv"
    path.write_text("Frage;Chunks;Bewertung\nWie hoch?;c1, c2;ja\nWann?;c3;ja\n")
    notes = load(path, "ground_truth").ground_truth.notes
    assert any("'c1, c2' in 'Chunks' are taken as one each" in note for note in notes)
