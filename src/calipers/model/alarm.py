"""The latest evaluation against those before it."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from calipers.model.evaluation import moment
from calipers.model.gate import Change, WorstQuery
from calipers.model.notebook import ShownInNotebook

Status = Literal["worse", "better", "not shown", "untested"]
Against = Literal["previous", "window"]


@dataclass(frozen=True, kw_only=True)
class AlarmReference:
    """What the latest is held against, and how far both were asked for the same."""

    against: Against
    evaluations: tuple[str, ...]
    """The ids, newest first."""
    oldest: datetime
    newest: datetime
    shared: int
    """Queries with the same question and the same ground truth on both sides: those compared."""
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
class AlarmCheck:
    """One metric on one slice against one reference."""

    against: Against
    metric: str
    slice: str | None
    """tag=value; None: all queries."""
    status: Status
    now: float | None
    """The mean of the latest over the compared queries."""
    change: Change
    whole_now: float | None
    """The mean over all queries of the latest, compared or not."""
    whole_before: float | None
    worst: tuple[WorstQuery, ...] = ()

    @property
    def by_ground_truth(self) -> float | None:
        """The part of the move that the compared queries do not show: the ground truth's."""
        if self.whole_now is None or self.whole_before is None or self.change.difference is None:
            return None
        return self.whole_now - self.whole_before - self.change.difference


@dataclass(frozen=True, kw_only=True, repr=False)
class Alarm(ShownInNotebook):
    """Whether the latest evaluation is significantly worse than before, and in what."""

    name: str
    id: str
    saved: datetime
    commit: str | None
    branch: str | None
    references: tuple[AlarmReference, ...]
    checks: tuple[AlarmCheck, ...]
    warnings: tuple[str, ...]
    """What changed beside the retriever."""
    notes: tuple[str, ...]
    alpha: float
    calipers: str

    @property
    def raised(self) -> bool:
        """Whether anything is significantly worse."""
        return bool(self.worse)

    @property
    def worse(self) -> tuple[AlarmCheck, ...]:
        """The checks that raise the alarm."""
        return tuple(check for check in self.checks if check.status == "worse")

    @property
    def tests(self) -> int:
        """How many tests the p-values are corrected for."""
        return sum(check.change.p_adjusted is not None for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "raised": self.raised,
            **asdict(self),
            "saved": moment(self.saved),
            "references": [
                {**asdict(one), "oldest": moment(one.oldest), "newest": moment(one.newest)}
                for one in self.references
            ],
            "checks": [
                {**asdict(check), "by_ground_truth": check.by_ground_truth} for check in self.checks
            ],
        }
