"""The lines of the run file, one per question, and the counts that grow with them.

``calipers eval --run`` reads these lines as they are. The last four fields are for the report;
readers that do not know them pass over them.
"""

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from calipers.io.records.documents import Row
from calipers.live.adapters.base import Question
from calipers.live.answers import Answer
from calipers.live.result import RetrievalReport
from calipers.model.arrays import Floats

encode = msgspec.json.Encoder().encode


class RunEntry(msgspec.Struct, omit_defaults=True):
    """What is written about one question."""

    query: str
    retrieved: list[Row]
    id: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    stages: Mapping[str, list[Row]] | None = None
    warm_up: bool = False
    cached: bool = False
    cut: bool = False
    unsorted: bool = False


class Glance(msgspec.Struct):
    """An entry as it is read back for the report: results counted, not decoded."""

    query: str
    retrieved: list[msgspec.Raw]
    id: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    warm_up: bool = False
    cached: bool = False
    cut: bool = False
    unsorted: bool = False

    @property
    def key(self) -> str:
        """The id of the question."""
        return self.query if self.id is None else self.id


_glance = msgspec.json.Decoder(Glance)


def glance(line: bytes) -> Glance | None:
    """A line as an entry, or None where it is none."""
    try:
        return _glance.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def entry_of(question: Question, answer: Answer, seconds: float, warm_up: bool) -> RunEntry:
    """The entry of a question that was answered."""
    # By position: this runs once per question, and names would cost as much as the rest.
    return RunEntry(
        question.text,
        answer.retrieved,
        _own_id(question),
        round(seconds * 1000, 3),
        None,
        answer.stages or None,
        warm_up,
        False,
        answer.longer,
        answer.unsorted,
    )


def failed_entry(question: Question, error: str) -> RunEntry:
    """The entry of a question that was not."""
    return RunEntry(question.text, [], _own_id(question), error=error)


def _own_id(question: Question) -> str | None:
    return None if question.id == question.text else question.id


def percentile(ordered: Sequence[float] | Floats, share: float) -> float:
    """The smallest value within which at least that share of all values lies.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(eq=False)
class Latencies:
    """Milliseconds per answered question, eight bytes each."""

    usual: "array[float]" = field(default_factory=lambda: array("d"))
    warm_up: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, milliseconds: float, *, warm_up: bool) -> None:
        """Take one more."""
        (self.warm_up if warm_up else self.usual).append(milliseconds)

    def to_dict(self) -> dict[str, float | int | None]:
        """p50, p95, p99, mean and max of the usual calls; count and mean of the warm-up."""
        # As numbers side by side: a list of them would be four times as large.
        ordered = np.sort(np.frombuffer(self.usual, np.float64))
        n = len(ordered)
        return {
            "count": n,
            "p50": float(percentile(ordered, 0.50)) if n else None,
            "p95": float(percentile(ordered, 0.95)) if n else None,
            "p99": float(percentile(ordered, 0.99)) if n else None,
            "mean": float(ordered.mean()) if n else None,
            "max": float(ordered[-1]) if n else None,
            "warm_up_count": len(self.warm_up),
            "warm_up_mean": sum(self.warm_up) / len(self.warm_up) if self.warm_up else None,
        }


@dataclass(eq=False)
class AnswerCounts:
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

    def add(self, entry: RunEntry | Glance) -> None:
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

    def report(
        self,
        *,
        retriever: str,
        questions: int,
        asked: int,
        seconds: float,
        output: str | None,
        earlier: str | None = None,
    ) -> RetrievalReport:
        """How the retrieval went, now that it is finished."""
        return RetrievalReport(
            retriever=retriever,
            k=self.k,
            questions=questions,
            answered=self.answered,
            errors=dict(sorted(self.errors.items())),
            first_error=self.first_error,
            asked=asked,
            cached=self.cached,
            seconds=seconds,
            latency_ms=self.latencies.to_dict(),
            cut=self.cut,
            short=self.short,
            empty=self.empty,
            unsorted=self.unsorted,
            output=output,
            earlier=earlier,
        )
