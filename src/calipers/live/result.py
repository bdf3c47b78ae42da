"""Results of querying: a run with its report, and a language model's labels and questions."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import ClassVar

from calipers.frozen import dataclass
from calipers.model.labels import Label
from calipers.model.result import HasRows, Plain, sentences_of
from calipers.model.run import Run


@dataclass(frozen=True)
class RetrievalReport(Plain):
    """How a retrieval went; part of what ``calipers.retrieve`` returns."""

    dict_keys: ClassVar[str] = (
        "retriever k questions answered failed errors first_error asked cached seconds "
        "per_second latency_ms short empty unsorted output earlier remark"
    )

    retriever: str
    k: int
    questions: int
    answered: int
    errors: Mapping[str, int]
    """How many questions failed, by kind."""
    first_error: str | None
    asked: int
    """Questions asked in this call; the others were already finished."""
    cached: int
    seconds: float
    """In this call, from the first question to the last answer."""
    latency_ms: Mapping[str, float | int | None]
    short: int
    """Answers with at least one result but fewer than k."""
    empty: int
    unsorted: int
    """Answers whose scores neither fall nor rise; the order of the list counts."""
    output: str | None = None
    earlier: str | None = None
    """What happened to an earlier run in the same file, if worth mentioning."""
    remark: str | None = None
    """What else should be known, such as answers without the ids of their questions."""

    @property
    def failed(self) -> int:
        """Questions without an answer."""
        return sum(self.errors.values())

    @property
    def per_second(self) -> float | None:
        """Questions asked per second in this call."""
        return self.asked / self.seconds if self.asked and self.seconds else None

    def of_model(self) -> dict[str, object]:
        """The counts that matter for a language model."""
        names = ("errors", "first_error", "asked", "cached")
        return {name: value for name, value in self.to_dict().items() if name in names}


@dataclass(frozen=True)
class UnderstoodAnswer(Plain):
    """How the answer to one question is read; what ``retrieve --check`` prints."""

    retriever: str
    query: str
    """The id of the question."""
    text: str
    """What was asked."""
    results: int
    first: Mapping[str, object] | None
    """The fields of the first result that were understood."""
    stages: Mapping[str, int]
    """How many results each earlier stage has."""
    unsorted: bool
    """Whether the scores neither fall nor rise; the order of the list counts."""
    latency_ms: float | None
    remark: str | None = None
    """What else should be known, such as an answer without the id of its question."""


@dataclass(frozen=True, eq=False, repr=False)
class LiveRun(Run, HasRows):
    """A new run with the report of its retrieval."""

    shown_by: ClassVar[str] = "calipers.live.document:of_run"

    report: RetrievalReport = field(kw_only=True)


@dataclass(frozen=True, eq=False, repr=False)
class MachineLabels(HasRows):
    """Rows labelled by a model; those it could not label have no grade."""

    shown_by: ClassVar[str] = "calipers.live.document:of_grades"

    rows: tuple[Label, ...]
    judge: str
    without_text: int
    """Rows that were not sent because they have no text."""
    report: RetrievalReport

    @property
    def labelled(self) -> int:
        """Rows with a grade."""
        return sum(row.grade is not None for row in self.rows)

    def write(self, path: str | Path) -> None:
        """Write the rows as .jsonl or .csv, atomically."""
        from calipers.io.records.label_files import write_labels

        write_labels(self.rows, path)

    @property
    def grades(self) -> dict[str, int]:
        """How many rows got each grade, the lowest first."""
        grades = [row.grade for row in self.rows if row.grade is not None]
        return {f"{grade:g}": grades.count(grade) for grade in sorted(set(grades))}

    def to_dict(self) -> dict[str, object]:
        """The counts: what ``--json`` prints."""
        return {
            "judge": self.judge,
            "rows": len(self.rows),
            "labelled": self.labelled,
            "without_text": self.without_text,
            "grades": self.grades,
            **self.report.of_model(),
            **sentences_of(self),
        }
