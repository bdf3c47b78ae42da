"""The one table of names is what the readers go by, and they agree about it."""

import json

import pytest

from calipers.functions import recall_at_k
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.live.answers import Layout, read_answer
from calipers.names import CHUNK, ID, RESULT, ROW, TEXT

VALUES = {"id": "c1", "text": "some text", "document": "d1", "start": 3, "end": 12, "page": "3"}
VALUES |= {"version": "2024-05-01", "title": "Opening hours"}
SAME = ("text", "document", "start", "end")


def pairs(table):
    return [(ours, theirs) for ours, names in table.items() for theirs in names]


@pytest.mark.parametrize("part", SAME)
def test_what_means_the_same_everywhere_has_the_same_names(part):
    assert RESULT[part] == CHUNK[part]


@pytest.mark.parametrize(("ours", "theirs"), pairs(RESULT))
def test_a_returned_document_is_read_under_every_name(ours, theirs):
    value = {"score": 0.5, "tokens": 7, **VALUES}[ours]
    beside = {} if ours in ("id", "text") else {"id": "c1"}
    (row,) = read_answer([{theirs: value, **beside}], 1, Layout()).retrieved
    assert getattr(row, ours) == value


@pytest.mark.parametrize(("ours", "theirs"), pairs(CHUNK))
def test_a_chunk_is_read_under_every_name(ours, theirs, tmp_path):
    beside = {} if ours == "id" else {"id": "c0"}
    row = {theirs: VALUES[ours], **({} if ours == "text" else {"text": "some text"}), **beside}
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(row) + "\n")
    found = next(open_corpus(path).batches()).row(0, named=True)
    if ours == "end":
        assert found["text"] == "some text"
    else:
        assert found[ours] == VALUES[ours]


ROWS: dict[str, dict[str, object]] = {
    "score": {"query": "q", "item": "a", "score": 1},
    "rank": {"query": "q", "item": "a", "rank": 1},
    "quote": {"query": "q", "quote": "a lock"},
    "retrieved": {"query": "q", "retrieved": "a"},
}
"""A row in which the field stands; the others are judgements with a grade."""
OF_A_RUN = ("score", "rank", "retrieved")


@pytest.mark.parametrize("ours", ROW)
def test_a_row_of_a_table_is_read_under_every_name(ours, tmp_path):
    row = ROWS.get(ours, {"query": "q", "item": "a", "grade": 1})
    for theirs in ROW[ours]:
        # Alone it may hold ids as well, and what it holds decides; beside an id it is the text.
        is_both = ours == "quote" and theirs in ROW["item"]
        _check_row({"item": "a", **row} if is_both else row, ours, theirs, tmp_path / "table.csv")


def _check_row(row, ours, theirs, path):
    """Write a row with a field under another name, read it, and see the same row."""
    given = {theirs if name == ours else name: value for name, value in row.items()}
    path.write_text(",".join(given) + "\n" + ",".join(map(str, given.values())) + "\n")
    read = load(path, "run" if ours in OF_A_RUN else "ground_truth")
    held = read.run.frame if ours in OF_A_RUN else read.ground_truth.targets
    # The ids in a cell of results become the items of the run.
    expected = {"item" if name == "retrieved" else name: value for name, value in row.items()}
    assert held.height == 1, theirs
    assert held.row(0, named=True).items() >= expected.items(), theirs


@pytest.mark.parametrize("name", ID)
def test_one_query_functions_take_the_same_ids(name):
    assert recall_at_k([{name: "a"}], ["a"], 1) == 1


@pytest.mark.parametrize("name", TEXT)
def test_one_query_functions_take_the_same_texts(name):
    assert recall_at_k([{name: "a lock"}], ["a lock"], 1) == 1
