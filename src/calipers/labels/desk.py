"""A pool opened for judging: its queue, progress, agreement, and the metric with its labels."""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, NamedTuple, TypeVar

import polars as pl

from calipers.errors import InvalidInput, WriteFailed
from calipers.frozen import dataclass
from calipers.labels.agreement import agreement
from calipers.labels.agreement_result import Agreement
from calipers.labels.changed import ChangedResults, Switch, compare_first, switch_state
from calipers.labels.judged_truth import JudgedTruth, judged_truth, measured
from calipers.labels.sample import SampleState, SampleWatch
from calipers.model.document import Column, Document, Table
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import AT_RANDOM, DRAWN, Label, TargetsAs
from calipers.model.result import Plain, ShowsItself
from calipers.model.run import Run
from calipers.model.scores import Summary
from calipers.present.escape import printable
from calipers.questions.convert.rule import ToConvert, convert
from calipers.questions.pooling import place
from calipers.store import label_pools as pools
from calipers.store.open import Store, open_store
from calipers.store.place import Where
from calipers.store.pool import (
    JudgeKind,
    LabelState,
    LogEntry,
    NewEntry,
    PoolChange,
    PoolItem,
    PoolList,
)

HELD_FOR = 600.0
"""Seconds for which an item on one judge's screen is not given to others."""

T = TypeVar("T")
AnyPath = str | os.PathLike[str]


class Hold(NamedTuple):
    """An item reserved for a judge: on the screen, or prefetched."""

    judge: str
    until: float
    shown: bool


class OwnLabel(NamedTuple):
    """A label or a skip of a judge, with its item."""

    item: PoolItem
    entry: LogEntry
    note: str | None


class JudgeProgress(NamedTuple):
    """The progress of a pool and of one judge."""

    judge: str
    items: int
    judged: int
    """Results with as many labels as they should have."""
    labelled: int
    """By this judge."""
    skipped: int
    left: int
    """Results that this judge can still be given."""


class LabelEffect(NamedTuple):
    """How the labels changed the watched metric of one run."""

    run: str
    before: Summary
    after: Summary


@dataclass(frozen=True, repr=False)
class Exported(Plain, ShowsItself):
    """Labels that were written, and how far those who gave them agree."""

    shown_by: ClassVar[str] = "calipers.labels.exchange"

    files: tuple[str, ...]
    """None if only the agreement was asked for."""
    form: str
    queries: int
    targets: int
    labels: int
    """Items whose grade comes from the labels."""
    left_out: int
    """Items without a grade: a tie that nobody settled."""
    fingerprint: str | None = None
    """None if no ground truth was written."""
    agreement: Agreement | None = None


def write_truth(
    truth: GroundTruth,
    judged: JudgedTruth,
    agreed: Agreement,
    path: AnyPath,
    to: str | None,
) -> Exported:
    """Write a ground truth with its labels, in any format."""
    done = convert(ToConvert(ground_truth=truth), path, to)
    counts = (
        truth.queries.height,
        truth.targets.height,
        len(judged.grades),
        judged.left_out,
    )
    return Exported(done.files, done.form, *counts, truth.fingerprint, agreed)


def in_order(
    items: Sequence[PoolItem], runs: Iterable[Run] | None, depth: int, seed: int
) -> list[PoolItem]:
    """Items question by question, the results of each question shuffled.

    With ``runs`` the questions come first whose results to judge stand highest in them,
    as their labels can move a metric most. Within a question nothing is sorted by rank,
    which would show it.
    """
    queries = [item.label.query_id for item in items]
    first = {query: at for at, query in reversed([*enumerate(queries)])}
    weights = dict.fromkeys(queries, 0.0)
    for run in runs or ():
        frame = run.first(depth)
        name = "item" if "item" in frame.columns else "text"
        pooled = pl.DataFrame(
            {"query": queries, name: [getattr(item.label, name) for item in items]},
            schema={"query": pl.String(), name: pl.String()},
        )
        pooled_rows = frame.join(pooled, on=["query", name], how="semi").group_by("query")
        for query, weight in pooled_rows.agg(
            (1 / (pl.col("rank") + 1).log(2)).sum()
        ).iter_rows():
            weights[query] += weight
    return sorted(
        items,
        key=lambda item: (
            -round(weights[item.label.query_id], 9),
            first[item.label.query_id],
            place(seed, *item.label.pair),
        ),
    )


def check_quote(quote: str, start: int | None, label: Label) -> None:
    """Refuse a quote that is not in the text of its item, or not at ``start``."""
    text = label.text or ""
    stands = (
        quote in text if start is None else start >= 0 and text.startswith(quote, start)
    )
    if not stands:
        at = "" if start is None else f" at character {start}"
        raise InvalidInput(
            f"The quote {quote[:60]!r} does not stand in the text{at}; mark it again."
        )


class PoolSession(ShowsItself):
    """A pool opened for judging. Threads may share it; the store is the source of truth.

    ``items`` are judged, ``give`` adds to the log, ``next`` returns the next items.
    """

    shown_by = "calipers.labels.desk"

    def __init__(self, store: Store, number: int) -> None:
        self.store = store
        self.content: pools.PoolContent = pools.load_pool(store, number)
        self.closed: str | None = None
        self.known = LabelState()
        """The labels, and when the pool was closed, as of the last read."""
        self._lock = threading.RLock()
        self._held: dict[int, Hold] = {}
        self._made: dict[str, tuple[tuple[object, ...], Any]] = {}

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
        news = pools.read_on(self.store, self.content.number, self.known.last)
        if news.version != self.content.version:
            # Existing items keep their positions.
            content = pools.load_pool(self.store, self.content.number)
            with self._lock:
                if len(content.items) != len(self.content.items):
                    for name in ("_ordered", "_watch"):
                        vars(self).pop(name, None)
                if content.version > self.content.version:
                    self.content = content
        self.closed = news.closed
        return self._read(news.entries)

    def _read(self, entries: Sequence[LogEntry]) -> LabelState:
        with self._lock:  # another thread may have read some of them in the meantime
            self.known.add([entry for entry in entries if entry.number > self.known.last])
            return self.known

    def item(self, at: int) -> PoolItem:
        """The item at a position; another server may have added it."""
        if at >= len(self.items):
            self.state()
        if not 0 <= at < len(self.items):
            many = len(self.items)
            raise InvalidInput(
                f"There is no item {at} in the pool {self.name}; it has {many}."
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
        undoes: int | None = None,
        quote: str | None = None,
        quote_start: int | None = None,
        note: str | None = None,
    ) -> LogEntry:
        """Add a label, a skip, a note, a final label or an undo; it is on disk when this returns.

        An undo takes back the entry numbered ``undoes``, or else the last one of the
        judge. A ``quote`` begins at the character ``quote_start`` of the text.
        """
        about = self.item(item)
        if quote is not None:
            check_quote(quote, quote_start, about.label)
        new = NewEntry(
            item=item,
            judge=judge,
            kind=kind,
            grade=grade,
            quote=quote,
            quote_start=None if quote is None else quote_start,
            note=note,
            undoes=undoes,
            request=request,
        )
        # In the same transaction what others added before it is read.
        grades = self.content.settings.grades
        after = self.known.last
        entry, news = pools.append(self.store, self.content.number, grades, after, new)
        self._read(news)
        return entry

    def reopen(self, judge: str, item: int, request: str | None = None) -> LogEntry:
        """Take back the final label of an item."""
        final = self.state().final(item)
        if final is None:
            raise InvalidInput(
                f"Nothing is settled about the item {item} of the pool {self.name}."
            )
        return self.give(judge, item, kind="undo", request=request, undoes=final.number)

    @property
    def _is_drawn(self) -> bool:
        """Whether the results are judged in the order in which they were drawn."""
        settings = self.content.settings
        return settings.sample is not None or settings.switch is not None

    def enlarge(self, labels: Sequence[Label]) -> None:
        """Add items to the pool; existing ones stay as they are."""
        if self._is_drawn:
            words = (
                "is a sample that was drawn at random; nothing can be put into it by hand"
            )
            raise InvalidInput(f"The pool {self.name} {words}.")
        known = {item.label.pair for item in self.items}
        if new := [label for label in labels if label.pair not in known]:
            pools.add_items(self.store, self.content.number, new)
            self.state()

    def change(self, change: PoolChange, by: str = "me") -> None:
        """Close, reopen or delete the pool; the log of labels stays, and records who did it."""
        pools.change_pool(self.store, self.content.number, change, by)

    # The queue

    @cached_property
    def _ordered(self) -> Sequence[PoolItem]:
        if self._is_drawn:
            return self.items
        settings = self.content.settings
        runs = self.content.runs.values() if settings.order == "moves" else None
        return in_order(self.items, runs, settings.depth, settings.seed)

    def _is_full(self, item: int) -> bool:
        """Whether an item has as many labels as it should, or was settled."""
        enough = self.known.people(item) >= self.content.settings.per_item
        return enough or self.known.final(item) is not None

    def _is_open(self, item: int, judge: str) -> bool:
        """Whether a judge may still get an item: it needs more labels and has none of theirs."""
        return self.known.current(item, judge) is None and not self._is_full(item)

    def queue(self, judge: str) -> list[PoolItem]:
        """All items that a judge has seen or can be given, in queue order."""
        state = self.state()
        return [
            item
            for item in self._ordered
            if state.current(item.position, judge) or self._is_open(item.position, judge)
        ]

    def next(self, judge: str, count: int = 1) -> list[PoolItem]:
        """The next items for a judge; none is reserved."""
        self.state()
        return self._next(judge, count)

    def _next(self, judge: str, count: int, query: str | None = None) -> list[PoolItem]:
        ordered = self._ordered
        if query is not None:
            ordered = sorted(ordered, key=lambda item: item.label.query_id != query)
        return list(
            islice(
                (item for item in ordered if self._is_open(item.position, judge)), count
            )
        )

    def take(
        self, judge: str, count: int = 1, query: str | None = None, *, fresh: bool = True
    ) -> list[PoolItem]:
        """The next items for a judge, those of ``query`` first, reserved for ten minutes.

        Prefetched items may go to a judge who has nothing else left. Without ``fresh``
        the store is not read again: the judge's own entry has just done so.
        """
        if fresh:
            self.state()
        now = monotonic()
        with self._lock:
            held = self._held.items()
            theirs = {
                at: hold for at, hold in held if hold.judge != judge and hold.until > now
            }
            # Enough for the page even if others have reserved everything at the front.
            some = self._next(judge, count + len(theirs), query)
            free = [item for item in some if item.position not in theirs]
            ahead = [
                item
                for item in some
                if item not in free and not theirs[item.position].shown
            ]
            taken = [*free, *reversed(ahead)][:count]
            until = now + HELD_FOR
            mine = {
                item.position: Hold(judge, until, not at) for at, item in enumerate(taken)
            }
            self._held = {**theirs, **mine}
        # Near the end another server may have added items.
        return taken if fresh or len(taken) == count else self.take(judge, count, query)

    def progress(self, judge: str, *, fresh: bool = True) -> JudgeProgress:
        """The progress of the pool, and that of a judge; the store is read if ``fresh``."""
        state = self.state() if fresh else self.known
        touched = state.touched()
        many = len(self.items)
        full = {item for item in touched if self._is_full(item)}
        answered = {
            item: entry.kind for item in touched if (entry := state.current(item, judge))
        }
        left = many - len(full | answered.keys())
        kinds = [*answered.values()]
        counts = many, len(full), kinds.count("label"), kinds.count("skip"), left
        return JudgeProgress(judge, *counts)

    def own_labels(self, judge: str) -> Sequence[OwnLabel]:
        """The labels of a judge, latest first."""
        state = self.state()
        labels = [
            OwnLabel(self.items[at], entry, state.note(at, judge))
            for at in state.touched()
            if (entry := state.current(at, judge)) is not None
        ]
        return sorted(labels, key=lambda label: -label.entry.number)

    # Results of the labels

    def _kept(
        self, name: str, make_it: Callable[[], T], *more: object, locked: bool = True
    ) -> T:
        """A result that is computed again only when labels, items or ``more`` changed.

        Two concurrent callers do the work twice at worst; nobody waits unless it is
        ``locked``.
        """
        cached = self._made.get(name)
        made_of = (self.content.version, self.known.last, *more)
        if cached is None or cached[0] != made_of:
            with self._lock if locked else nullcontext():
                cached = self._made[name] = made_of, make_it()
        return cached[1]

    def truth(
        self, *, machines: bool = False, targets_as: TargetsAs | None = None
    ) -> JudgedTruth:
        """The ground truth with the labels."""
        self.state()
        content = self.content
        by = targets_as or self.content.settings.targets_as
        sources = content.ground_truth, content.items, self.known
        settings = replace(content.settings, targets_as=by)
        compute = partial(judged_truth, *sources, settings, machines=machines)
        return self._kept("truth", compute, machines, by)

    def _measured(self, truth: GroundTruth | None) -> Mapping[str, Summary]:
        return measured(truth, self.content.runs, self.content.settings)

    @cached_property
    def _before(self) -> Mapping[str, Summary]:
        return self._measured(self.content.ground_truth)

    def moved(self) -> list[LabelEffect]:
        """How all labels together changed the watched metric of every run."""
        compute = partial(self._measured, self.truth().ground_truth)
        now = self._kept("numbers", compute, locked=False)
        return [LabelEffect(name, self._before[name], now[name]) for name in now]

    @cached_property
    def _watch(self) -> SampleWatch | None:
        draw = self.content.settings.sample
        return None if draw is None else SampleWatch(self.content, draw)

    def sample(self) -> SampleState | None:
        """The state of the sample; None if the pool is not a sample."""
        return (
            None if self._watch is None else self._watch.state(self.truth(), self.known)
        )

    @cached_property
    def _changed(self) -> ChangedResults:
        content = self.content
        how = self.content.settings
        return compare_first(
            content.runs, how.depth, how.seed, content.ground_truth, how.rel
        )

    def switch(self) -> Switch | None:
        """Whether the new run is safe; None if the pool is not of what differs."""
        if self.content.settings.switch is None:
            return None
        return switch_state(self._changed, self.content, self.truth(), self.known)

    def drawn_sample(self) -> SampleState | Switch:
        """The state of the sample; an error if the pool was not drawn at random."""
        state = self.sample() or self.switch()
        if state is None:
            raise InvalidInput(
                f"The pool {self.name} is no sample that was drawn at random; draw one: "
                "calipers labels sample RUN -g machine.jsonl"
            )
        return state

    def agreement(self) -> Agreement:
        """How far the judges agree, and every item on which they differ."""
        self.state()  # which may bring further items
        return self._kept("agreement", lambda: agreement(self.items, self.known))

    def export(
        self,
        path: AnyPath,
        *,
        to: str | None = None,
        targets_as: TargetsAs | None = None,
        machines: bool = False,
        overwrite: bool = False,
    ) -> Exported:
        """Write the earlier ground truth with the labels, in any format."""
        check_free(path, overwrite)
        settings = self.content.settings
        judged = self.truth(machines=machines, targets_as=targets_as)
        truth = judged.tagged(settings.order if settings.sample is None else AT_RANDOM)
        if truth is None:
            raise InvalidInput(
                f"Nothing is judged yet in the pool {self.name}; label something."
            )
        if self._watch is not None:
            tags = self._watch.tags(truth, judged, self.known)
            truth = replace(truth, tags={**truth.tags, DRAWN: tags})
        return write_truth(truth, judged, self.agreement(), path, to)


def check_free(path: AnyPath, overwrite: bool) -> None:
    """Refuse to overwrite a file unless ``overwrite`` is set."""
    if Path(path).exists() and not overwrite:
        raise WriteFailed(
            f"{path} exists already; name another file, or add --overwrite."
        )


def open_desk(pool: str | int, place: Where | Store = None) -> PoolSession:
    """Open the pool of that name or number for judging."""
    store = place if isinstance(place, Store) else open_store(place, keep=True)
    return PoolSession(
        store, pool if isinstance(pool, int) else pools.pool_number(store, pool)
    )


def document(desk: PoolSession) -> Document:
    """How many results a pool has to judge."""
    return Document(
        sentence(
            "{pool.text}: {it.count:result|results} to judge.",
            pool=named(printable(desk.name)),
            it=Fact(about="count", count=len(desk.items), text="to judge"),
        )
    )


def of_pools(pool_list: PoolList) -> Document:
    """The pools, and how much of each is judged."""
    place = printable(pool_list.place)
    pools = pool_list.pools
    if not pools:
        words = (
            f"There is no pool in {place}; make one with `calipers serve --judge RUN …`."
        )
        return Document(words, rows=lambda: pools)
    models = ["by models"] * any(pool.by_machines for pool in pools)
    rows = []
    for info in pools:
        judged = f"{info.judged:,} of {info.items:,}"
        counts = (info.queries, info.labels, *[info.by_machines] * len(models))
        dates = info.created[:10], (info.closed or "")[:10]
        rows.append((printable(info.name), judged, *(f"{n:,}" for n in counts), *dates))
    heads = ("judged", "questions", "labels", *models, "made", "closed")
    table = Table((Column("pool", words=True), *heads), rows)
    return Document(
        sentence(
            "{it.count:pool|pools} in {place.text}.",
            it=Fact(about="count", count=len(pools), text="pools"),
            place=named(place),
        ),
        blocks=[table],
        rows=lambda: pools,
    )
