"""What judging gives: rows to label, how far judges agree, what their labels make and move."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from calipers.errors import InvalidInput
from calipers.labels.choices import How, Scale, Weights, WhenTied
from calipers.model.labels import Label, Pair
from calipers.model.result import HasRows, Plain, ShowsItself, plain
from calipers.model.scores import Interval, Summary
from calipers.store.pool import LogEntry, PoolItem


@dataclass(frozen=True)
class Coefficient(Plain):
    """One measure of agreement, with what it rests on."""

    name: str
    judges: tuple[str, ...]
    value: float | None
    n: int
    """How many pairs of question and item it rests on."""
    observed: float | None = None
    """Agreement (for alpha and weighted kappa: disagreement) as it is."""
    expected: float | None = None
    """The same as it would be by chance."""
    why_not: str | None = None
    """Where there is no value."""
    interval: Interval | None = None


@dataclass(frozen=True)
class MachineCheck:
    """The labels of a machine against those of people, on what both judged: relevant or not."""

    judge: str
    both: int
    """Relevant to people and machine."""
    missed: int
    """Relevant to people alone."""
    invented: int
    """Relevant to the machine alone."""
    neither: int
    sensitivity: float | None
    """The share of what people found relevant that the machine did too."""
    sensitivity_interval: Interval | None
    specificity: float | None
    """The share of what people found irrelevant that the machine did too."""
    specificity_interval: Interval | None
    undecided: int
    """Pairs on which people are split evenly; they are not counted."""


@dataclass(frozen=True)
class Opinions(Plain):
    """What every judge said about one question and one item."""

    about: Label
    """The pair itself: the question, the item, its text and place."""
    grades: Mapping[str, float]
    """By judge, in the order of the judges."""

    @property
    def spread(self) -> float:
        """The largest difference between two judges."""
        return max(self.grades.values()) - min(self.grades.values())

    def to_dict(self) -> dict[str, Any]:
        """The opinions as plain values."""
        return {
            "query_id": self.about.query_id,
            "query": self.about.query,
            "item": self.about.item,
            "text": self.about.text,
            "document": self.about.document,
            "grades": dict(self.grades),
            "spread": self.spread,
        }


@dataclass(frozen=True, eq=False)
class Merged(Plain):
    """A ground truth out of all opinions, in our form."""

    records: tuple[dict[str, Any], ...]
    targets: int
    """Pairs that have a grade now."""
    tied: tuple[Opinions, ...]
    """Pairs left out: no grade has more votes than every other."""
    how: How
    when_tied: WhenTied
    left_without: tuple[str, ...] = ()
    """Questions with nothing relevant left, because pairs of theirs were tied."""

    def to_dict(self) -> dict[str, Any]:
        """The counts and the ties; the records themselves go to a file."""
        return {
            "how": self.how,
            "ties": self.when_tied,
            "queries": len(self.records),
            "targets": self.targets,
            "tied": plain(self.tied),
            "left_without": list(self.left_without),
        }


@dataclass(frozen=True)
class Judge:
    """One judge, and how much of the work is done."""

    name: str
    labelled: int
    missing: int
    """Rows without a grade."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Plain, HasRows):
    """How far judges agree, where they do not, and the ground truth they make together."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_agreement"

    judges: tuple[Judge, ...]
    opinions: Mapping[Pair, Opinions]
    """Every pair of question and item that somebody judged."""
    coefficients: tuple[Coefficient, ...]
    disagreements: tuple[Opinions, ...]
    scale: Scale
    weights: Weights
    merged: Merged | None = None
    """Where a merge was asked for."""
    machine: MachineCheck | None = None
    """Where one of the judges was named as a machine."""

    @property
    def shared(self) -> int:
        """Pairs that at least two judged."""
        return sum(len(one.grades) > 1 for one in self.opinions.values())

    def write(self, path: str | Path) -> None:
        """The merged ground truth as JSON lines, whole or not at all."""
        if self.merged is None:
            raise InvalidInput("There is no merged ground truth to write; ask for one with merge=.")
        from calipers.io.records.entries import write_records

        write_records(list(self.merged.records), path)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "judges": plain(self.judges),
            "pairs": len(self.opinions),
            "pairs_judged_by_several": self.shared,
            "scale": self.scale,
            "weights": self.weights,
            "coefficients": plain(self.coefficients),
            "disagreements": plain(self.disagreements),
            "machine": plain(self.machine),
            "merged": plain(self.merged),
        }


@dataclass(frozen=True)
class JudgeProgress(Plain):
    """How far one judge is."""

    dict_keys: ClassVar[str] = (
        "judge total labelled skipped remaining per_minute done place minutes_left elsewhere"
    )

    judge: str
    total: int
    """Items in the queue of the judge, done or not."""
    labelled: int
    skipped: int
    remaining: int
    per_minute: float | None
    """Labels per minute over the last few; None before there are two."""
    elsewhere: int = 0
    """Items that other judges are working on; what they leave comes back."""

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


@dataclass(frozen=True, repr=False)
class PoolChanged(Plain, ShowsItself):
    """A pool that was closed, opened again or deleted."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_change"

    pool: str
    change: str
    items: int


@dataclass(frozen=True)
class LabelEffect(Plain):
    """What the latest labels did to the watched metric of one run."""

    dict_keys: ClassVar[str] = "run before after difference"

    run: str
    before: Summary
    after: Summary

    @property
    def difference(self) -> float | None:
        """How far the mean moved."""
        if self.before.mean is None or self.after.mean is None:
            return None
        return self.after.mean - self.before.mean


@dataclass(frozen=True)
class Conflict(Plain):
    """An item on which judges differ."""

    item: PoolItem
    opinions: Opinions
    settled: LogEntry | None
    notes: Mapping[str, str]
    """What judges wrote beside it."""

    def to_dict(self) -> dict[str, Any]:
        """The conflict as plain values."""
        return {
            "item": self.item.position,
            **self.opinions.to_dict(),
            "notes": dict(self.notes),
            "settled": plain(self.settled),
        }


@dataclass(frozen=True, eq=False)
class PoolAgreement(Plain):
    """How far the judges of a pool agree, and where they do not."""

    agreement: Agreement | None
    """None while nobody has labelled anything."""
    conflicts: tuple[Conflict, ...]

    @property
    def open(self) -> tuple[Conflict, ...]:
        """Conflicts that nobody has settled."""
        return tuple(one for one in self.conflicts if one.settled is None)


@dataclass(frozen=True, repr=False)
class Exported(Plain, ShowsItself):
    """A ground truth that was written, and what it was made of."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_export"

    files: tuple[str, ...]
    form: str
    queries: int
    targets: int
    labels: int
    """Items whose grade comes from the labels of the pool."""
    unsettled: int
    """Items left out: judges differ, and nobody settled it."""
    fingerprint: str | None
    """None where every label was written, and no ground truth."""


@dataclass(frozen=True, repr=False)
class Imported(Plain, ShowsItself):
    """Labels that were read from files into a pool."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_import"

    pool: str
    added: int
    known: int
    """Labels that the pool had already, or had a later one of the same judge."""
    ungraded: int
    """Rows that nobody filled in."""
    judges: tuple[str, ...]
