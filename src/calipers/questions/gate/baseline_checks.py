"""Scores beside those of a baseline, query by query: did it lose, would others lose?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.age import age_of
from calipers.model.arrays import Floats, Ints, frozen_array
from calipers.model.claim import Claim
from calipers.model.scores import Interval, MetricFacts, Scores
from calipers.model.slicing import QuerySlice, clusters_in, everything, slices_by
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import (
    check_paired,
    obstacles,
    some_queries,
    undefined_in_some,
)
from calipers.questions.compare.metric_difference import (
    ROUNDING,
    corrected_level,
    limits_of,
    mean_difference,
    paired,
)
from calipers.questions.default_metrics import asked_metrics
from calipers.questions.gate.condition_checks import check_of
from calipers.questions.gate.result import SHOWN, Change, Check, GateRule, Status, worst_queries
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import family_of
from calipers.statistics.paired_test import (
    PairedTest,
    mean_of_runs,
    paired_tests,
    sign_test,
    undone_by,
)
from calipers.statistics.queries_needed import queries_like_these
from calipers.words import counts_in_words, did_you_mean, number, plural

_CLOCKS_DIFFER = timedelta(days=1)
"""A baseline may be saved this far in the future: clocks differ, but not by more."""


SIGN_LEVEL = 0.01
"""Below this sign test no row is called passed, whatever its mean says."""


@dataclass(frozen=True, eq=False)
class GateRow:
    """One metric on one slice: its gains, above 0 where the new result is better."""

    metric: str
    part: QuerySlice
    gains: Floats
    test: PairedTest | None
    rows: int
    """How many rows it is corrected for, itself among them."""
    p_loss: float | None
    p_gain: float | None

    @property
    def place(self) -> str:
        """The metric, and of which queries."""
        return self.metric if self.part.name is None else f"{self.metric} ({self.part.name})"

    @property
    def loss(self) -> float:
        """How much the mean fell."""
        gains = self.gains[~np.isnan(self.gains)]
        return -mean_difference(gains) if gains.size else 0.0

    @property
    def better(self) -> int:
        """Queries that gained."""
        return int(np.count_nonzero(self.gains > 0))

    @property
    def worse(self) -> int:
        """Queries that lost."""
        return int(np.count_nonzero(self.gains < 0))

    @property
    def units(self) -> int:
        """Queries, or clusters of them."""
        return self.test.n if self.test else int(np.count_nonzero(~np.isnan(self.gains)))

    def shows(self, rule: GateRule) -> bool:
        """Whether a loss or a gain is shown beyond these queries."""
        return any(p is not None and p <= rule.alpha for p in (self.p_loss, self.p_gain))

    def fewest(self, alpha: float) -> int:
        """How many queries could show a loss among so many rows, were all of them lost."""
        return max(2, math.ceil(math.log2(self.rows / alpha)))


def gate_rows(
    places: Sequence[tuple[str, QuerySlice]],
    gains: Sequence[Floats],
    tests: Sequence[PairedTest | None],
    alpha: float = 0.05,
) -> list[GateRow]:
    """The rows of one gate: metric, slice, gains and test of each, corrected over all of them."""
    least = [0.5**test.n if test else None for test in tests]
    lost = family_of([test.p_below() if test else None for test in tests], least, alpha)
    gained = family_of([test.p_above() if test else None for test in tests], least, alpha)
    return [
        GateRow(
            name, part, gains[at], tests[at], lost.rows[at], lost.adjusted[at], gained.adjusted[at]
        )
        for at, (name, part) in enumerate(places)
    ]


def standing(row: GateRow, rule: GateRule) -> tuple[Status, tuple[str, ...]]:
    """The answer to both questions, and why it is no pass."""
    failed, unsure = [], []
    if row.p_loss is not None and row.p_loss <= rule.alpha:
        failed.append(SHOWN)
    if not rule.only_shown and row.loss > rule.allow + ROUNDING:
        failed.append(f"more than the {rule.allow:g} allowed")
    if failed:
        return "failed", tuple(failed)
    if row.loss > 0 or sign_test(row.worse, row.better) < SIGN_LEVEL:
        unsure.append("a loss, not significant")
    if row.units < row.fewest(rule.alpha):
        n = row.units
        queries = "no query" if n == 0 else "1 query" if n == 1 else f"{n:,} queries"
        unsure.append(f"{queries} can show no loss, {row.fewest(rule.alpha)} could")
    if not unsure:
        return "passed", ()
    return "no clear difference", tuple(unsure)


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two results over the queries that both have, in the order of the first."""

    now: Scores
    before: Scores
    rows_now: np.ndarray
    rows_before: np.ndarray

    def difference(self, metric: str) -> Floats:
        """Now minus before, per query of ``now``; NaN where there is no pair."""
        return self.now.of(metric) - self.baseline(metric)

    def baseline(self, metric: str) -> Floats:
        """The values before, in the order of the queries of ``now``."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = self.before.of(metric)[self.rows_before]
        return column


def pair(now: Scores, before: Scores) -> Pairing:
    """The queries of two results put beside one another; sharing none is an error."""
    rows = before.rows_of(now.queries["query"])
    shared = np.flatnonzero(rows >= 0)
    if not shared.size:
        ours, theirs = (some_queries(one.queries["query"].head(3)) for one in (now, before))
        raise InvalidInput(
            f"The result and the baseline share no query: the result has {ours}; the "
            f"baseline has {theirs}. Save a baseline for these queries."
        )
    return Pairing(now, before, shared, rows[shared])


def average(kept: Baseline) -> Scores:
    """The runs of a baseline as one result: per query the mean over the runs that have it."""
    if not kept.further:
        return kept.scores
    first, pairs = kept.scores, [pair(kept.scores, other) for other in kept.further]
    columns = [
        mean_of_runs([first.of(one.name), *(both.baseline(one.name) for both in pairs)])
        for one in first.metrics
    ]
    values = frozen_array(np.column_stack(columns))
    summaries = summarise(first.metrics, values, first.weights, first.settings, clusters_in(first))
    return replace(first, values=values, summaries=summaries)


def with_run(kept: Baseline, new: Baseline) -> Baseline:
    """The baseline with one more run, which must have been measured in the same way."""
    named = {f"the baseline {kept.name}": kept.scores, "this run": new.scores}
    blocked = list(obstacles(named))
    missing = [one.name for one in kept.scores.metrics if one.name not in new.scores]
    if missing:
        blocked.append(f"This run has no {missing[0]}, which the baseline {kept.name} holds.")
    if blocked:
        raise InvalidInput(
            f"{' '.join(blocked)} Add runs of the same commit on the same queries, or save the "
            "baseline anew without --add."
        )
    return replace(new, scores=kept.scores, name=kept.name, further=(*kept.further, new.scores))


@dataclass(frozen=True, eq=False)
class AgainstBaseline:
    """A result beside its baseline."""

    pairing: Pairing
    asked: list[str]
    """The metrics that decide."""
    checks: list[Check]
    warnings: list[str]
    """What makes the baseline a poor yardstick, where it was compared anyway."""


def against_baseline(
    scores: Scores,
    kept: Baseline,
    wanted: Sequence[Metric],
    rule: GateRule,
    *,
    named: bool,
    primary: str | None,
    tags: Sequence[str],
    clusters: Ints | None,
    max_age: str | None,
    anyway: bool,
    now: datetime,
) -> AgainstBaseline:
    """Every metric and slice beside the baseline; one that cannot be trusted is refused."""
    warnings = _doubts(kept, scores, max_age, now)
    pairing = pair(scores, average(kept))
    names = _names(wanted, scores, kept)
    facts = [facts_by_name(scores)[name] for name in names]
    for one in facts:
        check_paired(one)
    asked = asked_metrics(facts, primary, named=named)
    warnings += _undefined(pairing, names)
    if warnings and not anyway:
        raise InvalidInput(
            " ".join(warnings) + " Save the baseline again (`calipers gate save`), or "
            "compare all the same with --anyway."
        )
    checks = check_baseline(
        pairing,
        asked,
        [name for name in names if name not in asked],
        [everything(scores), *slices_by(scores, tags)],
        baseline=kept.name,
        rule=rule,
        clusters=clusters,
    )
    return AgainstBaseline(pairing, asked, checks, warnings)


def _names(wanted: Sequence[Metric], scores: Scores, kept: Baseline) -> list[str]:
    names = [str(metric) for metric in wanted]
    if scores.weights and kept.scores.weights:
        names.append("score")
    for what, has, again in (
        (f"The baseline {kept.name}", list(kept.scores), "save the baseline again"),
        ("This result", list(scores), "measure again"),
    ):
        for name in names:
            if name not in has:
                raise InvalidInput(
                    f"{what} has no {name}; it has {', '.join(has)}.{did_you_mean(name, has)} "
                    f"Choose among these with -m, or {again} with the metric."
                )
    if not names:
        raise InvalidInput(
            f"The baseline {kept.name} holds no metric of which more or less is better; save it "
            "again with the metrics to watch."
        )
    return names


def _doubts(kept: Baseline, scores: Scores, max_age: str | None, now: datetime) -> list[str]:
    """What makes the baseline a poor yardstick, one sentence each."""
    differing = obstacles({"this result": scores, f"the baseline {kept.name}": kept.scores})
    found = [sentence[:1].upper() + sentence[1:] for sentence in differing]
    if kept.saved is not None and kept.saved - now > _CLOCKS_DIFFER:
        found.append(
            f"The baseline {kept.name} was saved on {kept.saved.date()}, which lies in the future."
        )
    if max_age is not None:
        allowed = age_of(max_age, "The highest age of the baseline")
        if kept.saved is None:
            found.append(
                f"The baseline {kept.name} does not say when it was saved, and it may be at most "
                f"{max_age.strip()} old."
            )
        elif now - kept.saved > allowed:
            found.append(
                f"The baseline {kept.name} is {(now - kept.saved).days} days old (saved on "
                f"{kept.saved.date()}); at most {max_age.strip()} are allowed."
            )
    return found


def _undefined(pairing: Pairing, names: Sequence[str]) -> list[str]:
    queries = pairing.now.queries["query"].gather(pairing.rows_now)
    found = []
    for name in names:
        columns = {
            "this result": pairing.now.of(name)[pairing.rows_now],
            "the baseline": pairing.before.of(name)[pairing.rows_before],
        }
        sentence = undefined_in_some(name, columns, queries)
        if sentence:
            found.append(sentence)
    return found


def check_baseline(
    pairing: Pairing,
    asked: Sequence[str],
    supporting: Sequence[str],
    slices: Sequence[QuerySlice],
    *,
    baseline: str,
    rule: GateRule,
    clusters: Ints | None = None,
) -> list[Check]:
    """Two questions for every metric asked for and every slice: did it lose, would others lose?"""
    facts = facts_by_name(pairing.now)
    places = [(name, part) for part in slices for name in asked]
    gains = [_gains(pairing.difference(name), facts[name], part) for name, part in places]
    tests = paired_tests(gains, clusters, [limits_of(facts[name]) for name, _ in places])
    checks = []
    for row in gate_rows(places, gains, tests, rule.alpha):
        name, part = row.metric, row.part
        change = _change(pairing, facts[name], row, rule)
        status, because = standing(row, rule)
        place = "" if part.name is None else f" for {part.name}"
        called = f"{name} not worse than {baseline}{place}"
        check = check_of(pairing.now, name, part, called, clusters)
        checks.append(
            replace(
                check,
                status=status,
                change=change,
                because=because,
                claim=_claim(row, change, status, rule, facts[name]),
                worst=worst_queries(
                    pairing.now,
                    np.where(row.gains < 0, row.gains, np.nan),
                    pairing.now.of(name),
                    pairing.baseline(name),
                ),
            )
        )
    return [*checks, *(_shown(pairing, facts[name], baseline, clusters) for name in supporting)]


def _claim(
    row: GateRow, change: Change, status: Status, rule: GateRule, facts: MetricFacts
) -> Claim:
    return Claim(
        "passed" if status == "supporting" else status,
        _fact(row, change, status, facts),
        range=_range(row, change, rule),
        next=_next(row, change, status, rule),
    )


def _fact(row: GateRow, change: Change, status: Status, facts: MetricFacts) -> str:
    """How the mean moved on these queries, and how many of them moved which way."""
    if change.baseline is None or change.now is None:
        return f"No query can be compared in {row.place}."
    counts = counts_in_words(
        change.better, change.worse, change.better + change.worse + change.same
    )
    if status == "passed":
        return f"No worse than the baseline in {row.place}: {counts}."
    before, now = number(change.baseline), number(change.now)
    if status == "no clear difference":
        return f"No clear difference in {row.place} ({before}, now {now}): {counts}."
    if facts.turn < 0:
        return f"{row.place} got worse: it was {before}, is {now}; {counts}."
    return f"{row.place} fell from {before} to {now}; {counts}."


def _range(row: GateRow, change: Change, rule: GateRule) -> str | None:
    """What is likely lost on new queries."""
    if row.test is None or change.interval is None:
        return None
    low, high = row.test.interval(change.interval.level)
    if row.p_loss is not None and row.p_loss <= rule.alpha and high < 0:
        return f"At least {-high:.2g} is likely lost on new queries, too."
    if -math.inf < low < 0:
        return f"A loss of up to {-low:.2g} on new queries is possible."
    return None


def _next(row: GateRow, change: Change, status: Status, rule: GateRule) -> str | None:
    """What would settle it."""
    if status == "passed":
        return None
    if status == "failed":
        return "Is the loss meant? Make it the baseline: `calipers gate --accept 'why it is meant'`"
    fewest = row.fewest(rule.alpha)
    if row.units < fewest:
        return f"{plural(fewest - row.units, 'more query', 'more queries')} could show a loss."
    if row.test is None or change.loss <= 0:
        return None
    more = queries_like_these(row.test, 2.0 * rule.alpha / row.rows) - row.units
    if more <= 0:
        return None
    further = plural(more, "more query", "more queries")
    return f"About {further} would settle it."


def _gains(differences: Floats, facts: MetricFacts, part: QuerySlice) -> Floats:
    """The differences of a slice, above 0 where the new result is better; NaN elsewhere."""
    gains: Floats = np.where(part.chosen, facts.turn * differences, np.nan)
    gains[np.abs(gains) < ROUNDING] = 0.0
    return gains


def _shown(pairing: Pairing, facts: MetricFacts, baseline: str, clusters: Ints | None) -> Check:
    """A metric that nobody asked for: its difference with an interval, and no verdict."""
    whole = everything(pairing.now)
    differences, level = pairing.difference(facts.name), pairing.now.settings["confidence"]
    row = GateRow(facts.name, whole, _gains(differences, facts, whole), None, 1, None, None)
    interval = paired(differences, facts, clusters).interval(level)
    change = replace(_change(pairing, facts, row, GateRule()), interval=interval)
    check = check_of(pairing.now, facts.name, whole, f"{facts.name} beside {baseline}", clusters)
    return replace(check, status="supporting", change=change)


def _change(pairing: Pairing, facts: MetricFacts, row: GateRow, rule: GateRule) -> Change:
    chosen = row.part.chosen
    before, now = pairing.baseline(facts.name)[chosen], pairing.now.of(facts.name)[chosen]
    known = ~np.isnan(row.gains[chosen])
    pairs = int(np.count_nonzero(~np.isnan(row.gains)))
    turned = facts.turn
    interval = None
    if row.test is not None:
        p = row.test.p_below()
        level = corrected_level(round(1.0 - 2.0 * rule.alpha, 12), p, row.p_loss)
        ends = row.test.interval(level)
        low, high = sorted((turned * ends.low, turned * ends.high))
        interval = Interval(low, high, level, "paired")
    return Change(
        baseline=exact_mean(before[known]) if known.any() else None,
        now=exact_mean(now[known]) if known.any() else None,
        difference=turned * -row.loss if pairs else None,
        loss=row.loss,
        interval=interval,
        p_value=row.test.p_below() if row.test else None,
        p_adjusted=row.p_loss,
        p_gain=row.p_gain,
        better=row.better,
        worse=row.worse,
        same=pairs - row.better - row.worse,
        unpaired=int((np.isnan(before) != np.isnan(now)).sum()),
        unseen=undone_by(row.test, rule.confidence) if row.test and row.shows(rule) else None,
    )
