"""What should be found beside ``retrieved``, under another name than ours."""

import json

import polars as pl
import pytest

from calipers import evaluate, read
from tests.command import calipers_command

ROWS = [
    {"question": "q1", "expected_ids": ["a", "b"], "retrieved": ["a", "x", "b"]},
    {"question": "q2", "expected_ids": ["c"], "retrieved": ["x", "y"]},
]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "question,expected_ids,retrieved\nq1,a;b,a;x;b\nq2,c,x;y\n"),
        ("a.csv", 'question,relevant_chunks,retrieved\nq1,"[""a"",""b""]",a|x|b\nq2,c,x|y\n'),
        ("a.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("a.json", json.dumps(ROWS)),
        (
            "a.json",
            json.dumps(
                [{**one, "retrieved": [{"id": i} for i in one["retrieved"]]} for one in ROWS]
            ),
        ),
    ],
)
def test_a_file_is_enough(tmp_path, monkeypatch, name, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(content)
    printed = calipers_command("eval", name, "-m", "recall@3", columns=200)
    assert printed.code == 0, printed.err
    assert "0.500" in printed.out
    assert "targets ← " in printed.out


def test_records_and_tables_in_memory():
    for value in (ROWS, pl.DataFrame(ROWS)):
        assert evaluate(value, metrics="recall@3")["recall@3"].mean == 0.5
    single = [{**one, "expected_ids": one["expected_ids"][0]} for one in ROWS]
    assert evaluate(single, metrics="recall@1")["recall@1"].mean == 0.5


def test_a_run_is_not_asked_for_its_ground_truth():
    scores = evaluate(ground_truth={"q1": ["x"]}, run=ROWS, metrics="mrr")
    assert scores["mrr"].mean == 0.5


def test_the_field_that_is_taken_is_not_said_to_be_passed_over():
    rows = [{"query": "q1", "retrieved": ["a"], "relevant_ids": ["a"], "optional_ids": ["b"]}]
    notes = read(rows).ground_truth.notes
    assert notes == (
        "targets ← relevant_ids.",
        "Not read: optional_ids.",
    )
