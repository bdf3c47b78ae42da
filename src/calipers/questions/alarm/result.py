"""The latest evaluations against a fixed reference period."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from calipers.model.result import Plain, ShowsItself
from calipers.questions.gate.result import WorstQuery

Status = Literal["worse", "not shown", "untested"]


@dataclass(frozen=True, kw_only=True)
class AlarmReference:
    """The first evaluations of a name, and how far the latest was asked for the same."""

    evaluations: tuple[str, ...]
    """The ids, oldest first."""
    oldest: datetime
    newest: datetime
    shared: int
    """Queries with the same question and the same ground truth in all of them and the latest."""
    new: int
    """Queries that only the latest has."""
    gone: int
    """Queries that the latest no longer has."""
    rejudged: int
    """Queries for which something else should be found, or that ask something else."""

    @property
    def truth_changed(self) -> bool:
        """Whether the ground truth differs."""
        return bool(self.new or self.gone or self.rejudged)


@dataclass(frozen=True, kw_only=True)
class AlarmCheck(Plain):
    """One metric on one slice against the reference."""

    metric: str
    slice: str | None
    """tag=value; None: all queries."""
    status: Status
    n: int
    """Queries that are compared."""
    before: float | None = None
    """The mean of the reference over the compared queries."""
    now: float | None = None
    """The same of the latest."""
    spread: float | None = None
    """How far one evaluation strays from the reference by noise (a standard deviation)."""
    sum: float | None = None
    """What losses have added up to, in such standard deviations, less what noise explains."""
    threshold: float | None = None
    """The sum from which the alarm is raised."""
    since: datetime | None = None
    """When the loss seems to have begun, where it is raised."""
    raised: datetime | None = None
    """The evaluation at which the sum passed the threshold, where it is raised."""
    why_not: str | None = None
    """Where it could not be tested."""
    whole_now: float | None = None
    """The mean over all queries of the latest, compared or not."""
    whole_before: float | None = None
    worst: tuple[WorstQuery, ...] = ()

    @property
    def difference(self) -> float | None:
        """The latest less the reference, over the compared queries."""
        return None if self.now is None or self.before is None else self.now - self.before

    @property
    def by_ground_truth(self) -> float | None:
        """The part of the move that the compared queries do not show: the ground truth's."""
        if self.whole_now is None or self.whole_before is None or self.difference is None:
            return None
        return self.whole_now - self.whole_before - self.difference

    def to_dict(self) -> dict[str, Any]:
        """The check as plain values, with what follows from them."""
        more = {"difference": self.difference, "by_ground_truth": self.by_ground_truth}
        return {**super().to_dict(), **more}


@dataclass(frozen=True, kw_only=True, repr=False)
class Alarm(Plain, ShowsItself):
    """Whether evaluations have become worse than the reference period, in what and since when."""

    shown_by: ClassVar[str] = "calipers.questions.alarm.show"

    name: str
    id: str
    saved: datetime
    commit: str | None
    branch: str | None
    reference: AlarmReference
    nights: int
    """Evaluations after the reference, the latest among them."""
    checks: tuple[AlarmCheck, ...]
    warnings: tuple[str, ...]
    """What changed beside the retriever."""
    notes: tuple[str, ...]
    false_alarms: float
    """How many a year are to be expected of a retriever that does not change, at most."""
    calipers: str

    @property
    def raised(self) -> bool:
        """Whether anything has become worse."""
        return bool(self.worse)

    @property
    def worse(self) -> tuple[AlarmCheck, ...]:
        """The checks that raise the alarm."""
        return tuple(check for check in self.checks if check.status == "worse")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {"raised": self.raised, **super().to_dict()}
