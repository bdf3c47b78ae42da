"""Judging together: a pool of what is to be judged, and the log of what judges said."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from calipers.labels.agreement_result import Agreement, Opinions
from calipers.model.summary import Summary
from calipers.store.pool import LogEntry, PoolItem

JudgeOnly = Literal["misses", "different"]
"""Questions with a miss in some run, or whose results differ between the runs."""
ONLY: tuple[str, ...] = get_args(JudgeOnly)


@dataclass(frozen=True)
class JudgeProgress:
    """How far one judge is."""

    judge: str
    total: int
    """Items in the queue of the judge, done or not."""
    labelled: int
    skipped: int
    remaining: int
    per_minute: float | None
    """Labels per minute over the last few; None before there are two."""

    @property
    def done(self) -> int:
        """Items that the judge has looked at."""
        return self.labelled + self.skipped

    @property
    def place(self) -> int:
        """Which item of the queue is next, from 1; the last one when all are done."""
        return min(self.done + 1, self.total)

    @property
    def minutes_left(self) -> float | None:
        """How long the rest takes at this pace."""
        return None if not self.per_minute else self.remaining / self.per_minute

    def to_dict(self) -> dict[str, Any]:
        """The progress as plain values."""
        return {
            **asdict(self),
            "done": self.done,
            "place": self.place,
            "minutes_left": self.minutes_left,
        }


@dataclass(frozen=True)
class LabelEffect:
    """What the latest labels did to the watched metric of one run."""

    run: str
    before: Summary
    after: Summary

    @property
    def difference(self) -> float | None:
        """How far the mean moved."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return self.after.mean - self.before.mean

    def to_dict(self) -> dict[str, Any]:
        """The move as plain values."""
        return {
            "run": self.run,
            "before": asdict(self.before),
            "after": asdict(self.after),
            "difference": self.difference,
        }


@dataclass(frozen=True)
class Conflict:
    """An item on which judges differ."""

    item: PoolItem
    opinions: Opinions
    settled: LogEntry | None

    def to_dict(self) -> dict[str, Any]:
        """The conflict as plain values."""
        return {
            "item": self.item.position,
            **self.opinions.to_dict(),
            "settled": None if self.settled is None else self.settled.to_dict(),
        }


@dataclass(frozen=True, eq=False)
class PoolAgreement:
    """How far the judges of a pool agree, and where they do not."""

    agreement: Agreement | None
    """None while nobody has labelled anything."""
    conflicts: tuple[Conflict, ...]

    @property
    def open(self) -> tuple[Conflict, ...]:
        """Conflicts that nobody has settled."""
        return tuple(one for one in self.conflicts if one.settled is None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "agreement": None if self.agreement is None else self.agreement.to_dict(),
            "conflicts": [one.to_dict() for one in self.conflicts],
        }


@dataclass(frozen=True)
class Exported:
    """A ground truth that was written, and what it was made of."""

    files: tuple[str, ...]
    form: str
    queries: int
    targets: int
    labels: int
    """Items whose grade comes from the labels of the pool."""
    unsettled: int
    """Items left out: judges differ, and nobody settled it."""
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {**asdict(self), "files": list(self.files)}


@dataclass(frozen=True)
class Imported:
    """Labels that were read from files into a pool."""

    pool: str
    added: int
    known: int
    """Labels that the pool had already."""
    ungraded: int
    """Rows that nobody filled in."""
    judges: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {**asdict(self), "judges": list(self.judges)}
