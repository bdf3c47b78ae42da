"""A pool on the desk: queues, progress, agreement, and what the labels make of the metric."""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from calipers.errors import InvalidInput, WriteFailed
from calipers.labels.judging import (
    check_quote,
    in_order,
    judged_truth,
    label_worth,
    matched_run,
    measured,
)
from calipers.labels.pool_agreement import KnownAgreement
from calipers.labels.queues import JudgeQueue, assigned_judges, queue_of
from calipers.labels.result import Exported, JudgeProgress, LabelEffect, PoolAgreement
from calipers.labels.sample_result import SampleState
from calipers.labels.sampled import SampleWatch
from calipers.labels.sources import JudgedTruth
from calipers.model.labels import AT_RANDOM, DRAWN, Pair, TargetsAs
from calipers.model.result import ShowsItself, moment
from calipers.model.scores import Summary
from calipers.questions.convert.rule import ToConvert, convert
from calipers.store import label_pools as pools
from calipers.store.label_pools import Marks, PoolContent, append, load_pool, read_on
from calipers.store.open import Store
from calipers.store.pool import JudgeKind, LabelState, LogEntry, PoolChange, PoolItem
from calipers.words import did_you_mean

LENT_FOR = timedelta(minutes=30)
"""How long a question is a judge's who was given it and does nothing."""
REMEMBERED = 8
"""States of the log whose numbers are kept."""


class Desk(ShowsItself):
    """A pool opened for judging. It may be shared by threads; the store is the truth.

    ``items`` is what is judged, ``give`` adds to the log, ``next`` says what comes next.
    """

    shown_by = "calipers.labels.document:of_desk"

    def __init__(self, store: Store, number: int) -> None:
        self.store = store
        self.content: PoolContent = load_pool(store, number)
        self.closed: str | None = None
        """When the pool was closed, as of the last look."""
        self._entries: list[LogEntry] = []
        self._state = LabelState()
        self._leases: dict[int, tuple[str, str]] = {}
        self._lock = threading.RLock()
        self._agreed = KnownAgreement()
        self._truth: tuple[tuple[int, int, bool], JudgedTruth] | None = None
        """The last that was asked for, and what it was made of."""
        self._numbers: OrderedDict[int, Mapping[str, Summary]] = OrderedDict()

    @property
    def name(self) -> str:
        """What the pool is called."""
        return self.content.name

    @property
    def items(self) -> tuple[PoolItem, ...]:
        """What is judged, by position."""
        return self.content.items

    @property
    def judges(self) -> tuple[str, ...]:
        """Who may judge."""
        return self.content.judges

    def state(self) -> LabelState:
        """What holds now; what other processes wrote or put into the pool is read too."""
        news = read_on(self.store, self.content.number, self._state.last)
        if news.version != self.content.version:
            self._reload()
        with self._lock:  # another thread may have read some of them in the meantime
            new = [one for one in news.entries if one.number > self._state.last]
            self._entries += new
            self._state.add(new)
            self._leases, self.closed = news.leases, news.closed
            return self._state

    def _reload(self) -> None:
        """Take what another process made of the pool; items that were there keep their places."""
        content = load_pool(self.store, self.content.number)
        with self._lock:
            if len(content.items) != len(self.content.items):
                for made in ("_worth", "_ordered", "_watch"):
                    vars(self).pop(made, None)
            if content.version > self.content.version:
                self.content = content

    @property
    def known(self) -> LabelState:
        """What held when somebody last asked."""
        return self._state

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
        """Add a label, a skip, a note, a settlement or an undo; it is on disk when this returns."""
        if item >= len(self.items):
            # Another server may have put it into the pool.
            self.state()
        quote = marks.get("quote")
        if quote is None:
            marks["quote_start"] = None
        elif 0 <= item < len(self.items):
            check_quote(quote, marks.get("quote_start"), self.items[item].label)
        return append(
            self.store,
            self.content.number,
            item=item,
            judge=judge,
            kind=kind,
            grade=grade,
            request=request,
            grades=self.content.settings.grades,
            items=len(self.items),
            **marks,
        )

    def reopen(self, judge: str, item: int, request: str | None = None) -> LogEntry:
        """Take back what settles a conflict."""
        settled = self.state().settled(item)
        if settled is None:
            raise InvalidInput(f"Nothing is settled about the item {item} of the pool {self.name}.")
        kept: dict[str, Any] = {"kind": "undo", "undoes": settled.number, "request": request}
        return append(self.store, self.content.number, item=item, judge=judge, **kept)

    @cached_property
    def _worth(self) -> Mapping[Pair, float] | None:
        if self.content.settings.order == "plain":
            return None
        settings = self.content.settings
        pairs = (
            matched_run(self.content.ground_truth, run, settings)
            for run in self.content.runs.values()
        )
        return label_worth([pair for pair in pairs if pair is not None], settings.metric)

    @cached_property
    def _ordered(self) -> Sequence[PoolItem]:
        return in_order(self.items, self._worth, self.content.settings.seed)

    def _check_judge(self, judge: str) -> None:
        if judge not in self.judges:
            raise InvalidInput(
                f"The judge {judge!r:.60} is not among those of the pool {self.name}: "
                f"{', '.join(self.judges)}.{did_you_mean(judge, self.judges)}"
            )

    def queue(self, judge: str) -> list[PoolItem]:
        """Everything that a judge is to look at, done or not, in the order of the queue."""
        self.state()
        return list(self._queue(judge).items)

    def _queue(self, judge: str) -> JudgeQueue:
        self._check_judge(judge)
        ordered = self._ordered
        with self._lock:
            return queue_of(
                judge,
                ordered,
                self._state,
                self.assigned,
                self._leases,
                moment(datetime.now(UTC)),
                in_turn=self.content.settings.sample is not None,
            )

    def assigned(self, item: PoolItem) -> tuple[str, ...]:
        """The judges who may be given an item: all, or those whose slice it is in."""
        return self._assigned.get(item.label.query_id, self.judges)

    @cached_property
    def _assigned(self) -> Mapping[str, tuple[str, ...]]:
        return assigned_judges(self.content.ground_truth, self.content.settings.assigned)

    def next(self, judge: str, count: int = 1, query: str | None = None) -> list[PoolItem]:
        """What a judge has not looked at yet; of one question first where it is named."""
        return self.ahead(judge, count, query)[0]

    def take(
        self, judge: str, count: int = 1, query: str | None = None
    ) -> tuple[list[PoolItem], JudgeProgress]:
        """What a judge works on now: nobody else is given it for a while.

        Whoever was not among the judges is from now on.
        """
        if judge not in self.judges:
            pools.add_judges(self.store, self.content.number, [judge])
        soon = moment(datetime.now(UTC) + LENT_FOR / 2)
        while True:
            items, progress = self.ahead(judge, count, query)
            wanted = {one.share for one in items if one.share is not None}
            held = {one for one in wanted if self._leases.get(one, ("", ""))[1] > soon}
            # Of those that somebody holds, ahead leaves this judge's alone.
            if wanted == held:
                return items, progress
            until = datetime.now(UTC) + LENT_FOR
            if pools.lend(self.store, self.content.number, judge, wanted, until) == wanted:
                return items, progress

    def change(self, change: PoolChange, by: str, note: str | None = None) -> None:
        """Close the pool, open it again or delete what it holds; the log keeps who did it."""
        pools.change_pool(self.store, self.content.number, change, by, note)

    def ahead(
        self, judge: str, count: int = 1, query: str | None = None
    ) -> tuple[list[PoolItem], JudgeProgress]:
        """What comes next for a judge, and how far the judge is; looking changes nothing."""
        self.state()
        queue = self._queue(judge)
        left = sorted(queue.left, key=lambda one: query not in (None, one.label.query_id))
        return left[:count], queue.progress

    def search(self, words: str, count: int = 20) -> list[PoolItem]:
        """Items whose question or text holds the words."""
        wanted = words.casefold()
        found = (one for one in self._ordered if wanted in one.label.words.casefold())
        return list(islice(found, count))

    def progress(self, judge: str) -> JudgeProgress:
        """How far a judge is, and how fast."""
        return self.ahead(judge, 0)[1]

    def truth(self, *, machines: bool = False, upto: int | None = None) -> JudgedTruth:
        """The ground truth with the labels; ``upto`` leaves out entries behind that number."""
        state = self.state()
        with self._lock:
            if upto is not None and upto < state.last:
                state = LabelState(one for one in self._entries if one.number <= upto)
            content, made_of = self.content, (self.content.version, state.last, machines)
            if self._truth is None or self._truth[0] != made_of:
                found = judged_truth(
                    content.ground_truth, content.items, state, content.settings, machines=machines
                )
                self._truth = made_of, found
            return self._truth[1]

    def numbers(self, upto: int | None = None) -> Mapping[str, Summary]:
        """The watched metric of every run, with its interval."""
        now = self.state().last
        # What lies ahead is no state of the log, and must not be held as one.
        last = now if upto is None else min(upto, now)
        with self._lock:
            if last in self._numbers:
                return self._numbers[last]
        truth = self.truth(upto=last).ground_truth
        # Two who ask at once do the work twice at worst; nobody waits for a lock meanwhile.
        made = measured(truth, self.content.runs, self.content.settings)
        with self._lock:
            self._numbers[last] = made
            while len(self._numbers) > REMEMBERED:
                self._numbers.popitem(last=False)
        return made

    def moved(self, since: int) -> list[LabelEffect]:
        """What the entries behind a number did to the watched metric."""
        before, after = self.numbers(since), self.numbers()
        return [LabelEffect(name, before[name], after[name]) for name in after]

    @cached_property
    def _watch(self) -> SampleWatch | None:
        draw = self.content.settings.sample
        return None if draw is None else SampleWatch(self.content, draw)

    def sample(self) -> SampleState | None:
        """How far the sample is, where the pool is one that was drawn."""
        if self._watch is None:
            return None
        found = self.truth()
        return self._watch.state(found, self._watch.waiting(found, self.content, self._state))

    def agreement(self, *, machines: bool = False) -> PoolAgreement:
        """How far the judges agree, and every item on which they differ."""
        state = self.state()  # which may bring further items
        return self._agreed.of(self.items, state, self._lock, machines)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str | None = None,
        targets_as: TargetsAs | None = None,
        machines: bool = False,
        overwrite: bool = False,
    ) -> Exported:
        """Write what was known and what was judged as a ground truth, in any form."""
        check_free(path, overwrite)
        settings = self.content.settings
        if targets_as is not None:
            settings = replace(settings, targets_as=targets_as)
        state = self.state()
        with self._lock:
            found = judged_truth(
                self.content.ground_truth, self.items, state, settings, machines=machines
            )
        if found.ground_truth is None:
            raise InvalidInput(f"Nothing is judged yet in the pool {self.name}; label something.")
        truth = found.tagged(settings.order if settings.sample is None else AT_RANDOM)
        if self._watch is not None and truth is not None:
            truth = replace(truth, tags={**truth.tags, DRAWN: self._watch.tags(truth, found)})
        done = convert(ToConvert(ground_truth=truth), path, to)
        return Exported(
            done.files,
            done.form,
            found.ground_truth.queries.height,
            found.ground_truth.targets.height,
            found.labels,
            found.unsettled,
            found.ground_truth.fingerprint,
        )


def check_free(path: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuse to write over a file, unless that was said."""
    if Path(path).exists() and not overwrite:
        raise WriteFailed(
            f"The output {path} exists already; name another file, or say that it may be replaced "
            "(--overwrite)."
        )


def open_desk(store: Store, pool: str) -> Desk:
    """The pool of that name, opened for judging."""
    return Desk(store, pools.pool_number(store, pool))
