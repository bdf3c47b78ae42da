"""Results of history: its evaluations, their lines over time, and whether they got worse."""

from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar, Literal

from calipers.frozen import dataclass
from calipers.model.claim import Claim
from calipers.model.evaluation import Evaluation
from calipers.model.fact import named, sentence
from calipers.model.result import HasRows, Plain, sentences_of
from calipers.model.scores import Scores
from calipers.questions.compare.result import Difference
from calipers.questions.gate.result import WorstQuery
from calipers.statistics.nights import Look

Standing = Literal["failed", "no clear difference", "passed"]


@dataclass(frozen=True, repr=False)
class History(Plain, HasRows):
    """Saved evaluations, newest first."""

    dict_keys: ClassVar[str] = "place total metrics evaluations"
    shown_by: ClassVar[str] = "calipers.questions.history.document:history"

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """The metrics to list: those asked for, or the main ones."""
    total: int
    """The number of evaluations in the history, listed or not."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown(HasRows):
    """One saved evaluation with everything in it."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:shown"

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, with the metadata of the evaluation."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept, **sentences_of(self)}


@dataclass(frozen=True)
class Point:
    """One evaluation on a line."""

    id: str
    saved: datetime
    commit: str | None
    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Line:
    """One metric over time."""

    metric: str
    points: tuple[Point, ...]
    """Oldest first."""


@dataclass(frozen=True)
class Mark:
    """An evaluation before which the ground truth or the corpus changed."""

    id: str
    saved: datetime
    what: tuple[str, ...]
    """What changed: ground truth, corpus."""


@dataclass(frozen=True)
class AlarmReference:
    """The evaluations that the latest is compared with."""

    evaluations: tuple[str, ...]
    """The ids, oldest first."""
    best: str | None
    """The id of the one that represents them all if there is no noise."""
    oldest: datetime
    newest: datetime


@dataclass(frozen=True, kw_only=True)
class AlarmCheck(Plain):
    """One metric against the reference."""

    metric: str
    standing: Standing
    claim: Claim
    """The change since the reference, in the words of `compare`."""
    change: Difference | None = None
    """The latest, or the last seven if these raise the alarm, against the reference; None
    where no query can be compared."""
    look: Look | None = None
    """Which test raised the alarm; None: no alarm."""
    noisy: bool = False
    """Whether there is noise: some queries changed, and changed back."""
    reference: AlarmReference | None = None
    lost: tuple[WorstQuery, ...] = ()
    """The queries that lost most."""

    @property
    def rings(self) -> bool:
        """Whether it raises the alarm."""
        return self.look is not None

    def to_dict(self) -> dict[str, Any]:
        """The check as plain values, and whether it raises the alarm."""
        return {**super().to_dict(), "rings": self.rings}


@dataclass(frozen=True, kw_only=True, repr=False)
class Alarm(Plain, HasRows):
    """The lines of one name over time, and whether the latest is worse than the reference."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:alarm"

    name: str
    id: str
    saved: datetime
    commit: str | None
    branch: str | None
    evaluations: int
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]
    checks: tuple[AlarmCheck, ...] = ()
    """The most important checks first."""
    missing: datetime | None = None
    """Since when the next evaluation is overdue; None: none is missing."""
    unchecked: str | None = None
    """Why the latest could not be checked."""
    notes: tuple[str, ...] = ()
    allow: float
    calipers: str

    @property
    def raised(self) -> bool:
        """Whether anything has got worse."""
        return any(check.rings for check in self.checks)

    @property
    def exit_code(self) -> int:
        """1 for an alarm, 2 if an evaluation is missing or cannot be checked, else 0."""
        if self.raised:
            return 1
        return 2 if self.missing is not None or self.unchecked else 0

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims, most important first."""
        claims = [check.claim for check in self.checks]
        if self.missing is not None:
            fact = sentence(
                "No evaluation of {name.text} since {when.text} UTC.",
                name=named(self.name),
                when=named(f"{self.saved:%Y-%m-%d %H:%M}"),
            )
            further = "Run it again, or say how often it runs: --every 7d"
            # A loss that is still there matters more.
            claims.insert(int(self.raised), Claim("failed", fact, next=further))
        if self.unchecked:
            claims.append(Claim("no clear difference", self.unchecked))
        if not claims:
            fact = sentence(
                "{name.text} has one evaluation, and nothing to compare it with.",
                name=named(self.name),
            )
            claims.append(Claim("no clear difference", fact))
        return tuple(claims)

    def drawn(self, most: int) -> "Alarm":
        """The same answer, with lines of the latest ``most`` evaluations alone.

        The verdict rests on all of them: a reference that is older than what a page has
        room for still counts.
        """
        saved = {point.id: point.saved for line in self.lines for point in line.points}
        last = set(sorted(saved, key=lambda one: saved[one])[-most:])
        lines = tuple(
            replace(
                line, points=tuple(point for point in line.points if point.id in last)
            )
            for line in self.lines
        )
        first = min(saved[one] for one in last) if last else None
        marks = tuple(mark for mark in self.marks if first and mark.saved > first)
        return replace(self, lines=lines, marks=marks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        claims = [claim.to_dict() for claim in self.claims]
        verdict = {"raised": self.raised, "exit_code": self.exit_code, "claims": claims}
        return {**verdict, **super().to_dict()}


def day(moment: datetime, latest: datetime) -> str:
    """A day in words, with the year if it differs from that of the latest.

    >>> day(datetime(2019, 11, 3), datetime(2020, 1, 5))
    '3 November 2019'
    """
    year = "" if moment.year == latest.year else f" {moment.year}"
    return f"{moment.day} {moment:%B}{year}"
