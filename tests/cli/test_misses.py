"""calipers misses as a user meets it."""

import json

from tests.command import calipers_command

RECORDS = [
    {
        "query": "What is the GIL?",
        "retrieved": ["x", "y", "b"],
        "ground_truth": ["a", "b"],
        "tags": {"type": "fact"},
    },
    {"query": "Safe?", "retrieved": ["s"], "ground_truth": ["s"], "tags": {"type": "fact"}},
]


def test_one_line_per_miss_that_can_be_filtered_and_labelled(tmp_path):
    evals, output = tmp_path / "evals.json", tmp_path / "misses.jsonl"
    evals.write_text(json.dumps(RECORDS))
    calipers_command("misses", evals, "-k", "2", "--match", "id", "-o", output)
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(line["item"], line["reason"], line["rank"]) for line in lines] == [
        ("a", "not_returned", None),
        ("b", "below_k", 3),
    ]
    assert lines[0]["instead"] == ["x", "y"]
    assert lines[0]["tag.type"] == "fact"
    assert lines[0]["label"] is None
    assert lines[0]["question"] == "What is the GIL?"
