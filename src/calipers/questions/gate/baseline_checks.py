"""Scores beside those of a baseline, query by query: did it lose, would others lose?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints, frozen_array
from calipers.model.claim import Claim
from calipers.model.scores import Interval, MetricFacts, Scores
from calipers.model.slicing import QuerySlice, clusters_in, everything
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import obstacles, some_queries
from calipers.questions.compare.metric_difference import (
    ROUNDING,
    corrected_level,
    limits_of,
    paired,
)
from calipers.questions.gate.condition_checks import check_of
from calipers.questions.gate.result import Change, Check, Status, worst_queries
from calipers.questions.gate.rows import GateRow, GateRule, gate_rows, standing
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_test import mean_of_runs, paired_tests, undone_by
from calipers.statistics.queries_needed import queries_like_these
from calipers.words import counts_in_words, number, plural


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
