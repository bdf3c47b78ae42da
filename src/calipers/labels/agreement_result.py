"""What is known of an agreement: each decision, each conflict, and how far judges agree."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from calipers.frozen import dataclass
from calipers.model.result import Plain, ShowsItself, plain
from calipers.model.scores import Interval
from calipers.store.pool import LogEntry, PoolItem

Counted = Literal["one", "agreed", "majority", "tie", "final"]
"""How the labels of an item became one grade; a tie leaves it out."""
Standing = Literal["open", "counted", "settled"]
"""An open conflict is a tie, or was settled before a judge changed their label."""
LEAST_SHARED = 10
"""The smallest number of results that two judges must share for a coefficient."""


@dataclass(frozen=True)
class Alpha(Plain):
    """Krippendorff's alpha for an ordinal scale: 1 is full agreement, 0 what chance gives."""

    value: float | None
    """None if only one grade was used."""
    n: int
    """How many results it is computed from."""
    interval: Interval | None
    """By the jackknife over the results."""


@dataclass(frozen=True)
class MachineCheck:
    """A machine's labels against human ones, relevant or not, on what both judged."""

    judge: str
    both: int
    """Relevant by human and machine labels."""
    missed: int
    """Relevant by human labels only."""
    invented: int
    """Relevant by machine labels only."""
    neither: int
    sensitivity: float | None
    """Of what humans found relevant, the share that the machine did too."""
    sensitivity_interval: Interval | None
    specificity: float | None
    """Of what humans found irrelevant, the share that the machine did too."""
    specificity_interval: Interval | None
    undecided: int
    """Results on which human labels are tied; they are not counted."""


@dataclass(frozen=True)
class Decision:
    """The labels of one item, and the grade they result in."""

    labels: Mapping[str, LogEntry]
    counts: float | None
    """The grade that counts; None for a tie, which is left out."""
    how: Counted
    final: LogEntry | None
    """The label that settles it, or settled it before a judge changed theirs."""

    @property
    def grades(self) -> dict[str, float]:
        """The grades by judge."""
        return {
            who: label.grade
            for who, label in self.labels.items()
            if label.grade is not None
        }


@dataclass(frozen=True)
class Conflict(Decision, Plain):
    """An item on which judges differ, and the grade that counts."""

    item: PoolItem
    notes: Mapping[str, str]
    """The judges' notes."""

    @property
    def standing(self) -> Standing:
        """Whether a person has to settle it."""
        if self.how == "final":
            return "settled"
        return "open" if self.how == "tie" or self.final is not None else "counted"

    @property
    def verdict(self) -> str:
        """The grade that counts, in words."""
        if self.how == "final" and self.final is not None:
            return f"Counts as {self.counts:g}: settled by {self.final.judge}."
        since = ""
        if self.final is not None:
            since = f"Settled as {self.final.grade:g} by {self.final.judge}, and changed since. "
        if self.counts is None:
            return f"{since}Left out: a tie."
        votes = [*self.grades.values()].count(self.counts)
        return f"{since}Counts as {self.counts:g}: {votes} of {len(self.grades)} say so."

    def to_dict(self) -> dict[str, Any]:
        """The conflict as plain values."""
        about = self.item.label
        keys = ("grades", "counts", "how", "final", "notes")
        names = ("query_id", "query", "text", "document")
        query_fields = {name: getattr(about, name) for name in names}
        result = {key: plain(getattr(self, key)) for key in keys}
        return {"item": self.item.position, **query_fields, "id": about.item, **result}


@dataclass(frozen=True)
class JudgeSummary(Plain):
    """What one judge did."""

    judge: str
    labelled: int
    skipped: int
    notes: int
    last: str
    """When the last entry was made."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Plain, ShowsItself):
    """How far judges agree, and where they do not."""

    shown_by: ClassVar[str] = "calipers.labels.agreement_document"
    dict_keys: ClassVar[str] = (
        "judges judged shared alike alpha conflicts left_out machines"
    )

    judges: tuple[JudgeSummary, ...]
    judged: int
    """Results that somebody labelled."""
    shared: int
    """Results that at least two labelled."""
    alike: int
    """Of these, those with the same grade from all."""
    alpha: Alpha | None
    """None with fewer than ten shared results."""
    conflicts: tuple[Conflict, ...]
    """The largest difference first."""
    machines: tuple[MachineCheck, ...] = ()

    @property
    def left_out(self) -> int:
        """Results without a grade: a tie that nobody settled."""
        return sum(conflict.counts is None for conflict in self.conflicts)

    def standing(self, which: str) -> Sequence[Conflict]:
        """The conflicts of one standing."""
        return [conflict for conflict in self.conflicts if conflict.standing == which]
