"""A pool of what is to be judged, and the log of what judges said, as values."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from calipers.model.labels import Draw, Label, QueueOrder, TargetsAs
from calipers.model.result import HasRows, Plain

JudgeKind = Literal["label", "skip", "note", "settle", "undo"]
"""What a judge does. Nothing is ever overwritten: an undo is an entry too."""
PoolChange = Literal["close", "reopen", "delete"]
"""What is done to a pool as a whole; it stands in the log as well."""
EntryKind = JudgeKind | PoolChange
KINDS: tuple[str, ...] = get_args(JudgeKind)
CHANGES: tuple[str, ...] = get_args(PoolChange)
ORDERS: tuple[str, ...] = get_args(QueueOrder)
SCALES: Mapping[str, tuple[float, ...]] = {"0-3": (0, 1, 2, 3), "yes/no": (0, 1)}
"""The grades that a judge can give, by the name of the scale."""
GRADE_NAMES: Mapping[str, tuple[str, ...]] = {
    "0-3": ("useless", "touches it", "helps", "answers it"),
    "yes/no": ("no", "yes"),
}
"""What the grades are called, by the name of the scale."""


@dataclass(frozen=True)
class GradeStep:
    """One grade of a scale, and what it is called."""

    grade: float
    name: str


@dataclass(frozen=True)
class Assignment:
    """A slice of the questions that some judges alone are given."""

    tag: str
    value: str
    judges: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """How a pool is judged, fixed when it is made."""

    metric: str = "ndcg@10"
    """The metric that judges watch move."""
    scale: str = "0-3"
    order: QueueOrder = "moves"
    overlap: float = 0.2
    """The share of questions that every judge gets; the others go to one judge each."""
    depth: int = 10
    seed: int = 0
    guidelines: str = ""
    targets_as: TargetsAs = "id"
    match: str | None = None
    """How the ground truth is matched; None: the data says."""
    level: str | None = None
    rel: float | None = None
    sample: Draw | None = None
    """Where the questions are a sample that was drawn, in the order of the items."""
    assigned: tuple[Assignment, ...] = ()
    """Slices whose questions some of the judges alone are given."""
    steps: tuple[GradeStep, ...] = ()
    """The grades of a scale of one's own."""

    @property
    def grades(self) -> tuple[float, ...]:
        """The grades that can be given."""
        return tuple(one.grade for one in self.steps) or SCALES[self.scale]

    @property
    def grade_names(self) -> tuple[str, ...]:
        """What the grades are called, in the order of ``grades``."""
        return tuple(one.name for one in self.steps) or GRADE_NAMES[self.scale]


@dataclass(frozen=True, kw_only=True)
class LogEntry(Plain):
    """One line of the log."""

    dict_keys: ClassVar[str] = "number item judge kind saved grade quote quote_start note undoes"

    number: int
    item: int
    """The position of the item in its pool."""
    judge: str
    kind: EntryKind
    saved: str
    grade: float | None = None
    quote: str | None = None
    """The part that was marked in the text."""
    quote_start: int | None = None
    """Where it begins, in characters of the text: a phrase may stand there twice."""
    note: str | None = None
    undoes: int | None = None
    request: str | None = field(default=None, repr=False)
    """What the sender calls it: sent twice, it is kept once."""


@dataclass(frozen=True)
class PoolItem:
    """One question and one result to judge."""

    position: int
    share: int | None
    """Whose it is: the number of a judge; None: everybody's."""
    label: Label

    @property
    def key(self) -> str:
        """What tells it from any other item, also of another pool: by it a page says what it shows.

        >>> len(PoolItem(0, None, Label("q1", item="c7")).key)
        16
        """
        one = self.label
        words = "\x00".join(f"{part}" for part in (one.query_id, one.item, one.document, one.text))
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


class LabelState:
    """What holds after a log was read: the latest entry that nobody took back."""

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        self.last = 0
        self.labelled = 0
        """The last entry that gave a label or took something back."""
        self._given: dict[tuple[int, str], list[LogEntry]] = {}
        self._settled: dict[int, list[LogEntry]] = {}
        self._notes: dict[tuple[int, str], list[LogEntry]] = {}
        self._by_judge: dict[str, list[LogEntry]] = {}
        self._entries: dict[int, LogEntry] = {}
        self.taken_back: dict[int, LogEntry] = {}
        """What was undone, by its number."""
        self.add(entries)

    def add(self, entries: Iterable[LogEntry]) -> None:
        """Read on in the log."""
        for one in entries:
            self.last = max(self.last, one.number)
            if one.kind in CHANGES:
                continue
            if one.kind not in ("note", "settle"):
                self.labelled = self.last
            if one.kind == "undo":
                self._take_back(one.undoes)
                continue
            self._entries[one.number] = one
            self._by_judge.setdefault(one.judge, []).append(one)
            self._stack(one).append(one)

    def _stack(self, one: LogEntry) -> list[LogEntry]:
        if one.kind == "settle":
            return self._settled.setdefault(one.item, [])
        notes = self._notes if one.kind == "note" else self._given
        return notes.setdefault((one.item, one.judge), [])

    def _take_back(self, number: int | None) -> None:
        entry = self._entries.pop(number or 0, None)
        if entry is not None:
            self.taken_back[entry.number] = entry
            self._stack(entry).remove(entry)
            self._by_judge[entry.judge].remove(entry)

    def current(self, item: int, judge: str) -> LogEntry | None:
        """The label or the skip of a judge that holds."""
        stack = self._given.get((item, judge))
        return stack[-1] if stack else None

    def note(self, item: int, judge: str) -> str | None:
        """What a judge wrote beside an item."""
        stack = self._notes.get((item, judge))
        given = self.current(item, judge)
        return stack[-1].note if stack else given.note if given else None

    def notes(self, item: int) -> dict[str, str]:
        """What judges wrote beside an item, by judge."""
        found = {judge: self.note(item, judge) for judge in list(self._by_judge)}
        return {judge: note for judge, note in found.items() if note}

    def held(self) -> Iterator[tuple[LogEntry, str | None]]:
        """Everything that holds, by item and judge, with what was written beside it."""
        for item, judge in sorted({*self._given, *self._notes}):
            one, notes = self.current(item, judge), self._notes.get((item, judge))
            if one is not None or notes:
                yield one or notes[-1], self.note(item, judge)  # type: ignore[index]
        for stack in list(self._settled.values()):
            yield from ((one, one.note) for one in stack[-1:])

    def settled(self, item: int) -> LogEntry | None:
        """The label that settles a conflict."""
        stack = self._settled.get(item)
        return stack[-1] if stack else None

    def latest(self, judge: str) -> LogEntry | None:
        """What an undo takes back: the last entry of a judge that holds and settles nothing.

        Who settles decides for everybody; that is changed by settling again, where it is seen.
        """
        stack = self._by_judge.get(judge, ())
        return next((one for one in reversed(stack) if one.kind != "settle"), None)

    def of_judge(self, judge: str) -> Sequence[LogEntry]:
        """Every entry of a judge that was not taken back, oldest first."""
        return self._by_judge.get(judge, ())

    def labels(self) -> Iterator[LogEntry]:
        """The label of every judge on every item that has one."""
        # All of a moment: other threads read on in the log meanwhile.
        for stack in list(self._given.values()):
            yield from (one for one in stack[-1:] if one.kind == "label")

    def judges(self) -> list[str]:
        """Everybody who has an entry that holds, in the order of their first."""
        return [name for name, stack in self._by_judge.items() if stack]


@dataclass(frozen=True)
class PoolInfo(Plain):
    """What a list of pools shows."""

    dict_keys: ClassVar[str] = (
        "name created closed items queries runs judges labels judged by_machines entries settings"
    )

    name: str
    created: str
    items: int
    queries: int
    runs: tuple[str, ...]
    judges: tuple[str, ...]
    labels: int
    """People's labels that hold; an item that two judged counts twice."""
    judged: int
    """Items that people labelled."""
    by_machines: int
    """Labels that hold of language models."""
    entries: int
    """Lines of the log, undone ones and undos among them."""
    settings: PoolSettings
    number: int = field(default=0, repr=False)
    closed: str | None = None
    """When it was closed: nothing is judged in it until it is opened again."""
    made_of: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Fingerprints of its runs, its ground truth and its items when it was made."""


@dataclass(frozen=True, repr=False)
class PoolList(Plain, HasRows):
    """The pools of a store."""

    shown_by: ClassVar[str] = "calipers.labels.document:of_pools"

    place: str
    pools: tuple[PoolInfo, ...]
