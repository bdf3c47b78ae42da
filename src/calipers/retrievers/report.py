"""What happened while the questions were asked, in numbers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calipers.retrievers.entry import Entry, Glance
from calipers.retrievers.latency import Latencies


@dataclass(eq=False)
class Tally:
    """Counts that grow with each entry, whether it was just answered or read back."""

    k: int
    answered: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    first_error: str | None = None
    cached: int = 0
    cut: int = 0
    unsorted: int = 0
    short: int = 0
    empty: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    @property
    def done(self) -> int:
        """Questions that are finished, one way or the other."""
        return self.answered + self.errors.total()

    def add(self, entry: Entry | Glance) -> None:
        """Count one more."""
        if entry.error is not None:
            self.errors[entry.error.partition(":")[0]] += 1
            self.first_error = self.first_error or entry.error
            return
        self.answered += 1
        found = len(entry.retrieved)
        if found < self.k:
            self.short += found > 0
            self.empty += found == 0
        if entry.cut or entry.unsorted or entry.cached:
            self.cut += entry.cut
            self.unsorted += entry.unsorted
            self.cached += entry.cached
        if entry.latency_ms is not None:
            self.latencies.add(entry.latency_ms, warm_up=entry.warm_up)


@dataclass(frozen=True)
class Report:
    """How a retrieval went; part of what ``calipers.retrieve`` returns."""

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

    @property
    def failed(self) -> int:
        """Questions without an answer."""
        return sum(self.errors.values())

    @property
    def per_second(self) -> float | None:
        """Questions asked per second, this time."""
        return self.asked / self.seconds if self.asked and self.seconds else None

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "retriever": self.retriever,
            "k": self.k,
            "questions": self.questions,
            "answered": self.answered,
            "failed": self.failed,
            "errors": dict(self.errors),
            "first_error": self.first_error,
            "asked": self.asked,
            "cached": self.cached,
            "seconds": self.seconds,
            "per_second": self.per_second,
            "latency_ms": dict(self.latency_ms),
            "cut": self.cut,
            "short": self.short,
            "empty": self.empty,
            "unsorted": self.unsorted,
            "output": self.output,
        }


def report_of(
    tally: Tally, *, retriever: str, questions: int, asked: int, seconds: float, output: str | None
) -> Report:
    """The report of a finished retrieval."""
    return Report(
        retriever=retriever, k=tally.k, questions=questions, answered=tally.answered,
        errors=dict(sorted(tally.errors.items())), first_error=tally.first_error, asked=asked,
        cached=tally.cached, seconds=seconds, latency_ms=tally.latencies.to_dict(), cut=tally.cut,
        short=tally.short, empty=tally.empty, unsorted=tally.unsorted, output=output,
    )  # fmt: skip
