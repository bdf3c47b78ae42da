"""A span that ends before it starts is refused where it is read, with its place."""

import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput

GOOD = {"document": "d", "start": 4, "end": 9}
BAD = {"document": "d", "start": 9, "end": 4}
FOUND = "found start 9 and end 4"


@pytest.mark.parametrize("part", ["retrieved", "ground_truth"])
def test_in_a_record_with_line_and_path(tmp_path, part):
    first = {"query": "q", "retrieved": [GOOD], "ground_truth": [GOOD]}
    second = {**first, "query": "r", part: [GOOD, BAD]}
    path = tmp_path / "evals.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(InvalidInput, match=rf"at .*evals\.jsonl:2 \$\.{part}\[1\]: {FOUND}"):
        evaluate(path)
    # A list of results is read as a live answer is.
    said = "result 1 of the answer stands from 9 to 4" if part == "retrieved" else FOUND
    with pytest.raises(InvalidInput, match=said):
        evaluate([first, second])


@pytest.mark.parametrize("bad", ["truth", "run"])
def test_in_a_table_with_its_line(tmp_path, bad):
    good = "q,d,4,9,1\n"
    rows = {"truth": good, "run": good, bad: f"{good}q,d,9,4,1\n"}
    (tmp_path / "truth.csv").write_text(f"query,document,start,end,grade\n{rows['truth']}")
    (tmp_path / "run.csv").write_text(f"query,document,start,end,rank\n{rows['run']}")
    with pytest.raises(InvalidInput, match=rf"at .*{bad}\.csv:3: {FOUND}"):
        evaluate(ground_truth=tmp_path / "truth.csv", run=tmp_path / "run.csv", match="span")


def test_in_the_form_of_another_tool_with_its_name_of_the_field(tmp_path):
    path = tmp_path / "questions.csv"
    references = json.dumps([{"content": "x", "start_index": 9, "end_index": 4}])
    quoted = references.replace('"', '""')
    path.write_text(f'question,references,corpus_id\nq,"{quoted}",d\n')
    with pytest.raises(InvalidInput, match=rf"questions\.csv:2 \$\.references\[0\]: {FOUND}"):
        evaluate(ground_truth=path, run=[{"query": "q", "retrieved": [GOOD]}])


def test_in_a_stage(tmp_path):
    record = {"query": "q", "retrieved": [GOOD], "ground_truth": [GOOD]}
    with pytest.raises(InvalidInput, match=rf"data\[0\]\.stages\.candidates\[0\]: {FOUND}"):
        evaluate([{**record, "stages": {"candidates": [BAD]}}])
