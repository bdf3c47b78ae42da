import json

from calipers.io.load import load
from calipers.io.records.entries import kept_records, write_records


def test_results_tags_and_failures_survive_from_other_forms():
    given = [
        {
            "query": "What?",
            "id": "q1",
            "retrieved": [{"id": "a", "score": 2.0, "text": "x"}],
            "ground_truth": [{"quote": "x", "grade": 2.0}],
            "tags": {"type": "fact"},
            "latency_ms": 3.0,
        },
        {"query": "Why?", "retrieved": [], "ground_truth": [], "error": "timeout"},
    ]
    dataset = load(given, "ground_truth")
    assert kept_records(dataset, dataset) == given


def test_records_are_written_whole(tmp_path):
    records = [{"query": "é", "ground_truth": []}, {"query": "line\nend", "ground_truth": []}]
    write_records(records, tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]
