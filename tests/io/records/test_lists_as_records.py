"""Records that are written as lists: each value has the name of its column."""

import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.records.lists_as_records import as_records
from tests.io.tables.test_propose import lines_of, put, refusal, value

ROWS = [["Who was it?", ["b", "a"], ["a"]], ["Where was it?", ["c", "d"], ["c"]]]
LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)


@pytest.mark.parametrize(("text", "name"), [(json.dumps(ROWS), "data.json"), (LINES, "data.jsonl")])
def test_a_line_names_the_columns(text, name, tmp_path):
    path = put(tmp_path, text, name)
    first, *_ = lines_of(refusal(data=path))
    assert "'query=column 1'" in first
    assert value(first, data=path) == 0.75


def test_lists_in_memory_are_asked_about_as_files_are():
    columns = {"query": "column 1", "retrieved": "column 2", "ground_truth": "column 3"}
    with pytest.raises(InvalidInput, match="column 1"):
        evaluate(ROWS, metrics="mrr")
    assert evaluate(ROWS, columns=columns, metrics="mrr")["mrr"].mean == 0.75


def test_the_first_list_may_hold_the_names():
    names = ["question", "retrieved", "expected_ids"]
    assert evaluate([names, *ROWS], metrics="mrr")["mrr"].mean == 0.75


def test_lists_of_different_lengths_or_of_numbers_are_no_records():
    assert as_records([["a", 1], ["b"]]) == as_records([[1, 2]]) == as_records(["a"]) == []
