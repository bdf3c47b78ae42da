"""How far a drawn sample is, what it says at its last look, how good the machine's labels are."""

from dataclasses import dataclass
from typing import ClassVar

from calipers.model.claim import Claim, p_text
from calipers.model.labels import Draw
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.shell import join_words
from calipers.words import number, plural


@dataclass(frozen=True)
class JudgeAgreement(Plain):
    """The machine's labels beside people's, on the results that people judged."""

    where: str | None
    """A slice as tag=value; None: the whole sample."""
    questions: int
    results: int
    same: float
    """The share that both call relevant, or both do not."""
    interval: Interval | None
    invented: int
    """Relevant to the machine alone."""
    missed: int
    """Relevant to people alone."""
    p: float | None
    """Of the test whether it errs one way, over all looks; None where nothing differs."""

    @property
    def claim(self) -> Claim:
        """Whether the machine errs one way."""
        ends = self.interval
        reach = f" ({number(ends.low)}–{number(ends.high)})" if ends else ""
        seen = (
            f"machine and people agree on {number(self.same)}{reach} of "
            f"{plural(self.results, 'result')}; {self.invented:,} relevant to the machine alone, "
            f"{self.missed:,} to people alone"
        )
        if self.p is None or self.p > 0.05:
            tested = "" if self.p is None else f" ({p_text(self.p)})"
            return Claim("no clear difference", f"No clear bias of the machine: {seen}{tested}.")
        way = "generous" if self.invented > self.missed else "strict"
        return Claim("worse", f"The machine is too {way}: {seen} ({p_text(self.p)}).")


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
    """A sample that people judge: how wide the interval is, will be, and what it says."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_sample"
    dict_keys: ClassVar[str] = (
        "pool metric draw judged width next_look next_width enough left reached waiting looks "
        "agreement slices claims"
    )

    pool: str
    metric: str
    draw: Draw
    judged: int
    """Queries (clusters) that people judged whole, in the order of the draw without a gap."""
    width: float | None
    """How far the interval reaches to either side now; None below two."""
    next_look: int | None
    next_width: float | None
    enough: int | None
    """The look at which it is, or should be, as narrow as asked; None: at none."""
    reached: bool
    waiting: str | None
    """What keeps the next question from being counted: skipped, or judges differ."""
    looks: tuple[SampleLook, ...]
    """One for each run; none before the first look."""
    counted: int | None
    """The last look: later labels count from the next on."""
    agreement: JudgeAgreement | None
    slices: tuple[JudgeAgreement, ...]

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
        """How wide, how wide next, how many are left; no value, which a judge must not see."""
        judged = f"{self.judged:,} of {plural(self.draw.looks[-1], *self.unit)} judged"
        if self.reached:
            return (
                f"{judged}: ±{self.width:.3f}, narrow enough (±{self.draw.until:g}). You may stop."
            )
        now = "" if self.width is None else f": about ±{self.width:.3f} now"
        then = ""
        if self.next_look is not None and self.next_width is not None:
            then = f"; about ±{self.next_width:.3f} at {self.next_look:,}, the next look"
        if self.enough is None:
            left = f"; ±{self.draw.until:g} will not be reached with these"
        else:
            left = f"; about {self.left:,} left until ±{self.draw.until:g}"
        return f"{judged}{now}{then}{left}."

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What matters most first."""
        return (self._claim, *([] if self.agreement is None else [self.agreement.claim]))

    @property
    def _claim(self) -> Claim:
        if not self.looks:
            first = self.draw.looks[0]
            return Claim(
                "no clear difference", self.line, range=f"The first look is at {first:,} judged."
            )
        one = max(self.looks, key=lambda look: look.interval.high - look.interval.low)
        of_run = f" of {one.run}" if len(self.looks) > 1 else ""
        seen = (
            f"{self.metric}{of_run} is {number(one.value)} ({number(one.interval.low)}–"
            f"{number(one.interval.high)}) by {self.counted:,} {self.unit[1]}, "
            f"{number(one.machine)} by the machine alone."
        )
        if self.reached:
            fact = f"Narrow enough (±{self.draw.until:g}): {seen}"
            return Claim("passed", fact, next=self._next)
        fact = f"Not narrow enough yet: {seen}"
        return Claim("no clear difference", fact, range=self.line, next=self._next)

    @property
    def _next(self) -> str | None:
        if self.waiting is not None:
            return self.waiting
        if self.reached:
            export = join_words(["calipers", "labels", "export", self.pool, "-o", "people.jsonl"])
            return (
                f"Next: `{export}`; then eval, compare and gate take --corrected-by people.jsonl."
            )
        return f"Go on: {join_words(['calipers', 'serve', '--pool', self.pool])}"
