"""A file to label: what is worth judging, in an order that tells nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.io.records.label_files import write_labels
from calipers.model.labels import Label


@dataclass(frozen=True, eq=False)
class Draft:
    """Rows to label, with what was counted on the way."""

    rows: tuple[Label, ...]
    runs: int
    k: int
    seed: int
    queries: int
    """Questions with at least one row."""
    silent: tuple[str, ...]
    """Questions for which no run returned anything."""
    unknown: int
    """Queries of the runs that are not among the questions."""
    judged: int
    """Pairs left out, as the ground truth has them."""
    without_text: int
    """Rows in which a judge would see an id alone."""

    def write(self, path: str | Path) -> None:
        """The rows as .jsonl or .csv, whole or not at all."""
        write_labels(self.rows, path)

    def to_dict(self) -> dict[str, Any]:
        """The counts: what ``--json`` prints."""
        return {
            "rows": len(self.rows),
            "queries": self.queries,
            "runs": self.runs,
            "k": self.k,
            "seed": self.seed,
            "already_judged": self.judged,
            "without_text": self.without_text,
            "without_results": list(self.silent),
            "unknown_queries": self.unknown,
        }
