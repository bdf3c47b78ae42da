"""What comes of asking: a run, how its retrieval went, and what a language model made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from calipers.errors import InvalidInput
from calipers.io.files.open import stamp
from calipers.io.load import load
from calipers.model.labels import Label
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.words import plural

SHORTEST_CHUNK = 100
"""Characters; in less there is seldom anything to ask."""


@dataclass(frozen=True)
class RetrievalReport(Plain):
    """How a retrieval went; part of what ``calipers.retrieve`` returns."""

    dict_keys: ClassVar[str] = (
        "retriever k questions answered failed errors first_error asked cached seconds "
        "per_second latency_ms cut short empty unsorted output earlier"
    )

    retriever: str
    k: int
    questions: int
    answered: int
    errors: Mapping[str, int]
    """How many questions failed, by kind."""
    first_error: str | None
    asked: int
    """Questions asked this time; the others were finished before."""
    cached: int
    seconds: float
    """This time, from the first question to the last answer."""
    latency_ms: Mapping[str, float | int | None]
    cut: int
    """Answers with more than k results; the rest was cut off."""
    short: int
    """Answers with fewer than k results, but some."""
    empty: int
    unsorted: int
    """Answers whose scores neither fall nor rise; the order of the list counts."""
    output: str | None = None
    earlier: str | None = None
    """What became of an earlier run in the same file, where that is worth a word."""

    @property
    def failed(self) -> int:
        """Questions without an answer."""
        return sum(self.errors.values())

    @property
    def per_second(self) -> float | None:
        """Questions asked per second, this time."""
        return self.asked / self.seconds if self.asked and self.seconds else None

    def of_model(self) -> dict[str, Any]:
        """What counts where a language model was asked."""
        names = ("errors", "first_error", "asked", "cached")
        return {name: value for name, value in self.to_dict().items() if name in names}


@dataclass(frozen=True, eq=False, repr=False)
class LiveRun(Run, HasRows):
    """A run that was just made, with the report of how it went."""

    shown_by: ClassVar[str] = "calipers.live.document:of_run"

    report: RetrievalReport = field(kw_only=True)
    read: Callable[[], Run] | None = field(default=None, kw_only=True)
    """Reads the file in which the run stands, if it was written."""

    @classmethod
    def in_file(cls, path: Path, report: RetrievalReport) -> "LiveRun":
        """The run in that file, of which nothing is in memory until somebody needs it."""
        made = stamp(path)

        @cache
        def read() -> Run:
            if path.exists() and stamp(path) != made:
                raise InvalidInput(
                    f"The run {path} was changed after it was made, so it is not this run any "
                    "more; read the file itself, or give each run an output of its own."
                )
            found = load(path, "run").run
            if found is None:
                raise InvalidInput(f"The run {path} holds no results; begin again (restart=True).")
            return found

        return cls(
            lambda: read().scan(),
            name=str(path),
            report=report,
            read=read,
            asked_for=report.k,
            queries=lambda: read().queries,
            stages=lambda: read().stages,
        )

    def __repr__(self) -> str:
        """What is known without reading anything."""
        if self.read is None or self.read.cache_info().currsize:  # type: ignore[attr-defined]
            return super().__repr__()
        asked = plural(self.report.questions, "query", "queries")
        return f"<{type(self).__name__}: {self.name!r}; {asked}; as listed>"


@dataclass(frozen=True, eq=False, repr=False)
class MachineLabels(HasRows):
    """Rows as the machine labelled them; those it could not label have no grade."""

    shown_by: ClassVar[str] = "calipers.live.document:of_grades"

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
        from calipers.io.records.label_files import write_labels

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
            **self.report.of_model(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class WrittenQuestions(HasRows):
    """Questions in our form, marked as machine-made, and what became of the others."""

    shown_by: ClassVar[str] = "calipers.live.document:of_questions"

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
        from calipers.io.records.entries import write_records

        write_records(list(self.records), path)

    def to_dict(self) -> dict[str, Any]:
        """The counts: what ``--json`` prints."""
        return {
            "source": self.source,
            "chunks": self.chunks,
            "written": len(self.records),
            "rejected": dict(self.rejected),
            "chunks_too_short": self.too_short,
            **self.report.of_model(),
        }
