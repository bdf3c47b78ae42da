"""Small calls of the operations that ask something live."""

import json
import re
from pathlib import Path
from typing import Any

import calipers
from tests.questions.samples import Sample, without, write_files, write_lines

PORT = "CALIPERS_TEST_MODEL_PORT"
ENDPOINT = f"http://127.0.0.1:${PORT}/v1"
MODEL = ("--endpoint", ENDPOINT, "--model", "small", "--json")
RETRIEVERS = """
def make(right):
    def search(query, k):
        number = int(query.split()[-1])
        return [f"d{(number * right + i) % 20}" for i in range(k)]

    return search


search = make(7)
"""
GRID = """
ground-truth = "evals.jsonl"
metrics = "recall@3"

[grid]
k = 5

[grid.retrievers.some]
make = "finders.py:make"
params.right = [3, 7]
"""

without_times = without("seconds", "per_second", "latency_ms")


def without_seconds(value: Any) -> Any:
    """A sentence says how long the model took, which is never the same twice."""
    return json.loads(re.sub(r" in \d+\.\d s", "", json.dumps(value)))


def write_live_files() -> None:
    """The files that the samples read."""
    write_files()
    Path("finders.py").write_text(RETRIEVERS)
    Path("calipers.toml").write_text(GRID)
    labels = [
        {"query_id": "q1", "query": "What is a lock?", "item": one, "text": f"It is a {one}."}
        for one in ("lock", "key")
    ]
    write_lines("label.jsonl", labels)
    long = [
        {"id": f"c{i}", "text": f"The tower has {i} steps. {'It is high. ' * 10}"} for i in "12"
    ]
    write_lines("long.jsonl", long)


LIVE_SAMPLES: dict[str, Sample] = {
    "retrieve": Sample(
        lambda: (
            calipers.retrieve("finders.py:search", "evals.jsonl", k=5, output="out.jsonl").report
        ),
        ("finders.py:search", "evals.jsonl", "-k", "5", "-o", "out.jsonl", "--json"),
        prepare=write_live_files,
        comparable=without_times,
    ),
    "explain": Sample(
        lambda: calipers.explain(
            "question 3",
            retriever="finders.py:search",
            ground_truth="evals.jsonl",
            k=4,
        ),
        (
            *("question 3", "--retriever", "finders.py:search", "-g", "evals.jsonl"),
            *("-k", "4", "--json"),
        ),
        prepare=write_live_files,
        comparable=without_times,
    ),
    "grid": Sample(
        lambda: calipers.grid("calipers.toml"),
        ("calipers.toml", "--json"),
        prepare=write_live_files,
        comparable=without_times,
    ),
    "labels_judge": Sample(
        lambda: calipers.labels_judge("label.jsonl", endpoint=ENDPOINT, model="small"),
        ("label.jsonl", "-o", "out.jsonl", *MODEL),
        prepare=write_live_files,
        comparable=without_seconds,
    ),
}
"""By the name of the operation."""
