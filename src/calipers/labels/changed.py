"""May I switch? Label only the results in which an old and a new run differ.

Questions are drawn by how many results differ (``calipers.statistics.switching``); those
that did not change make no difference and need no label. Labels that were given before
count as known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.labels.draft import Draft, question_texts, read_asked, with_corpus
from calipers.labels.judged_truth import JudgedTruth, is_relevant, why_waiting
from calipers.model.arrays import Floats
from calipers.model.claim import Claim, Standing
from calipers.model.document import Document, Note, of_claim
from calipers.model.fact import Fact, Sentence, commanded, named, sentence, signed_short
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import JUDGED_BY, MACHINE, Label, Pair, SwitchDraw, TargetsAs
from calipers.model.result import Plain, ShowsItself
from calipers.model.run import Run
from calipers.questions.pooling import FACTS, first_results, known_grade, shuffled
from calipers.shell import join_words
from calipers.statistics import switching
from calipers.store.label_pools import PoolContent
from calipers.store.pool import LabelState, PoolSettings
from calipers.words import listed, plural

PLACE = ("document", "start", "end")
FEWEST_TO_SHARE = 20
"""With fewer results, two runs may share none by chance."""

STANDINGS: dict[switching.Verdict, Standing] = {
    "safe": "passed",
    "small loss": "worse",
    "loss": "failed",
    "open": "no clear difference",
}


LARGE = 0.05
"""From so large a gain on, it is said before what may be lost."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Switch(Plain, ShowsItself, SwitchDraw):
    """Relevant results in the first k per query, new minus old, at the last look."""

    shown_by: ClassVar[str] = "calipers.labels.changed:document"
    dict_keys: ClassVar[str] = (
        "old new k allow confidence queries changed labelled_before drawn_from labelled "
        "looks counted difference low high verdict more_queries more_results waiting "
        "claim"
    )

    k: int
    changed: int
    """Queries whose first k results differ."""
    labelled_before: int
    """Results whose label was known."""
    drawn_from: int
    """Queries with a result to label."""
    labelled: int
    """Of these, those that are labelled completely, in the order drawn."""
    looks: tuple[int, ...]
    """Numbers of labelled queries at which the result is read."""
    counted: int | None
    """The last look; None before the first."""
    difference: float | None
    low: float | None
    high: float | None
    verdict: switching.Verdict
    better: int
    worse: int
    """Of the queries counted, those with more and with fewer relevant results than before."""
    more_queries: int
    """Queries to label until the next look."""
    more_results: int
    """Their results."""
    waiting: str | None = None
    """Why the next query cannot count: a result was skipped, or is a tie."""
    pool: str = ""
    """Empty where a file is labelled."""

    @property
    def line(self) -> str:
        """The progress, without a value, which somebody who judges must not see."""
        if self.verdict != "open":
            return "Enough is labelled to decide: you may stop."
        ahead = next(
            (look for look in self.looks if look > self.labelled), self.looks[-1]
        )
        which = "first" if self.counted is None else "next"
        done = f"{plural(self.labelled, 'question')} labelled so far"
        return f"{done}. The {which} result comes after {ahead:,}."

    @property
    def claim(self) -> Claim:
        """Whether the switch is safe, and when it is looked at again."""
        return Claim(STANDINGS[self.verdict], self._fact, next=self._next)

    @property
    def _fact(self) -> str:
        questions = plural(self.queries, "question")
        k = self.k
        low = self.low
        high = self.high
        size = Fact(about="count", count=self.changed, of=self.queries, k=k)
        if not self.changed:
            return sentence(
                "Safe to switch: {new} and {old} have the same results in the first {it.k} for "
                "{all}{it.of:question|questions}.",
                all="all " if self.queries > 1 else "",
                new=sentence("{it.text}", it=named(self.new)),
                old=sentence("{it.text}", it=named(self.old)),
                it=size,
            )
        if low is None or high is None:
            return sentence(
                "{it.count} of {it.of:question|questions} changed. The first look takes "
                "{look.count:label|labels} for {look.queries} of them.",
                it=size,
                look=Fact(
                    about="takes", count=self.more_results, queries=self.more_queries
                ),
            )
        results = f"relevant results in the first {k} per query"
        lost = f"{max(-high, 0.0):.2f} to {-low:.2f}"
        after = f" ({self.confidence:.0%}), after {self.counted:,} of {questions}."
        if low == high:
            lost = f"{-low:.2f}"
            after = f", by labels of all that changed in {questions}."
        gain = self.difference or 0.0
        ends = " to ".join(dict.fromkeys(signed_short(end) for end in (low, high)))
        sentences = {
            "loss": f"Do not switch: {self.new} loses {lost}",
            "small loss": f"{self.new} is worse, within what you allow: it loses {lost}",
            "safe": f"Safe to switch: {self.new} {_kept(gain, low, high)}",
            "open": f"Not settled: {self.new} has {ends}",
        }
        verdict = sentences[self.verdict]
        if self.verdict == "small loss" and high >= 0:
            # Many lose a little, and few gain much: the mean alone would say less.
            counts = f"{self.worse:,} of {plural(self.counted or 0, 'question')}"
            verdict = (
                f"{self.new} is worse in {counts}, better in {self.better:,}: {ends}"
            )
        fact = Fact(
            about="difference",
            system=self.new,
            against=self.old,
            difference=gain,
            low=low,
            high=high,
            k=k,
            queries=self.counted,
            better=self.better,
            worse=self.worse,
            of=self.queries,
            value=self.confidence,
            direction="better" if gain > 0 else "worse" if gain < 0 else "same",
            sure=low > 0 or high < 0,
        )
        return Sentence(f"{verdict} {results}{after}", [fact])

    @property
    def _next(self) -> str | None:
        if self.waiting is not None or self.verdict != "open":
            return self.waiting
        go_on = sentence(
            "Fill in 'grade' ({no.value:g} or {yes.value:g}) from the top of the file, and ask "
            "with --filled FILE.",
            no=Fact(about="setting", value=0.0, text="no"),
            yes=Fact(about="setting", value=1.0, text="yes"),
        )
        if self.pool:
            serve = join_words(["calipers", "serve", "--pool", self.pool])
            go_on = commanded("Go on: `{it.text}`", serve)
        if self.counted is None:
            return go_on
        return sentence(
            "The next look comes after {it.queries:more question|more questions} "
            "({it.count:label|labels}). {go_on}",
            it=Fact(about="takes", queries=self.more_queries, count=self.more_results),
            go_on=go_on,
        )


def _kept(gain: float, low: float, high: float) -> str:
    """What a switch that is safe does to the mean, from its interval.

    >>> _kept(0.2, 0.1, 0.3), _kept(0.0, 0.0, 0.0), _kept(-0.01, -0.03, 0.01)
    ('is better by 0.20 (0.10 to 0.30)', 'is as good: as many', 'loses at most 0.03')
    """
    if low > 0:
        # A gain that is sure is said as the gain that it is.
        between = "" if low == high else f" ({low:.2f} to {high:.2f})"
        return f"is better by {gain:.2f}{between}"
    if gain >= LARGE:
        return f"gains {gain:.2f} ({signed_short(low)} to {signed_short(high)})"
    if not low:
        return (
            "is as good: as many" if not high else "is as good or better: as many or more"
        )
    return f"loses at most {max(-low, 0.01):.2f}"


def document(switch: Switch) -> Document:
    """The verdict, and what it rests on."""
    return of_claim(switch.claim, *(_notes(switch) if switch.changed else ()))


def _notes(switch: Switch) -> Iterator[Note]:
    """What was known before, what did not change, and when the interval is looked at."""
    before = Fact(about="count", count=switch.labelled_before, text="labelled")
    if switch.labelled_before:
        yield Note(
            "counted",
            sentence("{it.count:label was|labels were} given before.", it=before),
        )
    if same := switch.queries - switch.changed:
        yield Note(
            "method",
            sentence(
                "{it.count} of {it.of:question|questions} did not change and count as no "
                "difference.",
                it=Fact(about="count", count=same, of=switch.queries),
            ),
        )
    # Where all is labelled, or will be at the one look, nothing is estimated.
    if len(switch.looks) > 1 and switch.counted != switch.drawn_from:
        yield Note(
            "method",
            sentence(
                "The interval holds at all looks together, after {looks.text} labelled "
                "questions.",
                looks=named(listed([f"{look:,}" for look in switch.looks])),
            ),
        )


@dataclass(frozen=True, eq=False)
class ChangedResults:
    """The results in the first k of one run only, in the order in which questions are drawn."""

    rows: tuple[Label, ...]
    """The results to label, question after question, shuffled within each."""
    side: Floats
    """For each row 1 if the new run has it, -1 if the old one does."""
    start: tuple[int, ...]
    """The first row of each question; the last entry is the number of rows."""
    sizes: Floats
    """How far the difference of each question can be from 0."""
    known: float
    """The sum of the differences that earlier labels settle."""
    labelled_before: int
    """Results that earlier labels settle."""
    changed: int
    """Questions with a result in one run only."""
    by_place: bool
    """Whether results are the same by their place in a document, and not by id."""


def compare_first(
    runs: Mapping[str, Run],
    k: int,
    seed: int,
    truth: GroundTruth | None = None,
    rel: float | None = None,
) -> ChangedResults:
    """Find the results in which the first k of an old and a new run differ, and draw questions."""
    only, by_place = _differing(runs, k)
    sides: dict[str, dict[Label, float]] = {}
    for side, frame in only.items():
        for row in frame.to_dicts():
            sides.setdefault(row["query"], {})[Label(row.pop("query"), **row)] = side
    targets = _targets(truth, list(sides))
    known: list[float] = []
    left: list[dict[Label, float]] = []
    for query, some in sorted(sides.items()):
        grades = {label: known_grade(label, targets.get(query, ())) for label in some}
        known += [
            some[label] * is_relevant(grade, rel)
            for label, grade in grades.items()
            if grade is not None
        ]
        if unknown := {
            label: side for label, side in some.items() if grades[label] is None
        }:
            left.append(unknown)
    sizes = [max(list(some.values()).count(side) for side in only) for some in left]
    order = switching.draw_order(sizes, np.random.default_rng(seed))
    drawn = [
        (label, left[at][label]) for at in order for label in shuffled(left[at], seed)
    ]
    return ChangedResults(
        tuple(label for label, _ in drawn),
        np.array([side for _, side in drawn], dtype=np.float64),
        (0, *np.cumsum([len(left[at]) for at in order]).tolist()),
        np.array(sizes, dtype=np.float64)[order],
        float(sum(known)),
        len(known),
        len(sides),
        by_place,
    )


def _differing(runs: Mapping[str, Run], k: int) -> tuple[dict[float, pl.DataFrame], bool]:
    """The results of the old run alone (-1) and the new (1), and whether they go by place."""
    old, new = (_first(run, k) for run in runs.values())
    by_place = all(
        column in frame.columns and not frame[column].null_count()
        for column in PLACE
        for frame in (old, new)
    )
    only = {-1.0: _without(old, new, by_place), 1.0: _without(new, old, by_place)}
    old, new = only.values()
    named = "item" in old.columns and "item" in new.columns
    if by_place and named and old.join(new, on=["query", "item"], how="semi").height:
        # Two chunkings number their chunks alike, so that an id does not say which one is
        # meant.
        only = {side: frame.with_columns(item=None) for side, frame in only.items()}
    return only, by_place


def _first(run: Run, k: int) -> pl.DataFrame:
    """The first k results of each question, each once, with what identifies them as ``key``."""
    frame = first_results(run, k)
    ids = [pl.col(column) for column in ("item", "text") if column in frame.columns]
    return frame.with_columns(key=pl.coalesce(ids)).unique(
        ["query", "key"], keep="first", maintain_order=True
    )


def _without(frame: pl.DataFrame, other: pl.DataFrame, by_place: bool) -> pl.DataFrame:
    """The results that the other run does not have.

    By place, two results of a document are one if they share half of the shorter.
    """
    keys = ["query", "key"]
    same = other
    if by_place:
        both = frame.join(other, on=["query", "document"], suffix="_other")
        shared = pl.min_horizontal("end", "end_other") - pl.max_horizontal(
            "start", "start_other"
        )
        own = pl.col("end") - pl.col("start")
        others = pl.col("end_other") - pl.col("start_other")
        same = both.filter((shared > 0) & (2 * shared >= pl.min_horizontal(own, others)))
    left = frame.join(same, on=keys, how="anti", maintain_order="left")
    return left.select("query", *(column for column in FACTS if column in frame.columns))


def _targets(
    truth: GroundTruth | None, queries: Sequence[str]
) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """The labels given before, by question; those of a language model do not count."""
    if truth is None:
        return {}
    targets = truth.targets.filter(pl.col("query").is_in(queries))
    if JUDGED_BY in truth.tags:
        by_machine = (
            truth.tags[JUDGED_BY].str.contains(MACHINE, literal=True).fill_null(False)
        )
        names = truth.queries["query"].filter(by_machine)
        targets = targets.filter(~pl.col("query").is_in(names.implode()))
    return targets.rows_by_key("query", named=True)


def switch_draw(runs: Mapping[str, Run], k: int, allow: float) -> SwitchDraw:
    """What is fixed before the first label; refuses runs that cannot be compared."""
    check_number("allow", allow, least=0.0)
    check_number("k", k, whole=True, least=1)
    if len(runs) != 2:
        raise InvalidInput(
            "--changed compares an old run with a new one, and "
            f"{plural(len(runs), 'run')} {'is' if len(runs) == 1 else 'are'} given; name "
            "two, the old one first."
        )
    old, new = runs
    first, second = (_asked(run) for run in runs.values())
    every = len(first | second)
    if len(first ^ second) > every / 2:
        raise InvalidInput(
            f"{old} and {new} answer different questions: {len(first ^ second):,} of "
            f"{every:,} are in one of them only; record both for the same questions."
        )
    only, _ = _differing(runs, k)
    heights = [_first(run, k).height for run in runs.values()]
    if only[-1.0].height == heights[0] and min(heights) > FEWEST_TO_SHARE:
        raise InvalidInput(
            f"{old} and {new} share no result. If they are two chunkings, record "
            "document, start and end with each result; else write the same ids in both."
        )
    return SwitchDraw(old=old, new=new, queries=every, allow=allow)


def _asked(run: Run) -> set[str]:
    """The questions of a run, also those without results."""
    named = set() if run.queries is None else set(run.queries["query"])
    return named | set(run.frame["query"].unique())


def switch_at(
    changed_results: ChangedResults,
    grades: Sequence[float | None],
    draw: SwitchDraw,
    k: int,
    rel: float | None = None,
    waiting: str | None = None,
    pool: str = "",
) -> Switch:
    """What the labels say at the last look that they reach: one grade or None for each row."""
    many = len(changed_results.sizes)
    parts = np.array(changed_results.start[:-1], dtype=np.int64)
    relevant = np.array([g is not None and is_relevant(g, rel) for g in grades], bool)
    missing = np.array([g is None for g in grades], bool)
    differences = (
        np.add.reduceat(relevant * changed_results.side, parts) if many else np.zeros(0)
    )
    unlabelled = np.flatnonzero(np.add.reduceat(missing, parts)) if many else np.zeros(0)
    labelled = int(unlabelled[0]) if unlabelled.size else many
    looks = switching.looks_of(many)
    counted = max((look for look in looks if look <= labelled), default=None)
    ahead = next((look for look in looks if look > labelled), many)
    verdict: switching.Verdict = "open"
    difference = low = high = None
    better = worse = 0
    if counted is not None:
        drawn = differences[:counted]
        better, worse = int((drawn > 0).sum()), int((drawn < 0).sum())
        level = switching.level_of(many, draw.confidence)
        totals = switching.switch_totals(drawn, changed_results.sizes, level)
        difference, low, high = (
            (float(total) + changed_results.known) / draw.queries for total in totals
        )
        verdict = switching.verdict_of(low, high, draw.allow)
        if verdict == "safe" and switching.many_lost(drawn):
            verdict = "small loss"
    ahead = ahead if verdict == "open" else labelled
    return Switch(
        **asdict(draw),
        k=k,
        changed=changed_results.changed,
        labelled_before=changed_results.labelled_before,
        drawn_from=many,
        labelled=labelled,
        looks=looks,
        counted=counted,
        difference=difference,
        low=low,
        high=high,
        verdict=verdict,
        better=better,
        worse=worse,
        more_queries=ahead - labelled,
        more_results=int(
            missing[changed_results.start[labelled] : changed_results.start[ahead]].sum()
        ),
        waiting=waiting,
        pool=pool,
    )


def what_changed(
    runs: Mapping[str, Run],
    truth: GroundTruth | None,
    settings: PoolSettings,
    *,
    allow: float,
    questions: object = None,
    corpus: object = None,
    filled: Mapping[Pair, float | None] = MappingProxyType({}),
) -> tuple[Draft, PoolSettings]:
    """The results to judge in which an old and a new run differ, and the settings of their pool.

    ``filled`` has the grades of files, None where none counts; the draft says whether to
    switch.
    """
    k = settings.depth
    draw = switch_draw(runs, k, allow)
    changed_results = compare_first(runs, k, settings.seed, truth, settings.rel)
    grades = [filled.get(row.pair) for row in changed_results.rows]
    judged = [at for at, row in enumerate(changed_results.rows) if row.pair in filled]
    if filled and changed_results.rows and not judged:
        raise InvalidInput(
            "The filled-in file has no result in which these runs differ; give the runs, "
            "-k and -g with which it was written."
        )
    waiting = None
    if judged and (first := [*grades, None].index(None)) <= judged[-1]:
        waiting = (
            f"A result of the question {changed_results.rows[first].query_id!r:.60} has "
            "no grade of a person, or judges differ on it: settle it, so that those "
            "below it count."
        )
    texts = read_asked(questions) or {}
    queries = dict.fromkeys(row.query_id for row in changed_results.rows)
    known: list[Run | GroundTruth] = [*runs.values()]
    if truth is not None and questions is None:
        known.insert(0, truth)
    texts = {
        **question_texts(known, [query for query in queries if query not in texts]),
        **texts,
    }
    rows = [replace(row, query=texts.get(row.query_id)) for row in changed_results.rows]
    if corpus is not None and rows:
        rows = with_corpus(rows, corpus)
    as_span = changed_results.by_place and all(row.start is not None for row in rows)
    by_id = any(row.item is not None for row in rows)
    targets_as: TargetsAs = "span" if as_span else "id" if by_id else "quote"
    drafted = Draft(
        rows=rows,
        runs=len(runs),
        k=k,
        seed=settings.seed,
        queries=len(changed_results.sizes),
        judged=changed_results.labelled_before,
        without_text=sum(row.text is None for row in rows),
        switch=switch_at(changed_results, grades, draw, k, settings.rel, waiting),
    )
    return drafted, replace(settings, order="plain", switch=draw, targets_as=targets_as)


def switch_state(
    changed: ChangedResults,
    content: PoolContent,
    judged_truth: JudgedTruth,
    state: LabelState,
) -> Switch:
    """What the labels of a pool say so far."""
    how = content.settings
    draw = content.settings.switch
    assert draw is not None  # noqa: S101 - only such a pool is asked
    grades = [judged_truth.grades.get(item.position) for item in content.items]
    waiting = None
    if None in grades:
        query = content.items[grades.index(None)].label.query_id
        places = (item.position for item in content.items if item.label.query_id == query)
        waiting = why_waiting(query, places, judged_truth, state)
    return switch_at(changed, grades, draw, how.depth, how.rel, waiting, content.name)
