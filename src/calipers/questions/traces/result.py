"""Questions that were asked in earnest, taken from traces."""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from calipers.model.result import Plain


@dataclass(frozen=True)
class TracedQuestion:
    """One question, however often it was asked."""

    id: str
    query: str
    """As it was asked, with what is personal masked."""
    asked: int
    """In how many traces."""
    disagreement: float
    """How unlike the results were from one asking to the next: 0 the same, 1 none in common."""
    tags: Mapping[str, str]
    retrieved: tuple[Mapping[str, Any], ...]
    """Everything that came back for it, each result once."""

    def record(self) -> dict[str, Any]:
        """The question as a record that ``draft`` takes as a run."""
        tags = {**self.tags, "asked": str(self.asked), "disagreement": f"{self.disagreement:.2f}"}
        return {"id": self.id, "query": self.query, "tags": tags, "retrieved": [*self.retrieved]}


@dataclass(frozen=True)
class TracedQuestions(Plain):
    """A sample of the questions in traces, ready to be judged."""

    questions: tuple[TracedQuestion, ...]
    traces: int
    """Askings that were read."""
    unique: int
    """Different questions among them."""
    masked: int
    """Places in questions and texts where something was masked."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the questions as JSON lines, for ``draft`` and for ``retrieve``."""
        from calipers.io.records.kept import write_records

        write_records([one.record() for one in self.questions], str(path))
