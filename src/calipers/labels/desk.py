"""A pool opened for judging: its queue, progress, agreement, and the metric with its labels."""

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from time import monotonic
from typing import Unpack

from calipers.errors import InvalidInput, WriteFailed
from calipers.labels.agreement import agreement
from calipers.labels.judging import (
    JudgedTruth,
    check_quote,
    in_order,
    judged_truth,
    measured,
)
from calipers.labels.result import Agreement, Exported, JudgeProgress, LabelEffect, SampleState
from calipers.labels.sample import SampleWatch
from calipers.model.labels import AT_RANDOM, DRAWN, Label, TargetsAs
from calipers.model.result import ShowsItself, from_moment
from calipers.model.scores import Summary
from calipers.questions.convert.rule import ToConvert, convert
from calipers.store import label_pools as pools
from calipers.store.label_pools import Marks, PoolContent, append, load_pool, read_on
from calipers.store.open import Store
from calipers.store.pool import JudgeKind, LabelState, LogEntry, PoolChange, PoolItem

HELD_FOR = 600.0
"""Seconds for which an item on one judge's screen is not given to others."""
PACE_OVER = 20
"""Number of recent labels from which the pace is computed."""
LONGEST_PAUSE = 300.0
"""A gap of so many seconds between two labels is a pause and does not count for the pace."""


@dataclass(frozen=True)
class Hold:
    """An item reserved for a judge: on the screen, or prefetched."""

    judge: str
    until: float
    shown: bool


@dataclass(frozen=True)
class OwnLabel:
    """A label or a skip of a judge, with its item."""

    item: PoolItem
    entry: LogEntry
    note: str | None


class PoolSession(ShowsItself):
    """A pool opened for judging. Threads may share it; the store is the source of truth.

    ``items`` are judged, ``give`` adds to the log, ``next`` returns the next items.
    """

    shown_by = "calipers.labels.document:of_desk"

    def __init__(self, store: Store, number: int) -> None:
        self.store = store
        self.content: PoolContent = load_pool(store, number)
        self.closed: str | None = None
        """When the pool was closed, as of the last read."""
        self.known = LabelState()
        """The labels as of the last read."""
        self._lock = threading.RLock()
        self._held: dict[int, Hold] = {}
        # The latest results, each cached with the state it was computed from.
        self._truth: tuple[tuple[int, int, bool], JudgedTruth] | None = None
        self._agreed: tuple[tuple[int, int], Agreement] | None = None
        self._numbers: dict[int, Mapping[str, Summary]] = {}

    @property
    def name(self) -> str:
        """The name of the pool."""
        return self.content.name

    @property
    def items(self) -> tuple[PoolItem, ...]:
        """The items to judge, by position."""
        return self.content.items

    def state(self) -> LabelState:
        """The current labels, including those and the items that other processes added."""
        news = read_on(self.store, self.content.number, self.known.last)
        if news.version != self.content.version:
            self._reload()
        with self._lock:  # another thread may have read some of them in the meantime
            self.known.add([one for one in news.entries if one.number > self.known.last])
            self.closed = news.closed
            return self.known

    def _reload(self) -> None:
        """Reload a pool that another process changed; existing items keep their positions."""
        content = load_pool(self.store, self.content.number)
        with self._lock:
            if len(content.items) != len(self.content.items):
                for made in ("_ordered", "_watch"):
                    vars(self).pop(made, None)
            if content.version > self.content.version:
                self.content = content

    def item(self, at: int) -> PoolItem:
        """The item at a position; another server may have added it."""
        if at >= len(self.items):
            self.state()
        if not 0 <= at < len(self.items):
            raise InvalidInput(
                f"There is no item {at} in the pool {self.name}; it has {len(self.items)}, from 0."
            )
        return self.items[at]

    def give(
        self,
        judge: str,
        item: int = 0,
        grade: float | None = None,
        *,
        kind: JudgeKind = "label",
        request: str | None = None,
        **marks: Unpack[Marks],
    ) -> LogEntry:
        """Add a label, a skip, a note, a final label or an undo; it is on disk when this returns.

        An undo takes back the last entry of the judge, whatever its item.
        """
        about, quote = self.item(item), marks.get("quote")
        if quote is None:
            marks["quote_start"] = None
        else:
            check_quote(quote, marks.get("quote_start"), about.label)
        return append(
            self.store,
            self.content.number,
            item=item,
            judge=judge,
            kind=kind,
            grade=grade,
            request=request,
            grades=self.content.settings.grades,
            **marks,
        )

    def reopen(self, judge: str, item: int, request: str | None = None) -> LogEntry:
        """Take back the final label of an item."""
        final = self.state().final(item)
        if final is None:
            raise InvalidInput(f"Nothing is settled about the item {item} of the pool {self.name}.")
        number = self.content.number
        return append(
            self.store,
            number,
            item=item,
            judge=judge,
            kind="undo",
            undoes=final.number,
            request=request,
        )

    def enlarge(self, labels: Sequence[Label]) -> None:
        """Add items to the pool; existing ones stay as they are."""
        if self.content.settings.sample is not None:
            raise InvalidInput(
                f"The pool {self.name} is a sample that was drawn at random; nothing can be put "
                "into it by hand."
            )
        known = {one.label.pair for one in self.items}
        if new := [one for one in labels if one.pair not in known]:
            pools.add_items(self.store, self.content.number, new)
            self.state()

    def change(self, change: PoolChange, by: str, note: str | None = None) -> None:
        """Close, reopen or delete the pool; the log records who did it."""
        pools.change_pool(self.store, self.content.number, change, by, note)

    # The queue

    @cached_property
    def _ordered(self) -> Sequence[PoolItem]:
        settings = self.content.settings
        if settings.sample is not None:
            return self.items
        runs = self.content.runs.values() if settings.order == "moves" else None
        return in_order(self.items, runs, settings.depth, settings.seed)

    def _is_open(self, item: int, judge: str) -> bool:
        """Whether a judge may still get an item: it needs more labels and has none of theirs."""
        state = self.known
        return (
            state.current(item, judge) is None
            and state.final(item) is None
            and state.people(item) < self.content.settings.per_item
        )

    def queue(self, judge: str) -> list[PoolItem]:
        """All items that a judge has seen or can be given, in queue order."""
        state = self.state()
        return [
            one
            for one in self._ordered
            if state.current(one.position, judge) or self._is_open(one.position, judge)
        ]

    def next(self, judge: str, count: int = 1, query: str | None = None) -> list[PoolItem]:
        """The next items for a judge, those of ``query`` first; none is reserved."""
        self.state()
        ordered = self._ordered
        if query is not None:
            ordered = sorted(ordered, key=lambda one: one.label.query_id != query)
        return list(islice((one for one in ordered if self._is_open(one.position, judge)), count))

    def take(self, judge: str, count: int = 1, query: str | None = None) -> list[PoolItem]:
        """The next items for a judge, reserved for ten minutes.

        Prefetched items may go to a judge who has nothing else left.
        """
        now = monotonic()
        with self._lock:
            theirs = {
                item: hold
                for item, hold in self._held.items()
                if hold.judge != judge and hold.until > now
            }
            free: list[PoolItem] = []
            ahead: list[PoolItem] = []
            # Enough for the page even if others have reserved everything at the front.
            for one in self.next(judge, count + len(theirs), query):
                hold = theirs.get(one.position)
                if hold is None:
                    free.append(one)
                elif not hold.shown:
                    ahead.append(one)
            found = [*free, *reversed(ahead)][:count]
            until = now + HELD_FOR
            mine = {one.position: Hold(judge, until, not at) for at, one in enumerate(found)}
            self._held = {**theirs, **mine}
        return found

    def progress(self, judge: str) -> JudgeProgress:
        """The progress of the pool, and the progress and pace of a judge."""
        self.state()
        return self.known_progress(judge)

    def known_progress(self, judge: str) -> JudgeProgress:
        """The same as ``progress``, without reading the store again."""
        state, wanted = self.known, self.content.settings.per_item
        mine = [(item, state.current(item, judge)) for item in state.touched()]
        full = {
            item
            for item, _ in mine
            if state.people(item) >= wanted or state.final(item) is not None
        }
        given = {item: one.kind for item, one in mine if one is not None}
        kinds = [*given.values()]
        left = len(self.items) - len(full | given.keys())
        pace = _pace(state.of_judge(judge))
        return JudgeProgress(
            judge, len(self.items), len(full), kinds.count("label"), kinds.count("skip"), left, pace
        )

    def search(self, words: str, count: int = 20) -> list[PoolItem]:
        """Items whose question or text contains the words."""
        wanted = words.casefold()
        found = (one for one in self._ordered if wanted in one.label.words.casefold())
        return list(islice(found, count))

    def own_labels(self, judge: str, text: str = "", grade: str = "") -> Sequence[OwnLabel]:
        """The labels of a judge, latest first, filtered by words or by grade.

        ``grade`` is a number, "skip", or "note" for those with one.
        """
        state, wanted, found = self.state(), text.casefold(), []
        for at in state.touched():
            item, entry, note = self.items[at], state.current(at, judge), state.note(at, judge)
            if entry is None:
                continue
            said = "skip" if entry.kind == "skip" else f"{entry.grade:g}"
            words = f"{item.label.words}\n{note}".casefold()
            if grade in ("", said, "note" if note else said) and wanted in words:
                found.append(OwnLabel(item, entry, note))
        return sorted(found, key=lambda one: -one.entry.number)

    # Results of the labels

    def truth(self, *, machines: bool = False) -> JudgedTruth:
        """The ground truth with the labels."""
        state = self.state()
        with self._lock:
            content, made_of = self.content, (self.content.version, state.last, machines)
            if self._truth is None or self._truth[0] != made_of:
                found = judged_truth(
                    content.ground_truth, content.items, state, content.settings, machines=machines
                )
                self._truth = made_of, found
            return self._truth[1]

    def numbers(self) -> Mapping[str, Summary]:
        """The watched metric of every run, with its interval."""
        return self._measured(self.state().last)

    def _measured(self, last: int) -> Mapping[str, Summary]:
        if last not in self._numbers:
            truth = self.truth().ground_truth if last else self.content.ground_truth
            # Two concurrent callers do the work twice at worst; none waits for a lock.
            made = measured(truth, self.content.runs, self.content.settings)
            first = {0: self._numbers[0]} if 0 in self._numbers else {}
            self._numbers = {**first, last: made}
        return self._numbers[last]

    def moved(self) -> list[LabelEffect]:
        """How all labels together changed the watched metric."""
        after, before = self.numbers(), self._measured(0)
        return [LabelEffect(name, before[name], after[name]) for name in after]

    @cached_property
    def _watch(self) -> SampleWatch | None:
        draw = self.content.settings.sample
        return None if draw is None else SampleWatch(self.content, draw)

    def sample(self) -> SampleState | None:
        """The state of the sample; None if the pool is not a sample."""
        return None if self._watch is None else self._watch.state(self.truth(), self.known)

    def drawn_sample(self) -> SampleState:
        """The state of the sample; an error if the pool was not drawn at random."""
        state = self.sample()
        if state is None:
            raise InvalidInput(
                f"The pool {self.name} is no sample that was drawn: its queue begins with what "
                "moves the metric, or was chosen by hand. Draw one: calipers labels sample RUN -g "
                "machine.jsonl --until 0.05"
            )
        return state

    def agreement(self) -> Agreement:
        """How far the judges agree, and every item on which they differ."""
        state = self.state()  # which may bring further items
        with self._lock:
            made_of = (self.content.version, state.last)
            if self._agreed is None or self._agreed[0] != made_of:
                self._agreed = made_of, agreement(self.items, state)
            return self._agreed[1]

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str | None = None,
        targets_as: TargetsAs | None = None,
        machines: bool = False,
        overwrite: bool = False,
    ) -> Exported:
        """Write the earlier ground truth with the labels, in any format."""
        check_free(path, overwrite)
        settings, found = self.content.settings, self.truth(machines=machines)
        if targets_as is not None:
            changed = replace(settings, targets_as=targets_as)
            known = self.content.ground_truth
            found = judged_truth(known, self.items, self.known, changed, machines=machines)
        if found.ground_truth is None:
            raise InvalidInput(f"Nothing is judged yet in the pool {self.name}; label something.")
        truth = found.tagged(settings.order if settings.sample is None else AT_RANDOM)
        if self._watch is not None and truth is not None:
            tags = self._watch.tags(truth, found, self.known)
            truth = replace(truth, tags={**truth.tags, DRAWN: tags})
        done = convert(ToConvert(ground_truth=truth), path, to)
        return Exported(
            done.files,
            done.form,
            found.ground_truth.queries.height,
            found.ground_truth.targets.height,
            len(found.grades),
            found.left_out,
            found.ground_truth.fingerprint,
            self.agreement(),
        )


def _pace(entries: Sequence[LogEntry]) -> float | None:
    times = [from_moment(one.saved).timestamp() for one in entries[-PACE_OVER - 1 :]]
    steps = [after - before for before, after in pairwise(times) if after - before < LONGEST_PAUSE]
    total = sum(steps)
    return 60 * len(steps) / total if steps and total > 0 else None


def check_free(path: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuse to overwrite a file unless ``overwrite`` is set."""
    if Path(path).exists() and not overwrite:
        raise WriteFailed(
            f"The output {path} exists already; name another file, or say that it may be replaced "
            "(--overwrite)."
        )


def open_desk(store: Store, pool: str) -> PoolSession:
    """Open the pool of that name for judging."""
    return PoolSession(store, pools.pool_number(store, pool))
