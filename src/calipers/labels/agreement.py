"""How far judges agree beyond chance, where they do not, and which grade counts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from calipers.model.arrays import Bools, Floats
from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.model.labels import is_machine
from calipers.model.result import HasRows, Plain, plain
from calipers.model.scores import Interval
from calipers.present.escape import printable
from calipers.statistics.agreement_interval import (
    Agreed,
    agreement_interval,
    cohen_kappa,
    krippendorff_alpha,
)
from calipers.statistics.score_interval import wilson
from calipers.store.pool import LabelState, LogEntry, PoolItem
from calipers.words import plural

Counted = Literal["one", "agreed", "majority", "tie", "final"]
"""How the labels of an item became one grade; a tie leaves it out."""
Standing = Literal["open", "counted", "settled"]
"""An open conflict is a tie, or was settled before a judge changed their label."""
LEAST_SHARED = 10
"""The smallest number of results that two judges must share for a coefficient."""
CONFIDENCE = 0.95
ONE_GRADE = "only one grade was used"
STRENGTHS = ((0.8, "well"), (0.6, "fairly well"), (0.4, "in part"))
"""Thresholds of alpha with the words for them; below the last, judges hardly agree."""
WEAKEST = "hardly"
LONGEST, MOST_ROWS, EXAMPLES = 64, 11, 3
"""The characters of a text, the coefficients and the disagreements that are printed."""


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


def coefficients(table: Floats, judges: Sequence[str]) -> tuple[Coefficient, ...]:
    """Alpha over all judges and kappa for each pair with ten shared results or more.

    The table has one row per judged item and one column per judge; NaN is a missing label.
    """
    if len(judges) < 2:
        return ()
    # Alpha ignores who gave which grade, so far fewer distinct rows remain.
    every = np.sort(table, axis=1)
    found = [_measured("Krippendorff's alpha, ordinal", judges, every, krippendorff_alpha)]
    for a, b in combinations(range(len(judges)), 2):
        names = (judges[a], judges[b])
        found.append(_measured("Cohen's kappa", names, table[:, [a, b]], cohen_kappa))
    return tuple(one for one in found if one.n >= LEAST_SHARED)


def _measured(
    name: str, judges: Sequence[str], table: Floats, measure: Callable[[Floats], Agreed]
) -> Coefficient:
    one, ends = measure(table), None
    if one.n >= LEAST_SHARED:
        ends = agreement_interval(table, lambda some: measure(some).value, CONFIDENCE)
    interval = ends and Interval(*ends, CONFIDENCE, "jackknife")
    why_not = ONE_GRADE if one.value is None else None
    return Coefficient(name, tuple(judges), *one, why_not, interval)


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
    undecided: int = 0
    """Results on which human labels are tied; they are not counted."""


def compare_with_people(
    judge: str, machine: Bools, people: Bools, confidence: float = CONFIDENCE, undecided: int = 0
) -> MachineCheck:
    """Compare a machine's relevant labels with those of human annotators."""
    pairs = (machine & people, ~machine & people, machine & ~people, ~machine & ~people)
    both, missed, invented, neither = (int(np.count_nonzero(pair)) for pair in pairs)

    def share(count: int, n: int) -> tuple[float | None, Interval | None]:
        ends = wilson(count, n, confidence)
        return (count / n, Interval(*ends, confidence, "wilson")) if ends else (None, None)

    found = (*share(both, both + missed), *share(neither, neither + invented))
    return MachineCheck(judge, both, missed, invented, neither, *found, undecided)


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
        return {who: one.grade for who, one in self.labels.items() if one.grade is not None}


def decide(state: LabelState, item: int, *, machines: bool = False) -> Decision | None:
    """Return the final or the majority grade of an item; None without any label.

    Labels of language models count only with ``machines``.
    """
    labels = {
        who: one for who, one in state.labels(item).items() if machines or not is_machine(who)
    }
    final = state.final(item)
    if final is not None:
        return Decision(labels, final.grade, "final", final)
    if not labels:
        return None
    counted = Counter(one.grade for one in labels.values()).most_common()
    reopened = state.reopened(item)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return Decision(labels, None, "tie", reopened)
    how: Counted = "majority" if len(counted) > 1 else "agreed" if len(labels) > 1 else "one"
    return Decision(labels, counted[0][0], how, reopened)


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
        about, keys = self.item.label, ("grades", "counts", "how", "final", "notes")
        names = ("query_id", "query", "text", "document")
        said = {name: getattr(about, name) for name in names}
        result = {key: plain(getattr(self, key)) for key in keys}
        return {"item": self.item.position, **said, "id": about.item, **result}


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
class Agreement(Plain, HasRows):
    """How far judges agree, and where they do not."""

    shown_by: ClassVar[str] = "calipers.labels.agreement"
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


def agreement(items: Sequence[PoolItem], state: LabelState) -> Agreement:
    """How far the judges of some items agree; language models are compared with humans."""
    decided = {item: one for item in state.touched() if (one := decide(state, item)) is not None}
    grades = {item: one.grades for item, one in decided.items() if one.labels}
    people = list(dict.fromkeys(who for said in grades.values() for who in said))
    shared = [said for said in grades.values() if len(said) > 1]
    table = np.array([[said.get(who, np.nan) for who in people] for said in grades.values()])
    conflicts = (
        Conflict(one.labels, one.counts, one.how, one.final, items[item], state.notes(item))
        for item, one in decided.items()
        if len(set(one.grades.values())) > 1 or (one.how == "final" and one.grades)
    )
    said = {name: state.of_judge(name) for name in state.judges()}
    judges = [
        one for one in said if not is_machine(one) and {e.kind for e in said[one]} != {"final"}
    ]
    checks = (_machine(name, state, decided) for name in said if is_machine(name))
    return Agreement(
        tuple(_summary(one, state) for one in judges),
        len(grades),
        len(shared),
        sum(len(set(one.values())) == 1 for one in shared),
        coefficients(table, people) if people else (),
        tuple(
            sorted(conflicts, key=lambda one: min(one.grades.values()) - max(one.grades.values()))
        ),
        tuple(found for found in checks if found is not None),
    )


def _summary(judge: str, state: LabelState) -> JudgeSummary:
    entries = state.of_judge(judge)
    given = [state.current(item, judge) for item in {one.item for one in entries}]
    kinds = Counter(one.kind for one in given if one is not None)
    notes = len({one.item for one in entries if one.note})
    return JudgeSummary(judge, kinds["label"], kinds["skip"], notes, entries[-1].saved)


def _machine(name: str, state: LabelState, decided: Mapping[int, Decision]) -> MachineCheck | None:
    """Compare a machine with the human grade, on items that both labelled."""
    said = [(state.current(item, name), one.counts) for item, one in decided.items()]
    both = [(one.grade, grade) for one, grade in said if one is not None and one.grade is not None]
    used = np.array([(mine > 0, theirs > 0) for mine, theirs in both if theirs is not None])
    if not len(used):
        return None
    return compare_with_people(name, used[:, 0], used[:, 1], undecided=len(both) - len(used))


def verdict(found: Agreement) -> str:
    """How well the judges agree, worded by the interval of alpha."""
    if len([one for one in found.judges if one.labelled]) < 2:
        return "One judge alone: there is nobody to agree with."
    seen = f"the same grade on {found.alike:,} of {plural(found.shared, 'shared result')}"
    if not found.shared:
        return "No result was labelled by two judges yet."
    if not found.coefficients:
        return f"Judges gave {seen}; a coefficient needs {LEAST_SHARED}."
    first = found.coefficients[0]
    if first.value is None or first.interval is None:
        return f"Judges gave {seen}; a coefficient cannot be said: {first.why_not or 'too few'}."
    low, high = (
        next((words for least, words in STRENGTHS if end >= least), WEAKEST)
        for end in (first.interval.low, first.interval.high)
    )
    words = "The judges hardly agree" if low == WEAKEST else f"The judges agree {low}"
    if low != high:
        sure = low != WEAKEST
        words = f"The judges agree at least {low}" if sure else "How far judges agree is not clear"
    ends = f"{first.interval.low:.3f}–{first.interval.high:.3f}"
    return f"{words}: alpha is {first.value:.3f} ({ends}), {seen}.".replace("-", "−")


def document(found: Agreement) -> Document:
    """How far the judges agree, and where they do not."""
    blocks: list[Block] = []
    if found.coefficients:
        names = (Column("measure", words=True), Column("judges", words=True))
        left = len(found.coefficients) - MOST_ROWS
        more = f"… and {left:,} pairs of judges in the JSON" if left > 0 else ""
        rows = [
            [*_coefficient(one, not at)] for at, one in enumerate(found.coefficients[:MOST_ROWS])
        ]
        blocks.append(Table((*names, "value", "interval", "results"), rows, more=more))
    blocks += map(machine_table, found.machines)
    if found.conflicts:
        title = f"Judges differ on {len(found.conflicts):,} of {plural(found.shared, 'result')}"
        blocks.append(Lines([*_conflicts(found.conflicts)], title))
    return Document(
        verdict(found), blocks=blocks, notes=[*_notes(found)], rows=lambda: found.coefficients
    )


def _coefficient(one: Coefficient, of_all: bool) -> Iterator[str]:
    yield one.name
    judges = " – ".join(printable(name, 30) for name in one.judges)
    yield f"all {len(one.judges)}" if of_all else judges
    yield "none" if one.value is None else f"{one.value:.3f}".replace("-", "−")
    ends = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else ""
    yield ends.replace("-", "−")
    yield f"{one.n:,}"


def machine_table(machine: MachineCheck) -> Table:
    """How well a machine's labels match those of human annotators."""
    relevant, others = machine.both + machine.missed, machine.neither + machine.invented
    found = (
        ("relevant", relevant, machine.sensitivity, machine.sensitivity_interval),
        ("not relevant", others, machine.specificity, machine.specificity_interval),
    )
    rows = []
    for words, n, value, ends in found:
        share = "none" if value is None else f"{value:.0%}"
        rows.append((words, f"{n:,}", share, f"{ends.low:.0%}–{ends.high:.0%}" if ends else ""))
    heads = (Column("to people", words=True), "results", "the same to the machine", "interval")
    return Table(heads, rows, title=f"{printable(machine.judge, 40)} against people")


def _conflicts(some: Sequence[Conflict]) -> Iterator[str]:
    for one in some[:EXAMPLES]:
        about = one.item.label
        yield printable(about.query or about.query_id, LONGEST)
        text = printable(" ".join((about.text or "").split()), LONGEST)
        named = ", ".join(printable(part, 40) for part in (about.item, about.title) if part)
        yield "  " + ": ".join(filter(None, (named, f"“{text}”" if text else "")))
        grades = (f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        yield f"  {', '.join(grades)}. {printable(one.verdict)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _notes(found: Agreement) -> Iterator[Note]:
    if found.left_out:
        yield Note("missing", f"{plural(found.left_out, 'result')} left out as a tie: settle them.")
    judges = [
        f"{printable(one.judge, LONGEST)}: {plural(one.labelled, 'label')}"
        + (f", {one.skipped:,} skipped" if one.skipped else "")
        for one in found.judges
    ]
    if judges:
        yield Note("doubt", f"{'; '.join(judges)}.")
    if found.coefficients:
        yield Note("marks", "1 is full agreement, 0 what chance gives.")
        yield Note("method", "The interval is that of the jackknife over the results.")
