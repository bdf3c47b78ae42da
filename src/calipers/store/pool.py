"""A pool of what is to be judged, and the log of what judges said, as values."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from calipers.model.labels import Draw, Label, QueueOrder, TargetsAs, is_machine
from calipers.model.result import HasRows, Plain

JudgeKind = Literal["label", "skip", "note", "final", "undo"]
"""What a judge does; a final label settles a conflict. Nothing is overwritten: an undo is an entry
too."""
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


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """How a pool is judged, fixed when it is made."""

    metric: str = "ndcg@10"
    """The metric that the labels move."""
    scale: str = "0-3"
    order: QueueOrder = "moves"
    per_item: int = 1
    """How many people label each result."""
    depth: int = 10
    seed: int = 0
    guidelines: str = ""
    judges: tuple[str, ...] = ("me",)
    """Who gets a link of their own."""
    targets_as: TargetsAs = "id"
    match: str | None = None
    """How the ground truth is matched; None: the data says."""
    level: str | None = None
    rel: float | None = None
    sample: Draw | None = None
    """Where the questions are a sample that was drawn, in the order of the items."""
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
    label: Label

    @property
    def key(self) -> str:
        """What tells it from any other item, also of another pool: by it a page says what it shows.

        >>> len(PoolItem(0, Label("q1", item="c7")).key)
        16
        """
        one = self.label
        words = "\x00".join(f"{part}" for part in (one.query_id, one.item, one.document, one.text))
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()


class LabelState:
    """What holds after a log was read: the latest entry that nobody took back."""

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        self.last = 0
        self.taken_back: dict[int, LogEntry] = {}
        """What was undone, by its number."""
        self._given: dict[int, dict[str, list[LogEntry]]] = {}
        self._notes: dict[int, dict[str, list[LogEntry]]] = {}
        self._final: dict[int, list[LogEntry]] = {}
        self._changed: dict[int, int] = {}
        """The last entry that gave or took back a label or a skip of an item."""
        self._entries: dict[int, LogEntry] = {}
        self._by_judge: dict[str, dict[int, LogEntry]] = {}
        self.add(entries)

    def add(self, entries: Iterable[LogEntry]) -> None:
        """Read on in the log."""
        for one in entries:
            self.last = max(self.last, one.number)
            if one.kind in CHANGES:
                continue
            entry = self._entries.pop(one.undoes or 0, None) if one.kind == "undo" else one
            if entry is None:
                continue
            if entry.kind in ("label", "skip"):
                self._changed[entry.item] = one.number
            if entry is one:
                self._entries[one.number] = one
                self._by_judge.setdefault(one.judge, {})[one.number] = one
                self._stack(one).append(one)
            else:
                self.taken_back[entry.number] = entry
                del self._by_judge[entry.judge][entry.number]
                self._stack(entry).remove(entry)

    def _stack(self, one: LogEntry) -> list[LogEntry]:
        if one.kind == "final":
            return self._final.setdefault(one.item, [])
        kept = self._notes if one.kind == "note" else self._given
        return kept.setdefault(one.item, {}).setdefault(one.judge, [])

    def given(self, item: int) -> dict[str, LogEntry]:
        """The label or the skip of each judge that holds."""
        # All of a moment: other threads read on in the log meanwhile.
        return {judge: stack[-1] for judge, stack in [*self._given.get(item, {}).items()] if stack}

    def touched(self) -> list[int]:
        """Items of which anybody said anything but a note."""
        return sorted({*self._given, *self._final})

    def labels(self, item: int) -> dict[str, LogEntry]:
        """The label of each judge that holds.

        A final label that somebody's change overtook counts on as the label of who gave it.
        """
        found = {who: one for who, one in self.given(item).items() if one.kind == "label"}
        stack = self._final.get(item)
        if stack and self.final(item) is None:
            found.setdefault(stack[-1].judge, stack[-1])
        return found

    def people(self, item: int) -> int:
        """How many people labelled an item."""
        stacks = [*self._given.get(item, {}).items()]
        return sum(
            bool(stack) and stack[-1].kind == "label" and not is_machine(who)
            for who, stack in stacks
        )

    def final(self, item: int) -> LogEntry | None:
        """The label that settles a conflict, until somebody changes theirs."""
        stack = self._final.get(item)
        return stack[-1] if stack and stack[-1].number > self._changed.get(item, 0) else None

    def reopened(self, item: int) -> LogEntry | None:
        """A final label after which somebody changed theirs."""
        stack = self._final.get(item)
        return stack[-1] if stack and self.final(item) is None else None

    def current(self, item: int, judge: str) -> LogEntry | None:
        """The label or the skip of a judge that holds."""
        stack = self._given.get(item, {}).get(judge)
        return stack[-1] if stack else None

    def note(self, item: int, judge: str) -> str | None:
        """What a judge wrote beside an item."""
        stack, given = self._notes.get(item, {}).get(judge), self.current(item, judge)
        return stack[-1].note if stack else given.note if given else None

    def notes(self, item: int) -> dict[str, str]:
        """What judges wrote beside an item, by judge."""
        names = {**self._given.get(item, {}), **self._notes.get(item, {})}
        found = {judge: self.note(item, judge) for judge in names}
        return {judge: note for judge, note in found.items() if note}

    def noted(self) -> list[int]:
        """Items with a note."""
        return [item for item in sorted({*self._given, *self._notes}) if self.notes(item)]

    def held(self) -> Iterator[tuple[LogEntry, str | None]]:
        """Everything that holds, by item and judge, with what was written beside it."""
        for item in sorted({*self._given, *self._notes}):
            given, notes = self.given(item), self._notes.get(item, {})
            for judge in sorted({*given, *(who for who, stack in notes.items() if stack)}):
                yield given.get(judge) or notes[judge][-1], self.note(item, judge)
        for stack in list(self._final.values()):
            yield from ((one, one.note) for one in stack[-1:])

    def latest(self, judge: str) -> LogEntry | None:
        """What an undo takes back: the last entry of a judge that holds and is not final.

        A final label decides for everybody; it is changed where it is seen.
        """
        stack = self._by_judge.get(judge, {})
        return next((one for one in reversed(stack.values()) if one.kind != "final"), None)

    def of_judge(self, judge: str) -> list[LogEntry]:
        """Every entry of a judge that was not taken back, oldest first."""
        return list(self._by_judge.get(judge, {}).values())

    def judges(self) -> list[str]:
        """Everybody who has an entry that holds, in the order of their first."""
        return [name for name, stack in self._by_judge.items() if stack]


@dataclass(frozen=True)
class PoolInfo(Plain):
    """What a list of pools shows."""

    dict_keys: ClassVar[str] = (
        "name created closed items queries runs labels judged by_machines entries settings"
    )

    name: str
    created: str
    items: int
    queries: int
    runs: tuple[str, ...]
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
