"""Files to label come back as they went out, and what cannot be read is said where."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput, UnreadableFile, WriteFailed
from calipers.io.records.label_files import read_labels, write_labels
from calipers.model.labels import Label

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
BEGINNINGS = ["", "''", "'=", "\r\n", *"'=+-@\t\r\n＝;,\"\x00\ufeff"]
HOSTILE = st.builds("".join, st.tuples(st.sampled_from(BEGINNINGS), ANY_TEXT))
LABELS = st.builds(
    Label,
    query_id=HOSTILE.filter(bool),
    query=HOSTILE,
    item=HOSTILE.filter(bool),
    text=HOSTILE,
    document=HOSTILE,
    judge=HOSTILE,
    note=HOSTILE,
    start=st.none() | st.integers(0, 10**6),
    end=st.none() | st.integers(0, 10**6),
    grade=st.none() | st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, 2.0]),
)


def written(folder, labels, name):
    path = folder / name
    write_labels(labels, path)
    return [label for _, label in read_labels(path)]


@given(st.lists(LABELS, min_size=1, max_size=4))
@pytest.mark.parametrize("name", ["label.csv", "label.jsonl"])
def test_what_comes_back_is_what_went_out(tmp_path_factory, name, labels):
    assert written(tmp_path_factory.mktemp("labels"), labels, name) == labels


@given(st.lists(LABELS, min_size=1, max_size=3))
def test_no_cell_begins_like_a_formula(tmp_path_factory, labels):
    path = tmp_path_factory.mktemp("labels") / "label.csv"
    write_labels([label.judged("anna", 1.0, label.note) for label in labels], path)
    text = path.read_bytes().decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert not [cell for cell in cells if cell[:1] and cell[0] in "=+-@\t\r\n＝＋－＠"]


def test_a_long_text_is_no_obstacle(tmp_path):
    label = Label("q", item="a", text="long " * 60_000)
    limit = csv.field_size_limit()
    assert written(tmp_path, [label], "label.csv") == [label]
    assert csv.field_size_limit() == limit


def test_the_csv_opens_in_a_spreadsheet_as_unicode(tmp_path):
    write_labels([Label("q", item="a", text="é")], tmp_path / "label.csv")
    assert (tmp_path / "label.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_places_are_columns_only_where_they_are_known(tmp_path):
    path = tmp_path / "label.jsonl"
    write_labels([Label("q", "Who?", "a", "x")], path)
    assert not {"start", "end"} & json.loads(path.read_text()).keys()
    write_labels([Label("q", item="a"), Label("q", item="b", start=0, end=4)], path)
    assert [json.loads(line)["end"] for line in path.read_text().splitlines()] == [None, 4]


def test_what_a_spreadsheet_makes_of_it(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("query_id;item;grade;mine\nq;a;1,5;x\nq;b;;\n;;;\n", encoding="utf-8")
    assert [label.grade for _, label in read_labels(path)] == [1.5, None]
    assert read_labels(path)[0][0] == f"{path}:2"


def test_grades_and_ids_may_be_numbers_or_texts(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"query_id": 1, "item": 2, "grade": "2"}\n\n{"query_id": 1, "text": "x"}\n')
    found = [label for _, label in read_labels(path)]
    assert found == [Label("1", item="2", grade=2.0), Label("1", text="x")]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.csv",
            "query_id,item,grade\nq,a,good\n",
            r"grade is 'good' at .*a\.csv:2; it must",
        ),
        ("a.csv", "query_id,item,grade\nq,a,nan\n", "grade is 'nan'"),
        ("a.csv", "query_id,item,grade\nq,a,1_0\n", "grade is '1_0'"),
        ("a.jsonl", '{"query_id": "q", "item": "a", "grade": true}', "grade is True"),
        ("a.jsonl", '{"query_id": "q", "item": "a", "grade": [1]}', r"grade is \[1\]"),
        ("a.jsonl", '{"item": "a", "grade": 1}', "no 'query_id' at .*:1"),
        ("a.jsonl", '{"query_id": "q", "grade": 1}', "neither an 'item' nor a 'text' at .*:1"),
        ("a.jsonl", '{"query_id": "q", "item": ["a"]}', "The item is"),
        ("a.jsonl", '{"query_id": "q", "item": "a", "start": "x"}', "The start is 'x'"),
        ("a.jsonl", '{"query_id": "q", "item": "a"}\n[1]\n', "no row to label at .*:2"),
        ("a.jsonl", '{"query_id": "q", "item": \n', "JSON in .*:1:"),
        ("a.csv", "query,retrieved\nq,a\n", "no column 'query_id'"),
        ("a.csv", "query_id,item\n", "holds no row"),
        ("a.csv", "query_id,item\nq,a,b\n", "has 3 cells at .*:2"),
        ("a.csv", "", "is empty"),
    ],
)
def test_what_cannot_be_read_is_said_where(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InvalidInput, match=sentence):
        read_labels(path)


def test_another_encoding_and_a_missing_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("query_id,item\né,a\n".encode("latin-1"))
    with pytest.raises(UnreadableFile, match="CSV UTF-8"):
        read_labels(path)
    with pytest.raises(UnreadableFile, match="There is no file"):
        read_labels(tmp_path / "b.csv")


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(InvalidInput, match=r"'\.txt'; a file to label"):
        write_labels([Label("q", item="a")], tmp_path / "label.txt")
    with pytest.raises(WriteFailed, match="no folder"):
        write_labels([Label("q", item="a")], tmp_path / "x" / "label.csv")
    for name in ("label.csv", "label.jsonl"):
        with pytest.raises(UnicodeEncodeError):  # which an operation says in words
            write_labels([Label("q", item="a", text="\ud800")], tmp_path / name)
    assert not list(tmp_path.iterdir())


TO_LABEL = [
    Label("q1", query="Größe?", item="c1", text='süß; say "hi"\n日本'),
    Label("q2", query="a, b", item="c2", text="=SUM(1)"),
]


def filled(folder, opened="utf-8-sig", written="utf-8", **dialect):
    """A file to label, filled in by a program that reads and writes CSV in its own way."""
    path = folder / "labels.csv"
    write_labels(TO_LABEL, path)
    with path.open(encoding=opened, newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding=written, newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), **dialect)
        writer.writeheader()
        writer.writerows({**row, "grade": "2", "judge": "anna"} for row in rows)
    return path


@pytest.mark.parametrize(
    "program",
    [
        pytest.param({"written": "utf-8-sig"}, id="Excel"),
        pytest.param({"written": "utf-8-sig", "delimiter": ";"}, id="German Excel"),
        pytest.param({"written": "utf-16", "delimiter": "\t"}, id="Excel, Unicode text"),
        pytest.param({"lineterminator": "\n"}, id="LibreOffice"),
        pytest.param({"delimiter": ";"}, id="German Numbers"),
        pytest.param({"opened": "utf-8"}, id="a reader without byte order marks"),
        pytest.param({"opened": "utf-8", "quoting": csv.QUOTE_ALL}, id="quotes too"),
        pytest.param({"opened": "utf-8", "written": "utf-8-sig", "delimiter": ";"}, id="two marks"),
        pytest.param({"opened": "latin-1", "written": "latin-1"}, id="bytes as they are"),
    ],
)
def test_what_another_program_wrote_is_read_back(tmp_path, program):
    read = [label for _, label in read_labels(filled(tmp_path, **program))]
    assert read == [label.judged("anna", 2.0, None) for label in TO_LABEL]


def test_a_first_line_that_says_the_separator_is_passed_over(tmp_path):
    path = filled(tmp_path, written="utf-8-sig", delimiter=";")
    path.write_bytes(path.read_bytes().replace(b"query_id", b"sep=;\r\nquery_id", 1))
    assert [label.grade for _, label in read_labels(path)] == [2, 2]


def test_texts_that_were_read_in_another_encoding_are_refused_with_the_cause(tmp_path):
    path = filled(tmp_path, opened="latin-1")
    with pytest.raises(InvalidInput, match="another encoding than UTF-8"):
        read_labels(path)
