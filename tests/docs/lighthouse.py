"""The files that docs/make-ground-truth.md speaks of: those of the example."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import calipers
from calipers.io.records.label_files import read_labels, write_labels
from calipers.model.labels import Label

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS.parent / "examples" / "lighthouse"
CHUNK_SIZE = 25
RUNS = ("questions.jsonl", "chunks.jsonl", "overlap.jsonl", "rare.jsonl")


def copy_files(folder: Path, *names: str) -> None:
    """Files of the example, into a folder to work in."""
    for name in names:
        shutil.copy(EXAMPLE / name, folder)


def write_files(folder: Path) -> None:
    """questions.jsonl, chunks.jsonl, overlap.jsonl and rare.jsonl."""
    module: dict[str, Any] = {}
    exec((EXAMPLE / "search.py").read_text(encoding="utf-8"), module)
    copy_files(folder, "questions.jsonl")
    names = {text: f"c{i}" for i, text in enumerate(module["chunks"](CHUNK_SIZE))}
    lines = (json.dumps({"id": name, "text": text}) for text, name in names.items())
    (folder / "chunks.jsonl").write_text("".join(line + "\n" for line in lines))
    for name, make in (("overlap", "overlap"), ("rare", "rare_words")):
        search = _named(module[make](CHUNK_SIZE), names)
        calipers.retrieve(search, folder / "questions.jsonl", k=5, output=folder / f"{name}.jsonl")


def _named(search: Callable[..., Any], names: dict[str, str]) -> Callable[[str, int], Any]:
    def find(query: str, k: int) -> Any:
        return [{"id": names[one["text"]], "text": one["text"]} for one in search(query, k)]

    return find


def fill_in(folder: Path) -> None:
    """anna.csv and bo.csv, as two people might fill in label.csv; Bo is milder, and not done."""
    records = map(json.loads, (folder / "questions.jsonl").read_text().splitlines())
    quotes = {one["query"]: one["ground_truth"][0]["quote"] for one in records}
    rows = [label for _, label in read_labels(folder / "label.csv")]

    def anna(row: Label) -> float:
        return 2.0 if quotes[row.query_id] in row.text else 0.0

    def bo(row: Label) -> float | None:
        if row.query_id.startswith("When may"):
            return None
        return anna(row) or float("tower" in row.query_id and "tower" in row.text)

    write_labels([row.judged(None, anna(row)) for row in rows], folder / "anna.csv")
    write_labels([row.judged(None, bo(row)) for row in rows], folder / "bo.csv")
