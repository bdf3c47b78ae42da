"""calipers misses as a user meets it."""

import csv
import json

import pytest

from tests.command import calipers_command

RECORDS = [
    {
        "query": "What is the GIL?",
        "retrieved": [{"id": "x", "text": "=HYPERLINK(1)"}, {"id": "y", "text": "no"}, "b"],
        "ground_truth": [{"id": "a"}, {"id": "b"}],
        "tags": {"type": "fact"},
    },
    {"query": "Safe?", "retrieved": ["s"], "ground_truth": ["s"], "tags": {"type": "fact"}},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.json").write_text(json.dumps(RECORDS))
    return tmp_path


def test_one_line_per_miss_that_can_be_filtered_and_labelled(folder):
    calipers_command("misses", "evals.json", "-k", "2", "--match", "id", "-o", "misses.jsonl")
    lines = [json.loads(line) for line in (folder / "misses.jsonl").read_text().splitlines()]
    assert [(line["item"], line["reason"], line["rank"]) for line in lines] == [
        ("a", "not_returned", None),
        ("b", "below_k", 3),
    ]
    assert lines[0]["instead"] == ["x", "y"]
    assert lines[0]["tag.type"] == "fact"
    assert lines[0]["label"] is None
    assert lines[0]["question"] == "What is the GIL?"


def test_a_spreadsheet_does_not_run_what_came_instead(folder):
    calipers_command("misses", "evals.json", "-k", "2", "--match", "id", "-o", "misses.csv")
    with (folder / "misses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["instead"] == "x | y"
    shown = calipers_command("misses", "evals.json", "-k", "2", "--match", "id", "-o", "-").out
    assert shown == (folder / "misses.csv").read_text()
    assert rows[0]["instead_text"].startswith("'=HYPERLINK")
