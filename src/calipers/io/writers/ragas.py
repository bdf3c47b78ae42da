"""ragas: samples with contexts as texts and ids, on lines of JSON."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from calipers.io.writers.entries import Entry, entries
from calipers.io.writers.files import opened
from calipers.io.writers.remarks import Remarks, note_filled
from calipers.model.dataset import Dataset


def write(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """One sample per line."""
    filled: Counter[str] = Counter()
    with opened(path) as file:
        for part in parts:
            for entry in entries(part, filled):
                file.write(msgspec.json.encode(sample(entry, remarks)) + b"\n")
    note_filled(filled, remarks)
    return [path]


def sample(entry: Entry, remarks: Remarks) -> dict[str, Any]:
    """One query as a sample; only relevant targets, as ragas knows no others."""
    found: dict[str, Any] = {"user_input": entry.text or entry.query}
    if entry.results is not None:
        found |= _contexts(entry.results, "text", "retrieved", remarks)
    if entry.targets is not None:
        relevant = [row for row in entry.targets if row["grade"] > 0]
        found |= _contexts(relevant, "quote", "reference", remarks)
    return found


def _contexts(rows: list[dict[str, Any]], text: str, part: str, remarks: Remarks) -> dict[str, Any]:
    """Texts, ids or both: a list is written only where every row has its place in it."""
    held = [row for row in rows if text in row or "item" in row]
    if not (_all_have(held, text) or _all_have(held, "item")):
        held = [row for row in held if text in row]
    kind = "Results" if part == "retrieved" else "Targets"
    remarks.add(
        f"{kind} with neither the text nor the id that the others of their query have, left out: "
        "{n}.",
        len(rows) - len(held),
    )
    found: dict[str, Any] = {}
    if not held or _all_have(held, text):
        found[f"{part}_contexts"] = [row[text] for row in held]
    if held and _all_have(held, "item"):
        found[f"{part}_context_ids"] = [row["item"] for row in held]
    return found


def _all_have(rows: list[dict[str, Any]], key: str) -> bool:
    return all(key in row for row in rows)
