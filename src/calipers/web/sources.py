"""What the server shows: the history, the given files and the pools, and a cache of all this."""

import ctypes
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from html import escape
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from calipers.errors import InvalidInput, StoreAway, UnreadableFile
from calipers.keywords import as_settings
from calipers.labels.desk import PoolSession
from calipers.labels.new_pool import keep, matched_alike, to_judge
from calipers.model.document import Lines
from calipers.model.evaluation import Evaluation
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.present.drawing import on_page
from calipers.present.html import blocks_html, heading_html
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.settings import CompareSettings, compare
from calipers.questions.evaluate.settings import evaluate
from calipers.questions.history.document import trend_chart
from calipers.questions.history.result import Alarm
from calipers.questions.history.settings import HistoryAlarmSettings, Which, history_alarm
from calipers.questions.reading import Evaluating
from calipers.questions.report.browse import Browse, open_saved
from calipers.store.label_pools import list_pools
from calipers.store.listing import resolve
from calipers.store.load import load_scores
from calipers.store.open import Store, open_store
from calipers.store.place import Where, locate
from calipers.store.pool import PoolInfo, PoolSettings
from calipers.store.record import name_from

T = TypeVar("T")


class Held:
    """A thread-safe LRU cache in which each value is computed once.

    Whoever wants a value that is being computed waits for it; nobody waits for another
    one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        """How many values stay in memory; the least recently used goes first."""
        self._lock = threading.Lock()
        self._values: OrderedDict[object, object] = OrderedDict()
        self._computing: dict[object, threading.RLock] = {}
        """A lock for each value that is being computed."""

    def get(self, name: object, compute: Callable[[], T]) -> T:
        """Return a value, and compute it if it is not there; an error is not kept."""
        with self._lock:
            if name in self._values:
                known: T = self._used(name)
                return known
            own = self._computing.setdefault(name, threading.RLock())
        with own:
            with self._lock:
                if name in self._values:
                    computed: T = self._used(name)
                    return computed
            try:
                value = compute()
                # The allocator would keep freed memory, and the next piece would come on
                # top.
                _to_allocator("malloc_trim", 0)
            finally:
                with self._lock:
                    self._computing.pop(name, None)
            with self._lock:
                self._values[name] = value
                self._used(name)
            return value

    def _used(self, name: object) -> Any:
        """A value that is there, which is now the most recently used one."""
        self._values.move_to_end(name)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
        return self._values[name]


def give_memory_back() -> None:
    """Make the allocator return freed arrays to the system, and use few arenas."""
    for setting, value in ((_MMAP_THRESHOLD, 1 << 17), (_ARENA_MAX, 2)):
        _to_allocator("mallopt", setting, value)


_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
"""As malloc.h of the GNU C library numbers them."""


def _to_allocator(name: str, *numbers: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # not with every C library
        getattr(ctypes.CDLL(None), name)(*numbers)


def _compare_link(alarm: Alarm) -> str:
    """A link to the comparison behind an alarm; empty if it does not ring."""
    for check in alarm.checks:
        if check.rings and check.reference is not None:
            before = check.reference.best or check.reference.evaluations[-1]
            query = urlencode({"of": [before, alarm.id], "baseline": before}, doseq=True)
            address = escape(f"/compare?{query}", quote=True)
            return f'<p><a href="{address}">Compare it with the reference</a></p>'
    return ""


LARGEST_NUMBER = 2**31 - 1
"""That a database counts to."""
LOCKED_FOR = 3.0
"""Seconds that a page waits for a file that another program has locked."""
MOST_LINES = 4
"""How many names have a trend on the first page, the latest first."""
DRAWN = 60
"""How many evaluations a trend shows; its answer rests on all of them."""
SAME = ("metric", "scale")
"""Settings in which a pool is that of a page, if it was made of the same evaluations."""


class Opened(NamedTuple):
    """An evaluation that an address names."""

    reference: str
    saved: Evaluation | None
    """Its record in the history; None if it was given as a file."""

    @property
    def key(self) -> str:
        """Its key in a cache: by id, as a name means another evaluation after the next save."""
        return self.reference if self.saved is None else self.saved.id

    @property
    def short(self) -> str | None:
        """Its short id, by which commands name it; None if it was not saved."""
        return None if self.saved is None else self.saved.short


@dataclass
class WebSources:
    """Everything that pages can show, computed by the library."""

    where: Where = None
    given: Mapping[str, Matched] = field(default_factory=dict)
    """Evaluations given as files, by their name in addresses."""
    settings: PoolSettings = field(default_factory=PoolSettings)
    owner: str = "me"
    """The judge who sees and does everything."""
    pool: int | None = None
    """The pool that a link opens."""

    def __post_init__(self) -> None:
        self._evaluations = Held(4)
        self._measured = Held(8)
        self._desks = Held(16)
        self._made = Held(16)
        self._pooling = threading.Lock()
        self._store: Store | None = None
        self._had_store = False
        _ = self.has_store

    # The store

    def store(self, *, create: bool = False) -> Store:
        """The store, opened once; raises if there is none."""
        if self._store is None:
            if not create and not self.has_store:
                raise InvalidInput(
                    "There is no history yet: save an evaluation with `calipers eval … "
                    "--save NAME`, or judge something."
                )
            # An empty database that was named for the server becomes a history.
            create = create or locate(self.where).path is None
            self._store = open_store(
                self.where, create=create, keep=True, patience=LOCKED_FOR
            )
        return self._store

    @property
    def has_store(self) -> bool:
        """Whether there is a history; one that was there and is unavailable now counts."""
        if not self._had_store:
            with suppress(UnreadableFile):
                place = locate(self.where)
                self._had_store = place.path is None or place.path.exists()
        return self._had_store

    def without_place(self, words: str) -> str:
        """Remove the place of the database from a sentence of the library."""
        if self._store is None:
            return words
        shown = self._store.place.shown
        return words.replace(f" in {shown}", "").replace(shown, "the history")

    # Evaluations

    def find(self, reference: str) -> Opened:
        """The evaluation that an address names."""
        given = reference in self.given
        return Opened(
            reference, None if given else resolve(self.store(), f"@{reference}")
        )

    def systems(self, references: Sequence[str], baseline: str = "") -> dict[str, Opened]:
        """Evaluations by name, the baseline first, then the oldest.

        Names that several share get the shortest suffix that tells them apart.
        """
        sources = [self.find(reference) for reference in references]
        if len({source.key for source in sources}) < len(sources):
            raise InvalidInput("An evaluation is given twice; choose different ones.")
        # Files, which are not saved, count as the newest.
        late = datetime.max.replace(tzinfo=UTC), 0
        ages = {
            source.key: (source.saved.saved, source.saved.number)
            for source in sources
            if source.saved
        }
        sources.sort(
            key=lambda source: (source.reference != baseline, ages.get(source.key, late))
        )
        for behind in (
            "",
            " {0.saved:%Y-%m-%d}",
            " {0.saved:%Y-%m-%d %H:%M}",
            " {0.short}",
        ):
            named = {
                source.saved.name + behind.format(source.saved)
                if source.saved
                else source.reference: source
                for source in sources
            }
            if len(named) == len(sources):
                break
        return named

    def open(self, source: Opened) -> Browse:
        """An evaluation in memory."""

        def made() -> Browse:
            if source.saved is None:
                pair = self.given[source.reference]
                return Browse(
                    source.reference, evaluate(pair, settings=Evaluating()), pair
                )
            return open_saved(self.store(), source.saved, self.scores(source))

        return self._evaluations.get(source.key, made)

    def made(self, source: Opened, work: Callable[[Browse], T]) -> T:
        """What some work makes of an evaluation."""
        return self._made.get((source.key, work), lambda: work(self.open(source)))

    def scores(self, source: Opened) -> Scores:
        """The scores of an evaluation, as a comparison needs them: without its results."""
        if source.saved is None:
            return self.open(source).scores
        return self._measured.get(
            source.key, partial(load_scores, self.store(), source.saved)
        )

    def comparison(
        self, systems: Mapping[str, Opened], anyway: bool = False
    ) -> Comparison:
        """Compare evaluations with the first one."""
        key = tuple(system.key for system in systems.values()), anyway

        def made() -> Comparison:
            scores = {name: self.scores(source) for name, source in systems.items()}
            return compare(scores, settings=CompareSettings(anyway=anyway))

        return self._made.get(key, made)

    def lines(self, listed: Sequence[Evaluation], which: Which) -> list[tuple[str, str]]:
        """The names saved several times, each with its trend."""
        names = [
            name
            for name, n in Counter(evaluation.name for evaluation in listed).items()
            if n > 1
        ]
        latest = {evaluation.name: evaluation.id for evaluation in reversed(listed)}
        key = tuple(latest[name] for name in names[:MOST_LINES]), str(which)
        return self._made.get(
            key,
            lambda: [(name, self._line(name, which)) for name in names[:MOST_LINES]],
        )

    def _line(self, name: str, which: Which) -> str:
        """The alarm's answer with the trend of its leading metric."""
        try:
            settings = HistoryAlarmSettings(which=which, store=self.where)
            alarm = history_alarm(name, settings=settings).drawn(DRAWN)
        except StoreAway:
            raise
        except InvalidInput as error:
            return blocks_html([Lines([as_settings(self.without_place(str(error)))])])
        chart = trend_chart(alarm, "/evaluations/{}")
        flat = [replace(panel, ratio=0.16) for panel in chart.panels[:1]]
        above = heading_html(alarm.document(), "h2") + _compare_link(alarm)
        return above + on_page(replace(chart, panels=flat))

    # Pools

    def pools(self) -> Sequence[PoolInfo]:
        """The pools of the store; empty without a store."""
        return list_pools(self.store()).pools if self.has_store else ()

    def desk(self, number: int) -> PoolSession:
        """Open a pool for judging."""
        if number > LARGEST_NUMBER:
            raise InvalidInput(f"There is no pool number {number}.")
        return self._desks.get(number, lambda: PoolSession(self.store(), number))

    def judge_these(
        self, references: Sequence[str], queries: set[str], metric: str | None = None
    ) -> PoolSession:
        """The pool of some evaluations, with the results of these questions added.

        Judges watch ``metric``, that of the page they came from, unless the server was
        given one.
        """
        opened = {
            name: self.open(source) for name, source in self.systems(references).items()
        }
        pairs = {
            name: evaluation.pair
            for name, evaluation in opened.items()
            if evaluation.pair is not None
        }
        if len(pairs) < len(opened):
            raise InvalidInput(
                "What was retrieved was not kept with this evaluation, so there is "
                "nothing to judge; save it with its run."
            )
        settings = self.settings
        if metric is not None and settings.metric == PoolSettings().metric:
            settings = replace(settings, metric=metric)
        # The evaluations have these already; computing them again can take seconds.
        prints = {
            name: evaluation.scores.fingerprints for name, evaluation in opened.items()
        }
        made_of = {
            f"run {name}": fingerprints.get("run") or ""
            for name, fingerprints in prints.items()
        }
        made_of["ground truth"] = next(iter(prints.values())).get("ground_truth") or ""
        with self._pooling:
            store = self.store(create=True)
            for there in list_pools(store).pools:
                alike = (
                    getattr(there.settings, field) == getattr(settings, field)
                    for field in SAME
                )
                if there.made_of == made_of and all(alike):
                    desk = self.desk(there.number)
                    known = (
                        desk.content.runs,
                        desk.content.ground_truth,
                        desk.content.settings,
                    )
                    desk.enlarge(to_judge(*known, queries=queries, again=True))
                    return desk
            runs = {name: pair.as_read[1] for name, pair in pairs.items()}
            truth = next(iter(pairs.values())).as_read[0]
            labels = to_judge(runs, truth, settings, queries=queries, again=True)
            kept = matched_alike(settings, truth, runs, labels)
            name = name_from(pairs)
            return self.desk(keep(store, name, labels, runs, truth, kept, True, made_of))
