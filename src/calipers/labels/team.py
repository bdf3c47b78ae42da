"""What a lead looks at: who did how much, how each agrees with the others, and what is left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calipers.labels.desk import Desk
from calipers.labels.result import JudgeProgress
from calipers.model.labels import is_machine
from calipers.model.result import Plain
from calipers.store.pool import LogEntry, PoolItem


@dataclass(frozen=True)
class JudgeSummary(Plain):
    """One judge of a pool."""

    progress: JudgeProgress
    last: str | None
    """When the last label was given."""
    shared: int
    """Results that somebody else labelled too."""
    same: float | None
    """Of these, the share of others' grades that are the same."""
    leaning: float | None
    """Of these, how far the judge's grades lie above those of others; below 0: stricter."""
    notes: int


@dataclass(frozen=True)
class TeamSummary(Plain):
    """A pool, its judges, and what is left to do."""

    judges: tuple[JudgeSummary, ...]
    items: int
    unjudged: int
    """Results that nobody has labelled."""
    conflicts: int
    """Results on which judges differ and that nobody settled."""
    minutes_left: float | None
    """How long the slowest needs at their pace; None where somebody has none yet."""


def team(desk: Desk) -> TeamSummary:
    """Who did how much in a pool, and what is left."""
    state = desk.state()
    grades: dict[int, dict[str, float]] = {}
    for one in state.labels():
        if not is_machine(one.judge) and one.grade is not None:
            grades.setdefault(one.item, {})[one.judge] = one.grade
    judges = tuple(_summary(desk, judge, grades) for judge in desk.judges)
    working = [one.progress for one in judges if one.progress.remaining]
    times = [one.minutes_left for one in working]
    return TeamSummary(
        judges,
        len(desk.items),
        len(desk.items) - len(grades),
        sum(
            len(set(given.values())) > 1 and state.settled(item) is None
            for item, given in grades.items()
        ),
        max((one for one in times if one is not None), default=None) if all(times) else None,
    )


def _summary(desk: Desk, judge: str, grades: Mapping[int, Mapping[str, float]]) -> JudgeSummary:
    pairs = [
        (given[judge], [grade for who, grade in given.items() if who != judge])
        for given in grades.values()
        if judge in given and len(given) > 1
    ]
    n = len(pairs)
    entries = desk.known.of_judge(judge)
    return JudgeSummary(
        desk.progress(judge),
        entries[-1].saved if entries else None,
        n,
        sum(others.count(own) / len(others) for own, others in pairs) / n if n else None,
        sum(own - sum(others) / len(others) for own, others in pairs) / n if n else None,
        len({one.item for one in entries if one.note}),
    )


@dataclass(frozen=True)
class OwnLabel:
    """A label or a skip of a judge, and what it is about."""

    item: PoolItem
    entry: LogEntry
    note: str | None


def own_labels(desk: Desk, judge: str, text: str = "", grade: str = "") -> Sequence[OwnLabel]:
    """What a judge said, the latest first; those with some words, or of one grade.

    ``grade`` is a number, "skip", or "note" for those with one.
    """
    state, wanted = desk.state(), text.casefold()
    found = []
    for item in desk.items:
        entry, note = state.current(item.position, judge), state.note(item.position, judge)
        if entry is None:
            continue
        said = "skip" if entry.kind == "skip" else f"{entry.grade:g}"
        words = f"{item.label.words}\n{note}".casefold()
        if grade in ("", said, "note" if note else said) and wanted in words:
            found.append(OwnLabel(item, entry, note))
    return sorted(found, key=lambda one: -one.entry.number)
