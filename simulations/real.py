"""Measure the real per-query scores again: the three retrievers of the demo.

`python -m simulations.real BEIR_FOLDER` takes the demo's questions over Python's own
language reference, and the test queries of a collection in BEIR's form (SciFact's claims were
used). Only scores are kept, no text and no judgement.
"""

import csv
import json
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import calipers
from simulations.shapes import METRICS, REAL_SCORES, SYSTEMS

DEMO = Path(__file__).parent.parent / "examples" / "demo"


def _measured(pieces: list[Any], questions: dict[str, str], truth: Any) -> list[list[str]]:
    """A row per query: each metric of each system."""
    demo: Any = import_module("searchers")
    bm25, dense = demo.bm25(pieces), demo.dense(pieces)
    columns = []
    for search in (bm25, dense, demo.hybrid(bm25, dense)):
        run = {name: search(text, 10) for name, text in questions.items()}
        found = calipers.evaluate(ground_truth=truth, run=run, metrics=METRICS)
        columns += [found.of(metric) for metric in METRICS]
    return [[f"{value:.4f}" for value in row] for row in np.column_stack(columns)]


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(folder: Path) -> None:
    """Measure, and write the table."""
    sys.path.insert(0, str(DEMO))
    demo: Any = import_module("corpus")
    asked = {one["id"]: one["query"] for one in _lines(DEMO / "questions.jsonl")}
    rows = [
        ["demo", *row] for row in _measured(demo.chunks(), asked, str(DEMO / "questions.jsonl"))
    ]
    pieces = [
        demo.Chunk(one["_id"], one["_id"], 0, len(one["text"]), f"{one['title']} {one['text']}")
        for one in _lines(folder / "corpus.jsonl")
    ]
    truth: dict[str, list[str]] = defaultdict(list)
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            truth[row["query-id"]].append(row["corpus-id"])
    claims = {
        one["_id"]: one["text"] for one in _lines(folder / "queries.jsonl") if one["_id"] in truth
    }
    rows += [["claims", *row] for row in _measured(pieces, claims, dict(truth))]
    with REAL_SCORES.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["collection", *(f"{s} {m}" for s in SYSTEMS for m in METRICS)])
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
