"""LlamaIndex: queries, relevant nodes and the texts of nodes, in one JSON object."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from calipers.io.writers.entries import entries
from calipers.io.writers.files import opened
from calipers.io.writers.ids import MADE_IDS, id_of
from calipers.io.writers.remarks import Remarks
from calipers.model.dataset import Dataset


def write(parts: Iterable[Dataset], path: Path, remarks: Remarks) -> list[Path]:
    """The whole set at once: its three parts stand one after the other in the file."""
    queries: dict[str, str] = {}
    corpus: dict[str, str] = {}
    relevant: dict[str, list[str]] = {}
    for part in parts:
        for entry in entries(part):
            queries[entry.query] = entry.text or entry.query
            nodes = relevant.setdefault(entry.query, [])
            for row in entry.targets or ():
                if row["grade"] > 0 and ("item" in row or "quote" in row):
                    node = row.get("item") or id_of(row["quote"])
                    remarks.add(MADE_IDS, int("item" not in row))
                    nodes.append(node)
                    corpus[node] = corpus.get(node) or row.get("quote", "")
            for row in entry.results or ():
                if "item" in row and "text" in row:
                    corpus[row["item"]] = corpus.get(row["item"]) or row["text"]
    remarks.add(
        "Nodes whose text is not known, in the corpus with an empty one: {n}.",
        sum(not text for text in corpus.values()),
    )
    whole = {"queries": queries, "corpus": corpus, "relevant_docs": relevant, "mode": "text"}
    with opened(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
    return [path]
