"""The verdict on a result: which conditions hold, and whether it fell behind a baseline."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import polars as pl

from calipers.frozen import dataclass
from calipers.model.arrays import Floats
from calipers.model.claim import Claim
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval, Summary

if TYPE_CHECKING:
    from calipers.questions.compare.result import Difference

Status = Literal["passed", "failed", "no clear difference"]
WORST_FIRST: tuple[Status, ...] = ("failed", "no clear difference", "passed")


@dataclass(frozen=True)
class WorstQuery:
    """A query that pulls a check down."""

    query: str
    text: str | None
    value: float
    baseline: float | None = None


WORST = 5
"""The most queries that a check names."""


def worst_queries(
    queries: pl.DataFrame, weight: Floats, values: Floats, before: Floats | None = None
) -> tuple[WorstQuery, ...]:
    """The queries with the lowest weight, lowest first, without NaN."""
    names = queries["query"]
    texts = queries["text"]
    rows = np.flatnonzero(~np.isnan(weight)).tolist()
    return tuple(
        WorstQuery(
            names[row],
            texts[row],
            float(values[row]),
            None if before is None else float(before[row]),
        )
        for row in sorted(rows, key=lambda row: (weight[row], names[row]))[:WORST]
    )


@dataclass(frozen=True)
class Leak:
    """A result that must not have been found."""

    query: str
    text: str | None
    rank: int
    result: str | None
    """The id of the result, or its document."""
    forbidden: str
    """What is forbidden: an id, a document, a span or a quote."""


@dataclass(frozen=True)
class Raised:
    """A question on which the retriever failed."""

    query: str
    text: str | None
    error: str | None
    """Class and message; None if a saved result does not contain them."""


@dataclass(frozen=True)
class Requirement:
    """The value that a mean must reach."""

    op: str
    value: float


@dataclass(frozen=True)
class GateRule:
    """The limits beyond which a row fails."""

    confidence: float = 0.95
    allow: float = 0.05
    only_shown: bool = False

    @property
    def alpha(self) -> float:
        """The error rate allowed over all rows together."""
        return round(1.0 - self.confidence, 12)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of the result, and its outcome."""

    name: str
    metric: str
    slice: str | None
    """The checked queries as tag=value; None: all."""
    status: Status
    value: float | None
    interval: Interval | None
    n: int
    undefined: int
    requirement: Requirement | None = None
    change: "Difference | None" = None
    """The result against its baseline, as `compare` has it."""
    loss: float = 0.0
    """How much worse the mean is than that of the baseline; below zero where it is
    better."""
    because: tuple[str, ...] = ()
    """Why it failed, or what happened."""
    claim: Claim | None = None
    """The answer in words."""
    worst: tuple[WorstQuery, ...] = ()
    leaks: tuple[Leak, ...] = ()
    """Every leak, if the check is about leaks and failed."""

    @property
    def significant(self) -> bool:
        """Whether there is a significant loss against the baseline."""
        return self.status == "failed" and SIGNIFICANT in self.because

    @property
    def changed_nothing(self) -> bool:
        """Whether no query gained or lost against the baseline; that says least."""
        change = self.change
        return change is not None and not change.wins + change.losses

    @property
    def weight(self) -> float:
        """The loss; a slice leads only where it lost more than twice as much as all queries."""
        return self.loss * (2.0 if self.slice is None else 1.0)


def check_of(summary: Summary, **further: Any) -> Check:
    """A check of a mean."""
    return Check(
        value=summary.mean,
        interval=summary.interval,
        n=summary.n,
        undefined=summary.undefined,
        **further,
    )


RETRIEVER = "the retriever answers every question"
SIGNIFICANT = "significant loss"
ACCEPT = (
    "Is the loss meant? Make it the baseline: `calipers gate --accept 'why it is meant'`"
)
"""The reason given when a row fails the paired test."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Plain, HasRows):
    """The verdict of a gate; its standing is that of its worst check."""

    shown_by: ClassVar[str] = "calipers.questions.gate.document"

    checks: tuple[Check, ...]
    warnings: tuple[str, ...]
    """Warnings such as a changed ground truth or an old baseline."""
    notes: tuple[str, ...]
    """What the checks could not detect, and what was not checked."""
    queries: int
    raised: tuple[Raised, ...] = ()
    """Questions on which the retriever failed."""
    baseline: str | None = None
    baseline_saved: datetime | None = None
    primary: str | None = None
    """The first of the deciding metrics."""
    asked: tuple[str, ...] = ()
    """The deciding metrics, which are compared with the baseline."""
    confidence: float
    allow: float = 0.05
    """How much a mean may fall on these queries."""
    only_shown: bool = False
    """Whether only a significant loss fails, however large the loss on these queries."""
    accepted: str | None = None
    """Why this result became the baseline, where somebody accepted it."""
    moved_up: bool = False
    """Whether this result became the baseline because it is better."""
    fingerprints: dict[str, str]
    calipers: str

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    @property
    def standing(self) -> Status:
        """The standing of the worst check."""
        statuses = {check.status for check in self.checks}
        return next((status for status in WORST_FIRST if status in statuses), "passed")

    @property
    def passed(self) -> bool:
        """Whether the build may go on: exit code 0."""
        return not self.stops

    @property
    def stops(self) -> bool:
        """Whether the build must stop; an accepted loss does not stop it."""
        return any(check.change is None or self.accepted is None for check in self.failed)

    @property
    def worst_first(self) -> tuple[Check, ...]:
        """The checks, most important first: what failed, significant losses, then large ones."""
        return tuple(
            sorted(
                self.checks,
                key=lambda check: (
                    WORST_FIRST.index(check.status),
                    not check.significant,
                    check.name != RETRIEVER or check.status == "failed",
                    check.changed_nothing if check.status == "passed" else -check.weight,
                ),
            )
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """A claim for each check; the first is the most important and names retriever failures."""
        order = self.worst_first
        claims = [check.claim for check in order if check.claim is not None]
        if self.raised and order[0].name != RETRIEVER:
            failing = joined(raised_in_words(self.raised, self.queries), ".", by="")
            claims[0] = replace(claims[0], fact=joined(claims[0].fact, failing))
        return tuple(claims)

    def to_dict(self) -> dict[str, Any]:
        """The whole verdict as plain values: what ``--json`` prints."""
        saved = self.baseline_saved
        return {
            "standing": self.standing,
            "passed": self.passed,
            "claims": [claim.to_dict() for claim in self.claims],
            **super().to_dict(),
            "baseline_saved": None
            if saved is None
            else saved.isoformat(timespec="seconds"),
        }


def raised_in_words(raised: tuple[Raised, ...], queries: int) -> Sentence:
    """How many questions failed, and the first of them with its error.

    >>> raised_in_words((Raised("q1", "Who?", "ValueError: boom"),), 3)
    '1 of 3 questions fails in the retriever: Who? (ValueError: boom)'
    """
    first = raised[0]
    why = f" ({first.error})" if first.error else ""
    failed = Fact(
        about="count", count=len(raised), of=queries, text="questions that fail"
    )
    text = sentence(
        "{it.count} of {it.of} questions {verb} in the retriever: {first.text}",
        it=failed,
        verb="fails" if len(raised) == 1 else "fail",
        first=named(f"{first.text or first.query}{why}"),
    )
    if len(raised) == 1:
        return text
    rest = Fact(about="count", count=len(raised) - 1, text="more questions that fail")
    return joined(text, sentence("and {it.count} more", it=rest), by=", ")
