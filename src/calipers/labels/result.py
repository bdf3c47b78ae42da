"""Results of labelling: agreement, conflicts, progress, exports, imports and samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.labels import Draw
from calipers.model.result import HasRows, Plain, ShowsItself, plain
from calipers.model.scores import Interval, Summary
from calipers.shell import join_words
from calipers.store.pool import LogEntry, PoolItem
from calipers.words import number, plural

Counted = Literal["one", "agreed", "majority", "tie", "final"]
"""How the labels of an item became one grade; a tie leaves it out."""
Standing = Literal["open", "counted", "settled"]
"""An open conflict is a tie, or was settled before a judge changed their label."""


@dataclass(frozen=True)
class Coefficient(Plain):
    """One coefficient of agreement, with the counts behind it."""

    name: str
    judges: tuple[str, ...]
    value: float | None
    n: int
    """How many results it is computed from."""
    observed: float | None = None
    """Observed agreement (for alpha: disagreement)."""
    expected: float | None = None
    """Agreement (for alpha: disagreement) expected by chance."""
    why_not: str | None = None
    """Why there is no value."""
    interval: Interval | None = None


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
    """Sensitivity: of what humans found relevant, the share that the machine did too."""
    sensitivity_interval: Interval | None
    specificity: float | None
    """Specificity: of what humans found irrelevant, the share that the machine did too."""
    specificity_interval: Interval | None
    undecided: int = 0
    """Results on which human labels are tied; they are not counted."""


@dataclass(frozen=True)
class JudgeSummary(Plain):
    """What one judge did."""

    judge: str
    labelled: int
    skipped: int
    notes: int
    last: str | None
    """When the last entry was made."""
    shared: int
    """Results that somebody else labelled too."""
    same: float | None
    """Of these, the share of others' grades that are the same."""
    leaning: float | None
    """Of these, the mean difference from others' grades; below 0: stricter."""


@dataclass(frozen=True)
class Conflict(Plain):
    """An item on which judges differ, and the grade that counts."""

    item: PoolItem
    grades: Mapping[str, float]
    """By judge."""
    counts: float | None
    """The grade that counts; None for a tie, which is left out."""
    how: Counted
    final: LogEntry | None
    """The label that settles it, or settled it before a judge changed theirs."""
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
        return {
            "item": self.item.position,
            **{name: getattr(about, name) for name in ("query_id", "query", "text", "document")},
            "id": about.item,
            "grades": dict(self.grades),
            "counts": self.counts,
            "how": self.how,
            "final": plain(self.final),
            "notes": dict(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Plain, HasRows):
    """How far judges agree, and where they do not."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_agreement"
    dict_keys: ClassVar[str] = "judges judged shared alike coefficients conflicts left_out machines"

    judges: tuple[JudgeSummary, ...]
    judged: int
    """Results that somebody labelled."""
    shared: int
    """Results that at least two labelled."""
    alike: int
    """Of these, those with the same grade from all."""
    coefficients: tuple[Coefficient, ...]
    """Krippendorff's alpha over all judges, then Cohen's kappa per pair with ten shared results."""
    conflicts: tuple[Conflict, ...]
    """The largest difference first."""
    machines: tuple[MachineCheck, ...] = ()

    @property
    def left_out(self) -> int:
        """Results without a grade: a tie that nobody settled."""
        return sum(one.counts is None for one in self.conflicts)

    def standing(self, which: str) -> Sequence[Conflict]:
        """The conflicts of one standing."""
        return [one for one in self.conflicts if one.standing == which]


@dataclass(frozen=True)
class JudgeProgress(Plain):
    """The progress of a pool and of one judge."""

    dict_keys: ClassVar[str] = "judge items judged labelled skipped left per_minute minutes_left"

    judge: str
    items: int
    judged: int
    """Results with as many labels as they should have."""
    labelled: int
    """By this judge."""
    skipped: int
    left: int
    """Results that this judge can still be given."""
    per_minute: float | None
    """Labels per minute over the last few; None with fewer than two."""

    @property
    def minutes_left(self) -> float | None:
        """How long the rest takes this judge at this pace."""
        return None if not self.per_minute else self.left / self.per_minute


@dataclass(frozen=True)
class LabelEffect(Plain):
    """How the labels changed the watched metric of one run."""

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


@dataclass(frozen=True, repr=False)
class PoolChanged(Plain, ShowsItself):
    """A pool that was closed, opened again or deleted."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_change"

    pool: str
    change: str
    items: int


@dataclass(frozen=True, repr=False)
class Exported(Plain, ShowsItself):
    """Labels that were written, and how far those who gave them agree."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_export"
    dict_keys: ClassVar[str] = "files form queries targets labels left_out fingerprint agreement"

    files: tuple[str, ...]
    """None if only the agreement was asked for."""
    form: str
    queries: int
    targets: int
    labels: int
    """Items whose grade comes from the labels."""
    left_out: int
    """Items without a grade: a tie that nobody settled."""
    fingerprint: str | None
    """None if no ground truth was written."""
    agreement: Agreement | None = None

    @classmethod
    def of(cls, done: Any, found: Any, agreed: Agreement) -> "Exported":
        """A ground truth that ``convert`` wrote, and the labels in it."""
        truth = found.ground_truth
        counts = truth.queries.height, truth.targets.height, len(found.grades), found.left_out
        return cls(done.files, done.form, *counts, truth.fingerprint, agreed)


@dataclass(frozen=True, repr=False)
class Imported(Plain, ShowsItself):
    """Labels that were read from files into a pool."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_import"

    pool: str
    added: int
    known: int
    """Labels that the pool already had, or for which it had a later one of the same judge."""
    ungraded: int
    """Rows that nobody filled in."""
    judges: tuple[str, ...]


@dataclass(frozen=True)
class SampleLook(Plain):
    """What the sample says of one run at the last look."""

    run: str
    machine: float
    value: float
    interval: Interval
    people: float


@dataclass(frozen=True, repr=False)
class SampleState(Plain, HasRows):
    """A sample for human judges: its estimate, and how wide the interval is and will be."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_sample"
    dict_keys: ClassVar[str] = (
        "pool metric draw judged width next_look next_width enough left reached waiting looks "
        "machine claims"
    )

    pool: str
    metric: str
    draw: Draw
    judged: int
    """Queries (clusters) that humans judged completely."""
    width: float | None
    """Half the current width of the interval; None with fewer than two."""
    next_look: int | None
    next_width: float | None
    enough: int | None
    """The look at which it is, or should be, as narrow as asked; None if at none."""
    reached: bool
    waiting: str | None
    """A question that cannot count yet: skipped, or a tie."""
    looks: tuple[SampleLook, ...]
    """One for each run; none before the first look."""
    counted: int | None
    """The last look: later labels count from the next on."""
    machine: MachineCheck | None
    """The machine's ground truth against the human labels up to the last look."""

    @property
    def left(self) -> int | None:
        """About how many are left to judge."""
        return None if self.enough is None else max(self.enough - self.judged, 0)

    @property
    def unit(self) -> tuple[str, str]:
        """What is counted."""
        if self.draw.cluster is None:
            return "question", "questions"
        return "cluster of questions", "clusters of questions"

    @property
    def line(self) -> str:
        """The width now and next, and how many are left; no value, which a judge must not see."""
        judged = f"{self.judged:,} of {plural(self.draw.looks[-1], *self.unit)} judged"
        until = f"±{self.draw.until:g}"
        if self.reached:
            return f"{judged}: ±{self.width:.3f}, narrow enough ({until}). You may stop."
        now = "" if self.width is None else f": about ±{self.width:.3f} now"
        if self.next_look is not None and self.next_width is not None:
            now += f"; about ±{self.next_width:.3f} at {self.next_look:,}, the next look"
        if self.enough is None:
            return f"{judged}{now}; {until} will not be reached with these."
        return f"{judged}{now}; about {self.left:,} left until {until}."

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the sample says, in one claim."""
        if not self.looks:
            first = f"The first look is at {self.draw.looks[0]:,} judged."
            return (Claim("no clear difference", self.line, range=first),)
        one = max(self.looks, key=lambda look: look.interval.high - look.interval.low)
        of_run = f" of {one.run}" if len(self.looks) > 1 else ""
        seen = (
            f"{self.metric}{of_run} is {number(one.value)} ({number(one.interval.low)}–"
            f"{number(one.interval.high)}) by {self.counted:,} {self.unit[1]}, "
            f"{number(one.machine)} by the machine alone."
        )
        if self.reached:
            fact = f"Narrow enough (±{self.draw.until:g}): {seen}"
            return (Claim("passed", fact, next=self._next),)
        fact = f"Not narrow enough yet: {seen}"
        return (Claim("no clear difference", fact, range=self.line, next=self._next),)

    @property
    def _next(self) -> str | None:
        if self.waiting is not None:
            return self.waiting
        if self.reached:
            export = join_words(["calipers", "labels", "export", self.pool, "-o", "people.jsonl"])
            return f"Next: `{export}`; then `calipers eval` takes --corrected-by people.jsonl."
        return f"Go on: {join_words(['calipers', 'serve', '--pool', self.pool])}"
