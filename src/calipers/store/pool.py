"""The types of a label pool and its log."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from typing import ClassVar, Literal, get_args

from calipers.frozen import dataclass
from calipers.model.labels import (
    Draw,
    Label,
    QueueOrder,
    SwitchDraw,
    TargetsAs,
    is_machine,
)
from calipers.model.result import HasRows, Plain

JudgeKind = Literal["label", "skip", "note", "final", "undo"]
"""What a judge does. A final label settles a conflict; an undo is an entry too, as
nothing is overwritten."""
PoolChange = Literal["close", "reopen", "delete"]
"""Changes to a whole pool; the log records them too."""
EntryKind = JudgeKind | PoolChange
KINDS: tuple[str, ...] = get_args(JudgeKind)
CHANGES: tuple[str, ...] = get_args(PoolChange)
SAID = ("label", "skip")
"""What a judge says of an item; the latest that was not undone counts."""


SCALES: Mapping[str, tuple[str, ...]] = {
    "0-3": ("useless", "touches it", "helps", "answers it"),
    "yes/no": ("no", "yes"),
}
"""The names of the grades from 0 on."""


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """How a pool is labelled; fixed when it is created."""

    metric: str = "ndcg@10"
    """The metric that the labels are for."""
    scale: str = "0-3"
    order: QueueOrder = "moves"
    per_item: int = 1
    """How many people label each result."""
    depth: int = 10
    seed: int = 0
    guidelines: str = ""
    judges: tuple[str, ...] = ("me",)
    """Judges who get their own link."""
    targets_as: TargetsAs = "id"
    rel: float | None = None
    sample: Draw | None = None
    """Set if the questions are a random sample, in the order of the items."""
    switch: SwitchDraw | None = None
    """Set if only what differs between two runs is labelled, in the order of the
    items."""

    @property
    def grades(self) -> Mapping[float, str]:
        """The allowed grades with their names."""
        return dict(enumerate(SCALES[self.scale]))


@dataclass(frozen=True, kw_only=True)
class LogEntry(Plain):
    """One line of the log."""

    dict_keys: ClassVar[str] = (
        "number item judge kind saved grade quote quote_start note undoes"
    )

    number: int
    item: int
    """The position of the item in its pool."""
    judge: str
    kind: EntryKind
    saved: str
    grade: float | None = None
    quote: str | None = None
    """The part of the text that was marked."""
    quote_start: int | None = None
    """Where the quote begins, in characters: a phrase may occur twice."""
    note: str | None = None
    undoes: int | None = None
    request: str | None = field(default=None, repr=False)
    """The sender's name for the entry: sent twice, it is stored once."""


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """An entry to add to the log of a pool; it is checked before it is kept."""

    item: int
    judge: str
    kind: str
    grade: float | None = None
    quote: str | None = None
    quote_start: int | None = None
    note: str | None = None
    undoes: int | None = None
    """The entry that an undo takes back; None: the judge's last."""
    request: str | None = None
    now: datetime | None = None
    """When it was given, if not now."""


@dataclass(frozen=True)
class PoolItem:
    """One question and one result to judge."""

    position: int
    label: Label

    @property
    def key(self) -> str:
        """A key that is unique across pools, with which a page names the item it shows.

        >>> len(PoolItem(0, Label("q1", item="c7")).key)
        16
        """
        label = self.label
        words = "\x00".join(
            f"{part}" for part in (label.query_id, label.item, label.document, label.text)
        )
        return hashlib.blake2b(
            words.encode("utf-8", "replace"), digest_size=8
        ).hexdigest()


class LabelState:
    """The current labels after reading a log: the entries that were not undone."""

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        self.last = 0
        self.taken_back: dict[int, LogEntry] = {}
        """Undone entries, by number."""
        self._entries: dict[int, LogEntry] = {}
        answers: dict[int, dict[int, LogEntry]] = {}
        self._by_kind = {"label": answers, "skip": answers, "note": {}, "final": {}}
        """By item, then by number; labels and skips together."""
        self._by_judge: dict[str, dict[int, LogEntry]] = {}
        self._changed: dict[int, int] = {}
        """The number of the last entry that changed a label or a skip, by item."""
        self.add(entries)

    def add(self, entries: Iterable[LogEntry]) -> None:
        """Add further entries of the log."""
        for added in entries:
            self.last = max(self.last, added.number)
            entry = (
                self._entries.pop(added.undoes or 0, None)
                if added.kind == "undo"
                else added
            )
            if entry is None or entry.kind in CHANGES:
                continue
            if entry.kind in SAID:
                self._changed[entry.item] = added.number
            about = self._by_kind[entry.kind].setdefault(entry.item, {})
            for stack in (about, self._by_judge.setdefault(entry.judge, {})):
                if entry is added:
                    stack[added.number] = added
                else:
                    del stack[entry.number]
            (self._entries if entry is added else self.taken_back)[entry.number] = entry

    def _of(self, item: int, kind: str) -> list[LogEntry]:
        """The entries of an item of this kind, oldest first."""
        stack = self._by_kind[kind].get(item)
        return list(stack.values()) if stack else []

    def _items(self, *kinds: str) -> list[int]:
        """Items that have or had an entry of these kinds."""
        # A copy: other threads may add entries meanwhile.
        return sorted({item for kind in kinds for item in list(self._by_kind[kind])})

    def given(self, item: int) -> dict[str, LogEntry]:
        """The current label or skip of each judge."""
        return {entry.judge: entry for entry in self._of(item, "label")}

    def touched(self) -> list[int]:
        """Items with any entry other than a note."""
        return self._items("label", "final")

    def labels(self, item: int) -> dict[str, LogEntry]:
        """The current label of each judge.

        A final label that was reopened by a later change still counts as its judge's
        label.
        """
        labels = {
            who: entry for who, entry in self.given(item).items() if entry.kind == "label"
        }
        if (reopened := self.reopened(item)) is not None:
            labels.setdefault(reopened.judge, reopened)
        return labels

    def people(self, item: int) -> int:
        """How many human judges labelled an item."""
        answers = self.given(item)
        return len(
            [1 for who in answers if answers[who].kind == "label" and not is_machine(who)]
        )

    def final(self, item: int) -> LogEntry | None:
        """The final label of an item, unless a judge changed a label after it."""
        stack = self._of(item, "final")
        return (
            stack[-1] if stack and stack[-1].number > self._changed.get(item, 0) else None
        )

    def reopened(self, item: int) -> LogEntry | None:
        """The final label of an item, if a judge changed a label after it."""
        stack = self._of(item, "final")
        return stack[-1] if stack and self.final(item) is None else None

    def current(self, item: int, judge: str) -> LogEntry | None:
        """The current label or skip of a judge."""
        return self.given(item).get(judge)

    def note(self, item: int, judge: str) -> str | None:
        """A judge's note on an item."""
        return self.notes(item).get(judge)

    def notes(self, item: int) -> dict[str, str]:
        """The notes on an item, by judge."""
        entries = [*self.given(item).values(), *self._of(item, "note")]
        return {entry.judge: entry.note for entry in entries if entry.note}

    def noted(self) -> list[int]:
        """Items with a note."""
        return [item for item in self._items("label", "note") if self.notes(item)]

    def held(self) -> Iterator[tuple[LogEntry, str | None]]:
        """All current entries, by item and judge, each with its note."""
        for item in self._items("label", "note"):
            notes = self.notes(item)
            held = {entry.judge: entry for entry in self._of(item, "note")} | self.given(
                item
            )
            yield from ((held[judge], notes.get(judge)) for judge in sorted(held))
        for item in self._items("final"):
            yield from ((final, final.note) for final in self._of(item, "final")[-1:])

    def latest(self, judge: str) -> LogEntry | None:
        """The entry that an undo takes back: a judge's last one that is neither undone nor final.

        A final label decides for everybody, so it is changed only where it is shown.
        """
        mine = reversed(self.of_judge(judge))
        return next((entry for entry in mine if entry.kind != "final"), None)

    def of_judge(self, judge: str) -> list[LogEntry]:
        """A judge's entries that were not undone, oldest first."""
        return list(self._by_judge.get(judge, {}).values())

    def judges(self) -> list[str]:
        """Judges with an entry that was not undone, in the order of their first."""
        return [name for name, stack in self._by_judge.items() if stack]


@dataclass(frozen=True)
class PoolInfo(Plain):
    """One row of the list of pools."""

    dict_keys: ClassVar[str] = (
        "name created closed items queries runs labels judged by_machines entries "
        "settings"
    )

    name: str
    created: str
    items: int
    queries: int
    runs: tuple[str, ...]
    labels: int
    """Current human labels; an item with two labels counts twice."""
    judged: int
    """Items with a human label."""
    by_machines: int
    """Current labels by language models."""
    entries: int
    """Log entries, including undone ones and undos."""
    settings: PoolSettings
    number: int = field(default=0, repr=False)
    closed: str | None = None
    """When it was closed: nothing can be labelled until it is reopened."""
    made_of: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Fingerprints of its runs, its ground truth and its items when it was made."""


@dataclass(frozen=True, repr=False)
class PoolList(Plain, HasRows):
    """The pools of a store."""

    shown_by: ClassVar[str] = "calipers.labels.desk:of_pools"

    place: str
    pools: tuple[PoolInfo, ...]
