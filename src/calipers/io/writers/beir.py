"""BEIR: a folder of ``queries.jsonl``, ``corpus.jsonl`` and ``qrels/test.tsv``."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from calipers.errors import WriteFailed
from calipers.io.write import whole_file
from calipers.io.writers.entries import Entry, entries
from calipers.io.writers.ids import MADE_IDS, id_of
from calipers.io.writers.numbers import plain_number
from calipers.io.writers.remarks import Remarks
from calipers.model.dataset import Dataset

SPLIT = "test"


def write(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """The three files, query by query; texts of items are written once each."""
    files = [path / "queries.jsonl", path / "corpus.jsonl", path / "qrels" / f"{SPLIT}.tsv"]
    try:
        files[2].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The folder {path} cannot be made: {error.strerror or error}; name another."
        ) from error
    known: set[str] = set()
    bare: set[str] = set()
    with (
        whole_file(files[0]) as queries,
        whole_file(files[1]) as corpus,
        whole_file(files[2]) as qrels,
    ):
        qrels.write(b"query-id\tcorpus-id\tscore\n")
        for part in parts:
            for entry in entries(part):
                queries.write(_line({"_id": entry.query, "text": entry.text or entry.query}))
                for item, text in _texts(entry):
                    if text and item not in known:
                        known.add(item)
                        corpus.write(_line({"_id": item, "title": "", "text": text}))
                for item, row in _judged(entry, remarks):
                    bare.add(item)
                    qrels.write(_cells(entry.query, item, plain_number(row["grade"])))
                    remarks.add(
                        "Grades that are not whole, which BEIR's own loader does not take: {n}.",
                        int(not row["grade"].is_integer()),
                    )
    remarks.add("Items whose text is not known, absent from corpus.jsonl: {n}.", len(bare - known))
    return files


def _judged(entry: Entry, remarks: Remarks) -> Iterable[tuple[str, dict[str, Any]]]:
    for row in entry.targets or ():
        if "item" in row:
            yield row["item"], row
        elif "quote" in row:
            remarks.add(MADE_IDS)
            yield id_of(row["quote"]), row


def _texts(entry: Entry) -> Iterable[tuple[str, str]]:
    for row in entry.targets or ():
        if "quote" in row:
            yield row.get("item") or id_of(row["quote"]), row["quote"]
    for row in entry.results or ():
        if "item" in row and "text" in row:
            yield row["item"], row["text"]


def _line(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _cells(*values: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(values)
    return text.getvalue().encode()
