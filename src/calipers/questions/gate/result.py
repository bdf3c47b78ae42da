"""The verdict on a result: which conditions hold, and whether it fell behind a baseline."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from calipers.model.result import Plain, ShowsItself
from calipers.model.scores import Interval
from calipers.model.visibility import Unseen, Visibility

Status = Literal["passed", "failed", "untested", "supporting"]
"""A supporting metric is shown beside the primary one, and decides nothing."""


@dataclass(frozen=True)
class WorstQuery:
    """A query that weighs on a check."""

    query: str
    text: str | None
    value: float
    baseline: float | None = None


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
class Requirement:
    """The value that a mean, or a figure of the run, must reach."""

    op: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Change:
    """The paired difference to the baseline; above 0 means a higher value than before."""

    baseline: float | None
    difference: float | None
    interval: Interval | None
    """Its end on the side of a loss is the one-sided limit that decides."""
    p_value: float | None
    """One-sided, of a loss no larger than what is allowed; None for a supporting metric."""
    p_adjusted: float | None = None
    """After Holm's correction over the slices that were tested."""
    p_no_loss: float | None = None
    """One-sided, of a loss larger than what is allowed: small where it is shown that there is
    none."""
    better: int
    worse: int
    same: int
    unpaired: int
    """Queries for which the metric is defined on one side only; they are not compared."""
    visibility: Visibility | None
    """The loss that these queries would show; None for a supporting metric."""
    unseen: Unseen | None = None
    """What the verdict would not survive; None where nothing is shown, or nothing would."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question put to the result, and its answer."""

    name: str
    metric: str
    slice: str | None
    """The queries it is about, as tag=value; None: all."""
    status: Status
    value: float | None
    interval: Interval | None
    n: int
    undefined: int
    requirement: Requirement | None = None
    change: Change | None = None
    because: tuple[str, ...] = ()
    """Why it failed, or why it could not be tested."""
    worst: tuple[WorstQuery, ...] = ()
    leaks: tuple[Leak, ...] = ()
    """Every leak, where the check is about leaks and failed."""
    unit: str = ""
    """What the value is counted in: ms for a latency, nothing else has one."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Verdict(Plain, ShowsItself):
    """What a gate found. ``passed`` is True only where every check was made and held."""

    shown_by: ClassVar[str] = "calipers.questions.gate.show"

    checks: tuple[Check, ...]
    warnings: tuple[str, ...]
    """What must not be overlooked: a changed ground truth, an old baseline."""
    notes: tuple[str, ...]
    """What the checks could not have seen, and what was not checked."""
    queries: int
    baseline: str | None = None
    baseline_saved: datetime | None = None
    primary: str | None = None
    """The metric that is compared with the baseline."""
    confidence: float
    allow: float = 0.0
    """The loss that is allowed."""
    strict: bool = False
    """Whether it must be shown that no more is lost."""
    baseline_runs: int = 1
    fingerprints: dict[str, str]
    calipers: str

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.status == "failed")

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """The whole verdict as plain values: what ``--json`` prints."""
        saved = self.baseline_saved
        return {
            "passed": self.passed,
            **super().to_dict(),
            "baseline_saved": None if saved is None else saved.isoformat(timespec="seconds"),
        }
