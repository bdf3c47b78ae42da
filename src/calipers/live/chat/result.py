"""What a language model made: grades of items, and questions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from calipers.io.records.entries import write_records
from calipers.io.records.label_files import write_labels
from calipers.live.result import RetrievalReport
from calipers.model.labels import Label
from calipers.model.result import HasRows

SHORTEST_CHUNK = 100
"""Characters; in less there is seldom anything to ask."""


@dataclass(frozen=True, eq=False, repr=False)
class MachineLabels(HasRows):
    """Rows as the machine labelled them; those it could not label have no grade."""

    shown_by: ClassVar[str] = "calipers.live.show"

    rows: tuple[Label, ...]
    judge: str
    without_text: int
    """Rows that were not sent, as there is nothing to read in them."""
    report: RetrievalReport

    @property
    def labelled(self) -> int:
        """Rows with a grade."""
        return sum(row.grade is not None for row in self.rows)

    def write(self, path: str | Path) -> None:
        """The rows as .jsonl or .csv, whole or not at all."""
        write_labels(self.rows, path)

    def to_dict(self) -> dict[str, Any]:
        """The counts: what ``--json`` prints."""
        grades = [row.grade for row in self.rows if row.grade is not None]
        return {
            "judge": self.judge,
            "rows": len(self.rows),
            "labelled": self.labelled,
            "without_text": self.without_text,
            "grades": {f"{grade:g}": grades.count(grade) for grade in sorted(set(grades))},
            "errors": dict(self.report.errors),
            "first_error": self.report.first_error,
            "asked": self.report.asked,
            "cached": self.report.cached,
        }


@dataclass(frozen=True, eq=False, repr=False)
class WrittenQuestions(HasRows):
    """Questions in our form, marked as machine-made, and what became of the others."""

    shown_by: ClassVar[str] = "calipers.live.show"

    records: tuple[dict[str, Any], ...]
    source: str
    chunks: int
    """Chunks that were drawn, one question from each."""
    too_short: int
    """Chunks of the corpus that were not drawn from."""
    rejected: dict[str, int]
    """By reason; what failed before it could be rejected is in the report."""
    report: RetrievalReport

    def write(self, path: str | Path) -> None:
        """The records as JSON lines, whole or not at all."""
        write_records(list(self.records), path)

    def to_dict(self) -> dict[str, Any]:
        """The counts: what ``--json`` prints."""
        return {
            "source": self.source,
            "chunks": self.chunks,
            "written": len(self.records),
            "rejected": dict(self.rejected),
            "chunks_too_short": self.too_short,
            "errors": dict(self.report.errors),
            "first_error": self.report.first_error,
            "asked": self.report.asked,
            "cached": self.report.cached,
        }
