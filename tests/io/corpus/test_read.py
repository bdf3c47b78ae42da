import gzip
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import CalipersError, InvalidInput, UnreadableFile
from calipers.io import corpus as corpus_module
from calipers.io.corpus import open_corpus

ROWS = [
    {"id": "a#1", "document": "a.md", "text": "first, é 😀", "start": 0},
    {"id": "a#2", "document": "a.md", "text": "second\nline", "start": 9},
]
EXPECTED = [("a#1", "a.md", "first, é 😀", 0, 10), ("a#2", "a.md", "second\nline", 9, 20)]


def read(value):
    frame = pl.concat(open_corpus(value).batches())
    return frame.select("id", "document", "text", "start", "end").rows()


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "kind", ["jsonl", "json", "csv", "tsv", "parquet", "arrow", "jsonl.gz", "csv.gz"]
)
def test_every_form_gives_the_same_rows(tmp_path, kind):
    frame, path = pl.DataFrame(ROWS), tmp_path / f"corpus.{kind}"
    content = {
        "jsonl": lambda: write(path, lines(ROWS)),
        "json": lambda: write(path, json.dumps(ROWS)),
        "csv": lambda: frame.write_csv(path),
        "tsv": lambda: frame.write_csv(path, separator="\t"),
        "parquet": lambda: frame.write_parquet(path),
        "arrow": lambda: frame.write_ipc(path),
        "jsonl.gz": lambda: write(path, gzip.compress(lines(ROWS).encode())),
        "csv.gz": lambda: write(path, gzip.compress(frame.write_csv().encode())),
    }
    content[kind]()
    assert read(path) == EXPECTED


def test_rows_in_memory():
    frame = pl.DataFrame(ROWS)
    for value in (ROWS, frame, frame.lazy(), frame.to_arrow(), frame.to_pandas()):
        assert read(value) == EXPECTED


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"_id": "d1", "title": "T", "text": "x"}, ("d1", "d1", "x", 0, 1)),
        ({"doc_id": 7, "contents": "x"}, ("7", "7", "x", 0, 1)),
        (
            {"doc_id": "c", "contents": "xy", "path": "a.md", "start_end_idx": [4, 5]},
            ("c", "a.md", "xy", 4, 6),
        ),
        (
            {"doc_id": "c", "contents": "xy", "path": "a.md", "start_end_idx": [0, 0]},
            ("c", "a.md", "xy", None, None),
        ),
        ({"chunk_id": "c", "doc_id": "d", "chunk": "x"}, ("c", "d", "x", None, None)),
        ({"title": "T", "text": "x"}, ("T", "T", "x", 0, 1)),
        (
            {"page_content": "x", "metadata": {"source": "a.md", "start_index": 3}},
            ("corpus[0]", "a.md", "x", 3, 4),
        ),
        ("only a text", ("corpus[0]", "corpus[0]", "only a text", 0, 11)),
    ],
)
def test_other_names_are_understood(row, expected):
    assert read([row]) == [expected]
    if isinstance(row, dict) and "metadata" not in row:
        assert read(pl.DataFrame([row])) == [expected]


def test_a_mapping_of_id_to_text(tmp_path):
    assert read({"a": "x"}) == [("a", "a", "x", 0, 1)]
    assert read(write(tmp_path / "c.json", '{"a": "x"}')) == [("a", "a", "x", 0, 1)]
    dataset = '{"queries": {}, "corpus": {"n1": "chunk"}, "relevant_docs": {}}'
    assert read(write(tmp_path / "d.json", dataset)) == [("n1", "n1", "chunk", 0, 5)]


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".git" / "x.txt", "hidden")
    write(tmp_path / "b.txt", b"\xef\xbb\xbfa\r\nb")
    write(tmp_path / "sub" / "a.md", "x")
    write(tmp_path / "notes.csv", "not,part,of it")
    assert read(tmp_path) == [
        ("b.txt", "b.txt", "a\r\nb", 0, 4),
        ("sub/a.md", "sub/a.md", "x", 0, 1),
    ]


def test_one_text_file_and_one_long_line(tmp_path):
    assert read(write(tmp_path / "a.md", "# Title")) == [("a.md", "a.md", "# Title", 0, 7)]
    long = "x" * 200_000
    path = write(tmp_path / "c.jsonl", lines([{"id": "a", "text": long}, {"id": "b", "text": ""}]))
    assert [row[2] for row in read(path)] == [long, ""]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.jsonl", '{"id": "a", "text": "x"}\n{"id": "b"}\n', "c.jsonl:2"),
        ("c.jsonl", '{"id": "a", "text": "x"}\n{"id": "b", "text": 3}\n', "c.jsonl:2"),
        ("c.jsonl", '{"id": "a", "text": "x"}\n{"id": \n', "c.jsonl:2"),
        ("c.jsonl", '{"id": "a", "text": "x", "start": 1.5}\n', "c.jsonl:1"),
        ("c.json", "[1, 2]", "$[0]"),
        ("c.csv", "id,number\n1,2\n", "no form"),
        ("c.csv", "id,text,start\n1,x,abc\n", "row 1"),
        ("c.txt", b"ab\x00cd", "binary"),
        ("c.md", b"ab\n\xff", "c.md:2"),
        ("c.jsonl", "", "empty"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, name, content, said):
    path = write(tmp_path / name, content)
    with pytest.raises(CalipersError) as error:
        read(path)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"id": ["a"], "text": [3]}),
        pl.DataFrame({"id": ["a"], "text": [["x"]]}),
        pl.DataFrame({"id": [[1]], "text": ["x"]}),
        pl.DataFrame({"id": ["a"], "text": ["x"], "start": [1.5]}),
        pl.DataFrame({"id": ["a"], "text": ["x"], "start": [True]}),
        pl.DataFrame({"id": ["a"], "text": [None]}, schema={"id": pl.String, "text": pl.String}),
        pl.DataFrame({"id": ["a"], "number": [1]}),
    ],
)
def test_wrong_types_in_parquet_are_refused(tmp_path, frame):
    frame.write_parquet(tmp_path / "c.parquet")
    with pytest.raises(InvalidInput, match=r"c\.parquet"):
        read(tmp_path / "c.parquet")


def test_nothing_to_read(tmp_path):
    with pytest.raises(UnreadableFile, match="no document"):
        open_corpus(tmp_path)
    with pytest.raises(UnreadableFile, match="no corpus"):
        open_corpus(tmp_path / "missing.jsonl")
    with pytest.raises(InvalidInput, match="empty"):
        read([])
    with pytest.raises(InvalidInput, match="int"):
        open_corpus(3)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read(tmp_path / "bad.parquet")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_batches_stay_small_and_lose_nothing(lengths):
    texts = [chr(97 + n % 26) * length for n, length in enumerate(lengths)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "CHARACTERS_AT_ONCE", 40)
        patch.setattr(corpus_module, "ROWS_AT_ONCE", 5)
        out = list(open_corpus(texts).batches())
    assert pl.concat(out)["text"].to_list() == texts
    assert all(batch.height <= 5 for batch in out)
    assert all(batch["text"].str.len_chars().sum() <= 40 for batch in out)


def test_the_readme_of_a_benchmark_is_no_document(tmp_path):
    (tmp_path / "README.md").write_text("About this benchmark.")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "It is a lock."}\n')
    with pytest.raises(UnreadableFile, match=r"Name the file of the corpus, .*corpus\.jsonl"):
        open_corpus(tmp_path)


def test_marks_inside_of_cells_and_blank_lines_in_csv(tmp_path):
    (tmp_path / "c.csv").write_text('id,text\n\na,a "5" pipe\n\nb,\n')
    found = [(row[0], row[2]) for row in read(tmp_path / "c.csv")]
    assert found == [("a", 'a "5" pipe'), ("b", "")]


@pytest.mark.parametrize("chunk", [{"text": "x", "start": 10**25}, {"text": "\ud800"}])
def test_what_no_table_can_hold_is_said(chunk):
    with pytest.raises(InvalidInput, match=r"64 bits|surrogate"):
        read([chunk])
