"""How a retrieval went: what was asked, how long it took, what went wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RetrievalReport:
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
            "earlier": self.earlier,
        }
