"""What a history answers: its evaluations, their lines over time, and whether they got worse."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal

from calipers.model.claim import Claim, p_text
from calipers.model.evaluation import Evaluation
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Scores
from calipers.questions.gate.result import WorstQuery

Standing = Literal["worse", "no clear difference", "passed"]


@dataclass(frozen=True, repr=False)
class History(Plain, HasRows):
    """Saved evaluations, newest first."""

    dict_keys: ClassVar[str] = "place total metrics evaluations"
    shown_by: ClassVar[str] = "calipers.questions.history.document:history"

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown(HasRows):
    """One saved evaluation with everything in it."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:shown"

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}


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
    """One metric over time, over all queries or those with one value of a tag."""

    metric: str
    tag: str | None
    value: str | None
    points: tuple[Point, ...]
    """Oldest first."""


@dataclass(frozen=True)
class Mark:
    """An evaluation before which something changed that makes numbers hard to compare."""

    id: str
    saved: datetime
    what: tuple[str, ...]
    """ground truth, corpus."""


@dataclass(frozen=True, repr=False)
class Trend(Plain, HasRows):
    """The lines of one name, and where they must not be read across."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:trend"

    name: str
    metrics: tuple[str, ...]
    by: str | None
    evaluations: int
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, kw_only=True)
class AlarmReference:
    """The first evaluations of a name, and how far the latest was asked for the same."""

    evaluations: tuple[str, ...]
    """The ids, oldest first."""
    oldest: datetime
    newest: datetime
    left_out: int
    """Evaluations among the first that rang or clearly lost when they came."""
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
    standing: Standing
    n: int
    """Queries that are compared."""
    allow: float
    """The loss that does not ring."""
    before: float | None = None
    """The mean of the reference over the compared queries."""
    now: float | None = None
    """The same of the latest."""
    over: int = 1
    """How many evaluations, up to the latest, are looked at together here."""
    recent: float | None = None
    """Their mean: that of the latest where it is looked at alone."""
    lost: int = 0
    """Queries that are worse than their mean in the reference."""
    gained: int = 0
    p: float | None = None
    """Small where there is a loss; none where what was lost is no more than is allowed."""
    larger: bool = False
    """Whether the loss is shown to be larger than is allowed."""
    level: float | None = None
    """It rings at a p up to this."""
    possible: float | None = None
    """The largest loss that is not ruled out (95%, one-sided)."""
    since: datetime | None = None
    """The first of the evaluations up to the latest that all lost more than is allowed."""
    whole_now: float | None = None
    """The mean over all queries of the latest, compared or not."""
    whole_before: float | None = None
    worst: tuple[WorstQuery, ...] = ()

    @property
    def rings(self) -> bool:
        """Whether it raises the alarm."""
        return self.standing == "worse"

    @property
    def where(self) -> str:
        """The metric, and the slice where there is one."""
        return self.metric + (f" for {self.slice}" if self.slice else "")

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

    @property
    def claim(self) -> Claim:
        """What was seen since the reference, and whether that is a loss beyond what is allowed."""
        if self.before is None or self.recent is None:
            return Claim(self.standing, f"{self.where}: no query can be compared (not tested)")
        over = f" over the last {self.over} evaluations" if self.over > 1 else ""
        seen = (
            f"{self.where} {self.before:.3f} → {self.recent:.3f}{over}: {self.lost:,} lost, "
            f"{self.gained:,} gained of {self.n:,} since the reference"
        )
        possible = None
        if self.possible:
            possible = f"A loss of up to {self.possible:.3f} is not ruled out."
        return Claim(self.standing, f"{seen} ({self._shown()})", possible, self._next())

    def _shown(self) -> str:
        if self.rings:
            return f"a loss of more than {self.allow:g} is shown, {p_text(self.p or 0.0)}"
        if self._too_few:
            return f"{self.n} queries are too few to show a loss"
        if self.p is not None and self.p <= (self.level or 0.0):
            return f"a loss is shown, {p_text(self.p)}, but not one of more than {self.allow:g}"
        if self.p is not None:
            return f"not shown at the level of the alarm, {p_text(self.p)}"
        if self.standing == "no clear difference":
            return f"many more lost than gained, though the mean lost no more than {self.allow:g}"
        if self.before == self.recent:
            return "no change of the mean"
        return f"no loss of more than {self.allow:g}"

    @property
    def _too_few(self) -> bool:
        return self.level is not None and 0.5**self.n > self.level

    def _next(self) -> str | None:
        if self.standing != "no clear difference" or self.level is None:
            return None
        if self._too_few:
            needed = math.ceil(-math.log2(self.level))
            return f"Ask at least {needed} queries: with fewer no loss, however large, can ring."
        return f"Look at the queries that lost; it rings at p ≤ {self.level:.2g}."

    def to_dict(self) -> dict[str, Any]:
        """The check as plain values, with what follows from them."""
        more = {"difference": self.difference, "by_ground_truth": self.by_ground_truth}
        return {**super().to_dict(), **more, "claim": self.claim.to_dict()}


@dataclass(frozen=True, kw_only=True, repr=False)
class Alarm(Plain, HasRows):
    """Whether evaluations have become worse than the reference period, in what and since when."""

    shown_by: ClassVar[str] = "calipers.questions.history.document:alarm"

    name: str
    id: str
    saved: datetime
    commit: str | None
    branch: str | None
    reference: AlarmReference | None = None
    """None where there is one evaluation alone."""
    nights: int = 0
    """Evaluations that are no reference, the latest among them."""
    checks: tuple[AlarmCheck, ...] = ()
    """Those that matter most first."""
    warnings: tuple[str, ...] = ()
    """What changed beside the retriever."""
    notes: tuple[str, ...] = ()
    allow: float
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
        return tuple(check for check in self.checks if check.rings)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is said, the most important first."""
        if self.reference is None:
            seen = f"{self.name} has one evaluation, and nothing to compare it with"
            fact = f"{seen} (the alarm answers from the second on)"
            return (Claim("no clear difference", fact),)
        return tuple(check.claim for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        claims = [claim.to_dict() for claim in self.claims]
        return {"raised": self.raised, "claims": claims, **super().to_dict()}
