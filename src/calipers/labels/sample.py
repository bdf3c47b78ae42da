"""A sample that people judge: its draw, how far it is, and what it says of a machine's labels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from calipers.engines.scoring import choose_metrics
from calipers.engines.summary import value_bounds
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.labels.draft import read_inputs
from calipers.labels.judged_truth import JudgedTruth, scored_run, why_waiting
from calipers.labels.new_pool import keep, matched_alike, pool_settings, to_judge
from calipers.model.arrays import Floats
from calipers.model.claim import Claim
from calipers.model.document import Document, Note, of_claim
from calipers.model.fact import Fact, joined, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import DRAWN, JUDGED_BY, Draw, DrawnQuery, Label, is_peoples
from calipers.model.policy import Policy
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.model.scores import Interval, Method, Scores
from calipers.present.escape import printable
from calipers.questions.pooling import place
from calipers.shell import join_words
from calipers.statistics.prediction_powered import DrawnSample, planned_looks
from calipers.statistics.sample_looks import FIRST
from calipers.store.label_pools import PoolContent
from calipers.store.open import open_store
from calipers.store.pool import LabelState, PoolSettings
from calipers.store.record import name_from
from calipers.words import plural

if TYPE_CHECKING:
    from calipers.labels.settings import LabelsSampleSettings, Pooling, Runs


def draw(runs: "Runs", settings: "LabelsSampleSettings") -> int:
    """Draw a sample and save it as a pool, unless the same one exists; returns its number."""
    pooling = settings.pooling
    [metric, *_] = choose_metrics(pooling.metric, None)
    depth = (metric.k or 10) if settings.depth is None else settings.depth
    kept = pool_settings(pooling, depth=depth)
    until = settings.until
    if not 0.0 < until < 1.0:
        raise InvalidInput(
            f"The width to reach is {until}; give one between 0 and 1, as 0.05."
        )
    loaded, truth = _machine_inputs(runs, pooling)
    labels = to_judge(
        loaded,
        truth,
        kept,
        questions=pooling.questions,
        corpus=pooling.corpus,
        again=True,
    )
    kept = matched_alike(kept, truth, loaded, labels)
    _check_readable(truth, labels)
    rows: dict[str, list[Label]] = {}
    for label in labels:
        rows.setdefault(label.query_id, []).append(label)
    drawn = drawn_order(
        (query for query in truth.queries["query"] if query in rows), kept.seed
    )
    total = len(drawn)
    if min(settings.most, total) < FIRST:
        raise InvalidInput(
            f"There are {plural(total, 'query', 'queries')} to draw from, and at most "
            f"{settings.most} are to be judged; fewer than {FIRST} say nothing of the "
            "others."
        )
    most = min(settings.most, total)
    scored = _scored(truth, loaded, kept, drawn)
    looks = _plan(scored, drawn, most, settings)
    sample = Draw(
        seed=pooling.seed,
        total=total,
        looks=looks,
        until=until,
        confidence=settings.confidence,
        ground_truth=truth.fingerprint,
        runs=tuple(scores.fingerprints.get("run") or "" for scores in scored),
    )
    items = [label for query in drawn[:most] for label in rows[query]]
    store = open_store(pooling.store, create=True, keep=True)
    called = settings.pool or f"{name_from(loaded, 83)}-sample"
    return keep(
        store, called, items, loaded, truth, replace(kept, order="plain", sample=sample)
    )


def _machine_inputs(
    runs: "Runs", pooling: "Pooling"
) -> tuple[dict[str, Run], GroundTruth]:
    """The runs, kept in memory, and the machine's ground truth that people correct."""
    read, truth = read_inputs(runs, pooling.ground_truth, pooling.columns)
    if truth is None:
        raise InvalidInput("The machine's ground truth is not given; name it with -g.")
    if JUDGED_BY in truth.tags and all(
        is_peoples(judge) for judge in truth.tags[JUDGED_BY]
    ):
        raise InvalidInput("People gave every label: there is no machine to correct.")
    return {name: run.kept() for name, run in read.items()}, truth


def _scored(
    truth: GroundTruth, runs: Mapping[str, Run], kept: PoolSettings, drawn: Sequence[str]
) -> list[Scores]:
    """The machine's scores of each run, where they have a mean that labels can correct."""
    scored = []
    for name, run in runs.items():
        scores = scored_run(truth, run, kept)
        if (
            scores is None
            or scores.metrics[0].aggregate != "mean"
            or np.isnan(metric_values(scores, drawn)).all()
        ):
            raise InvalidInput(
                f"{kept.metric} of {name} has no mean over these queries that "
                "people's labels could correct; choose another metric with -m, or "
                "another run."
            )
        scored.append(scores)
    return scored


def _plan(
    scored: Iterable[Scores],
    drawn: Sequence[str],
    most: int,
    settings: "LabelsSampleSettings",
) -> tuple[int, ...]:
    """The looks of the run that needs most labels; refused where the width is out of reach."""
    until = settings.until
    plans = []
    for scores in scored:
        values = metric_values(scores, drawn)
        bounds = value_bounds(scores.metrics[0])
        plans.append(planned_looks(values, until, most, settings.confidence, bounds))
    looks, widest = max(plans, key=lambda plan: (plan[1] > until, plan[0][0]))
    if widest > until:
        raise InvalidInput(
            f"±{until:g} cannot be reached: even {most:,} of {len(drawn):,} queries "
            f"without any error of the machine leave about ±{widest:.3f}; ask for "
            f"--until {widest + 0.005:.2f} or more, or draw more (--most)."
        )
    return looks


def drawn_order(queries: Iterable[str], seed: int) -> list[str]:
    """The queries in the order of the draw, by a hash of the seed.

    >>> drawn_order("abcd", 1)
    ['a', 'b', 'd', 'c']
    """
    return sorted(queries, key=lambda query: place(seed, query))


def _check_readable(truth: GroundTruth, labels: Sequence[Label]) -> None:
    """Refuse targets without a text: nobody could judge them, nor complete their query."""
    there = {(label.query_id, label.document, label.start, label.end) for label in labels}
    spans = truth.targets.filter(pl.col("start").is_not_null(), pl.col("item").is_null())
    rows = spans.select("query", "document", "start", "end").iter_rows()
    if lost := [row for row in rows if row not in there]:
        query, document, start, end = lost[0]
        raise InvalidInput(
            f"Give runs whose chunks hold every target; {plural(len(lost), 'text')} are "
            f"unknown, such as {start}–{end} of {document!r:.60} for the query "
            f"{query!r:.60}."
        )


def metric_values(scores: Scores, queries: Sequence[str]) -> Floats:
    """The watched metric of these queries; NaN if unknown."""
    at = {query: row for row, query in enumerate(scores.queries["query"])}
    column = np.append(scores.of(scores.metrics[0].name), np.nan)
    return column[[at.get(query, -1) for query in queries]]


@dataclass(frozen=True)
class SampleLook(Plain):
    """What the sample says of one run at the last look."""

    run: str
    machine: float
    value: float
    interval: Interval
    people: float


@dataclass(frozen=True, kw_only=True, repr=False)
class SampleState(Plain, HasRows):
    """A sample for human judges: its estimate, and how wide the interval is."""

    shown_by: ClassVar[str] = "calipers.labels.sample"
    dict_keys: ClassVar[str] = (
        "pool metric draw judged width next_look enough left reached waiting looks claims"
    )

    pool: str
    metric: str
    draw: Draw
    judged: int
    """Queries that humans judged completely."""
    width: float | None
    """Half the current width of the interval; None with fewer than two."""
    next_look: int | None
    enough: int | None
    """The look at which it is, or should be, as narrow as asked; None if at none."""
    waiting: str | None = None
    """A question that cannot count yet: skipped, or a tie."""
    looks: tuple[SampleLook, ...]
    """One for each run; none before the first look."""
    counted: int | None
    """The last look: later labels count from the next on."""

    @property
    def reached(self) -> bool:
        """Whether the interval at the last look is as narrow as asked."""
        return self.enough is not None and self.enough <= (self.counted or 0)

    @property
    def left(self) -> int | None:
        """About how many are left to judge."""
        return None if self.enough is None else max(self.enough - self.judged, 0)

    @property
    def line(self) -> str:
        """The width now and next, and how many are left; no value, which a judge must not see."""
        done = Fact(
            about="count", count=self.judged, of=self.draw.looks[-1], text="judged"
        )
        judged = sentence("{it.count} of {it.of:question|questions} judged", it=done)
        wanted = Fact(about="setting", value=self.draw.until)
        width = Fact(about="bound", value=self.width)
        if self.reached:
            return sentence(
                "{judged}: ±{it.value}, narrow enough (±{until.value:g}). You may stop.",
                judged=judged,
                it=width,
                until=wanted,
            )
        if self.width is not None:
            now = sentence(": about ±{it.value} now", it=width)
            judged = joined(judged, now, by="")
        if self.next_look is not None:
            ahead = Fact(about="setting", count=self.next_look, text="next look")
            look = sentence("; the next look is at {it.count}", it=ahead)
            judged = joined(judged, look, by="")
        if self.enough is None:
            return sentence(
                "{judged}; ±{until.value:g} will not be reached with these.",
                judged=judged,
                until=wanted,
            )
        return sentence(
            "{judged}; about {left.count} left until ±{until.value:g}.",
            judged=judged,
            left=Fact(about="takes", count=self.left),
            until=wanted,
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the sample says, in one claim."""
        if not self.looks:
            first = sentence(
                "The first look is at {it.count} judged.",
                it=Fact(about="setting", count=self.draw.looks[0], text="first look"),
            )
            return (Claim("no clear difference", self.line, range=first),)
        widest = max(self.looks, key=lambda look: look.interval.high - look.interval.low)
        of_run = f" of {widest.run}" if len(self.looks) > 1 else ""
        seen = sentence(
            "{it.metric}{of_run} is {it.value} ({it.low}–{it.high}) by {it.queries} "
            "questions, {it.before} by the machine alone.",
            of_run=of_run,
            it=Fact(
                about="mean",
                system=widest.run,
                metric=self.metric,
                value=widest.value,
                before=widest.machine,
                low=widest.interval.low,
                high=widest.interval.high,
                queries=self.counted,
            ),
        )
        if self.reached:
            export = join_words(
                ["calipers", "labels", "export", self.pool, "-o", "people.jsonl"]
            )
            after = (
                f"Next: `{export}`; then `calipers eval` takes --corrected-by "
                "people.jsonl."
            )
            fact = sentence(
                "Narrow enough (±{until.value:g}): {seen}",
                until=Fact(about="setting", value=self.draw.until),
                seen=seen,
            )
            return (Claim("passed", fact, next=self.waiting or after),)
        go_on = f"Go on: `{join_words(['calipers', 'serve', '--pool', self.pool])}`"
        fact = sentence("Not narrow enough yet: {seen}", seen=seen)
        return (Claim("no clear difference", fact, self.line, self.waiting or go_on),)


def document(sample_state: SampleState) -> Document:
    """The estimate at the last look, and its width."""
    draw = sample_state.draw
    later = sample_state.judged - (sample_state.counted or 0)
    looks = ", ".join(f"{look:,}" for look in draw.looks)
    at = named(looks)
    hold = sentence("It is read once, at {at.text}.", at=at)
    if len(draw.looks) > 1:
        hold = sentence(
            "Looks at {at.text}: the {level.value:.0%} intervals of all of them hold "
            "together, so you may stop at any.",
            at=at,
            level=Fact(about="setting", value=draw.confidence),
        )
    most = sentence(
        "{pool.text}: {it.count:question|questions} at most, drawn at random of {it.of} "
        "(seed {seed.count}).",
        pool=named(printable(sample_state.pool)),
        it=Fact(about="count", count=draw.looks[-1], of=draw.total),
        seed=Fact(about="setting", count=draw.seed, text="seed"),
    )
    notes = [Note("counted", joined(most, hold))]
    if sample_state.counted and later:
        since = Fact(about="count", count=later, text="judged since")
        template = "{it.count} judged since the last look count at the next."
        notes.append(Note("doubt", sentence(template, it=since)))
    return of_claim(sample_state.claims[0], *notes, rows=lambda: sample_state.looks)


class SampleWatch:
    """The sampling state of a pool."""

    def __init__(self, content: PoolContent, draw: Draw) -> None:
        self.content = content
        self.draw = draw
        assert content.ground_truth is not None  # noqa: S101 - a sample is drawn of one
        self.truth: GroundTruth = content.ground_truth
        self._known: tuple[str, SampleState] | None = None

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The items of each query, in the order of the draw."""
        places: dict[str, list[int]] = {}
        for item in self.content.items:
            places.setdefault(item.label.query_id, []).append(item.position)
        return places

    def counted(
        self, truth: JudgedTruth, state: LabelState
    ) -> tuple[list[str], str | None]:
        """The queries that humans judged completely, in drawn order, and what blocks the rest.

        A question that is not judged yet is passed over: that is unrelated to its
        results. One that was skipped, or on which judges differ, may be a harder one, so
        nothing after it counts until it is judged.
        """
        judged = []
        for query, items in self._places.items():
            if is_peoples(truth.sources.get(query)):
                judged.append(query)
                continue
            if (why := why_waiting(query, items, truth, state)) is not None:
                return judged, why
        return judged, None

    def _scored(self, truth: GroundTruth) -> dict[str, Scores]:
        """The watched metric of every run that has something in common with a ground truth."""
        settings = self.content.settings
        policy = Policy(unknown="ignore")
        runs = self.content.runs.items()
        scored = {name: scored_run(truth, run, settings, policy) for name, run in runs}
        return {name: scores for name, scores in scored.items() if scores is not None}

    @cached_property
    def _machine(self) -> dict[str, Scores]:
        return self._scored(self.truth)

    def state(self, judged_truth: JudgedTruth, state: LabelState) -> SampleState:
        """The current state; computed again only when the labels changed."""
        judged, waiting = self.counted(judged_truth, state)
        truth = judged_truth.ground_truth or self.truth
        people = truth.only(truth.queries["query"].is_in(judged)) if judged else None
        mark = "" if people is None else people.fingerprint
        if self._known is None or self._known[0] != mark:
            self._known = mark, self._state(judged, people)
        return replace(self._known[1], waiting=waiting)

    def _state(self, queries: list[str], people: GroundTruth | None) -> SampleState:
        samples = self._samples(people, queries)
        judged = len(queries)
        first = next(iter(samples.values()))
        last = first.last_look
        looks = []
        for name, drawn in samples.items():
            if last is not None and (result := drawn.at(last)) is not None:
                kind: Method = "t" if drawn.bounds is None else "score"
                ends = Interval(*result.interval, self.draw.confidence, kind)
                looks.append(
                    SampleLook(name, result.machine, result.value, ends, result.people)
                )
        enough = [sample.enough(self.draw.until) for sample in samples.values()]
        widths = [sample.width(judged) for sample in samples.values()]
        return SampleState(
            pool=self.content.name,
            metric=self.content.settings.metric,
            draw=self.draw,
            judged=judged,
            width=max((width for width in widths if width is not None), default=None),
            next_look=first.next_look,
            enough=None
            if None in enough
            else max(needed for needed in enough if needed is not None),
            looks=tuple(looks),
            counted=last,
        )

    def _samples(
        self, people: GroundTruth | None, judged: list[str]
    ) -> dict[str, DrawnSample]:
        """The values of each run by machine and by human labels."""
        order = list(
            dict.fromkeys([*judged, *self._places, *self.truth.queries["query"]])
        )
        theirs = {} if people is None else self._scored(people)
        nothing = np.full(len(order), np.nan)
        looks = (self.draw.looks, self.draw.confidence)
        return {
            name: DrawnSample(
                metric_values(scores, order),
                metric_values(theirs[name], order) if name in theirs else nothing,
                len(judged),
                *looks,
                value_bounds(scores.metrics[0]),
            )
            for name, scores in self._machine.items()
        }

    def tags(
        self, truth: GroundTruth, judged_truth: JudgedTruth, state: LabelState
    ) -> pl.Series:
        """The tag that records how each query was drawn; null if humans did not judge it."""
        judged, _ = self.counted(judged_truth, state)
        places = {query: at for at, query in enumerate(judged, 1)}
        names = truth.queries["query"]
        mark = truth.only(names.is_in(list(places))).fingerprint if places else ""
        tags = [
            DrawnQuery(draw=self.draw, place=at, labels=mark).as_tag() if at else None
            for at in map(places.get, names)
        ]
        return pl.Series(DRAWN, tags, dtype=pl.String)
