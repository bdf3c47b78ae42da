"""Scores beside those of a baseline, query by query: is a loss shown?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints, frozen_array
from calipers.model.scores import Interval, MetricFacts, Scores
from calipers.model.slicing import QuerySlice, clusters_in, everything
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import obstacles
from calipers.questions.compare.metric_difference import (
    ROUNDING,
    corrected_level,
    limits_of,
    paired,
)
from calipers.questions.gate.condition_checks import WORST, check_of
from calipers.questions.gate.result import Change, Check, WorstQuery
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import holm
from calipers.statistics.paired_test import NonInferiority, mean_of_runs, non_inferiority
from calipers.statistics.power import fewest_queries
from calipers.statistics.queries_needed import visibility


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two results over the queries that both have, in the order of the first."""

    now: Scores
    before: Scores
    rows_now: np.ndarray
    rows_before: np.ndarray

    def difference(self, metric: str) -> Floats:
        """Now minus before, per query of ``now``; NaN where there is no pair."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = (
            self.now.of(metric)[self.rows_now] - self.before.of(metric)[self.rows_before]
        )
        return column

    def baseline(self, metric: str) -> Floats:
        """The values before, in the order of the queries of ``now``."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = self.before.of(metric)[self.rows_before]
        return column


def pair(now: Scores, before: Scores) -> Pairing:
    """The queries of two results put beside one another; sharing none is an error."""
    joined = (
        now.queries.select("query")
        .with_row_index("now")
        .join(
            before.queries.select("query").with_row_index("before"),
            on="query",
            how="inner",
            maintain_order="left",
        )
    )
    if not joined.height:
        ours, theirs = (s.queries["query"].head(3).to_list() for s in (now, before))
        raise InvalidInput(
            f"The result and the baseline share no query: the result has {_show(ours)}; the "
            f"baseline has {_show(theirs)}. Save a baseline for these queries."
        )
    rows = [joined[name].cast(pl.Int64).to_numpy() for name in ("now", "before")]
    return Pairing(now, before, rows[0], rows[1])


def average(kept: Baseline) -> Scores:
    """The runs of a baseline as one result: per query the mean over the runs that have it."""
    if not kept.further:
        return kept.scores
    first = kept.scores
    columns = []
    for metric in first.metrics:
        lined = [first.of(metric.name)]
        for other in kept.further:
            both = pair(first, other)
            column = np.full(len(first), np.nan)
            column[both.rows_now] = other.of(metric.name)[both.rows_before]
            lined.append(column)
        columns.append(mean_of_runs(lined))
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
    primary: str,
    supporting: Sequence[str],
    slices: Sequence[QuerySlice],
    *,
    baseline: str,
    confidence: float,
    allow: float,
    strict: bool,
    clusters: Ints | None = None,
) -> list[Check]:
    """The primary metric on every slice against the baseline, and what supports it.

    A loss beyond what is allowed must be shown to fail, corrected over slices; or, where the gate
    is strict, its absence must be shown to pass. That holds for every slice by itself, so it
    needs no correction.
    """
    facts = facts_by_name(pairing.now)
    alpha = round(1.0 - confidence, 12)
    tested = [_lost(pairing, facts[primary], part, allow, clusters) for part in slices]
    fewest = fewest_queries(2.0 * alpha)
    adjusted = holm([one.test.p_loss if one.test and one.n >= fewest else None for one in tested])
    tests = max(1, sum(p is not None for p in adjusted))
    checks = []
    for part, one, p in zip(slices, tested, adjusted, strict=True):
        check = check_of(pairing.now, primary, part, _name(primary, part, baseline), clusters)
        change = _change(pairing, primary, part, one)
        if one.test is not None:
            found = one.test
            level = corrected_level(round(1.0 - 2.0 * alpha, 12), found.p_loss, p)
            ends = found.difference.interval(level)
            low, high = (ends.low, ends.high) if one.up else (-ends.high, -ends.low)
            change = replace(
                change,
                interval=Interval(low, high, level, "paired"),
                p_value=found.p_loss,
                p_adjusted=p,
                p_no_loss=found.p_no_loss,
            )
        limits = limits_of(facts[primary])
        # What would be seen of a loss: the way in which the test looks.
        seen = visibility(
            -one.gains,
            2.0 * alpha,
            tests,
            clusters=clusters,
            largest=limits and limits[1],
            one_way=True,
        )
        unseen = None if one.test is None else one.test.undone(p, alpha, strict=strict)
        change = replace(change, visibility=seen, unseen=unseen)
        because = _because(change, one, alpha, allow, strict=strict)
        could = p is not None
        checks.append(
            replace(
                check,
                status="passed"
                if could and not because
                else "failed"
                if could or strict
                else "untested",
                change=change,
                because=because if could else (_too_few(change, fewest),),
                worst=_losses(pairing, primary, one) if could and because else (),
            )
        )
    return [*checks, *(_shown(pairing, facts[name], baseline, clusters) for name in supporting)]


@dataclass(frozen=True, eq=False)
class _Lost:
    """The gains of one metric on one slice, above 0 where the new result is better."""

    gains: Floats
    up: bool
    test: NonInferiority | None

    @property
    def n(self) -> int:
        """Pairs, or clusters of them."""
        return 0 if self.test is None else self.test.difference.n


def _lost(
    pairing: Pairing, facts: MetricFacts, part: QuerySlice, allow: float, clusters: Ints | None
) -> _Lost:
    up = facts.better != "lower"
    differences = np.where(part.chosen, pairing.difference(facts.name), np.nan)
    differences[np.abs(differences) < ROUNDING] = 0.0
    gains = differences if up else -differences
    return _Lost(gains, up, non_inferiority(gains, allow, clusters, limits_of(facts)))


def _shown(pairing: Pairing, facts: MetricFacts, baseline: str, clusters: Ints | None) -> Check:
    """A supporting metric: its difference with an interval, and no verdict."""
    whole = everything(pairing.now)
    one = _lost(pairing, facts, whole, 0.0, clusters)
    level = pairing.now.settings["confidence"]
    change = _change(pairing, facts.name, whole, one)
    interval = paired(pairing.difference(facts.name), facts, clusters).interval(level)
    check = check_of(pairing.now, facts.name, whole, f"{facts.name} beside {baseline}", clusters)
    return replace(check, status="supporting", change=replace(change, interval=interval))


def _name(metric: str, part: QuerySlice, baseline: str) -> str:
    place = "" if part.name is None else f" for {part.name}"
    return f"{metric} not worse than {baseline}{place}"


def _too_few(change: Change, fewest: int) -> str:
    n = change.better + change.worse + change.same
    count = "no query" if n == 0 else "one query" if n == 1 else f"{n} queries"
    return (
        f"{count} can be compared, which shows no loss however large; at least {fewest} are needed"
    )


def _change(pairing: Pairing, metric: str, part: QuerySlice, one: _Lost) -> Change:
    before, now = pairing.baseline(metric)[part.chosen], pairing.now.of(metric)[part.chosen]
    known = ~np.isnan(one.gains[part.chosen])
    gains = one.gains[~np.isnan(one.gains)]
    mean = exact_mean(gains) if gains.size else None
    better, worse = int(np.count_nonzero(gains > 0)), int(np.count_nonzero(gains < 0))
    return Change(
        baseline=exact_mean(before[known]) if known.any() else None,
        difference=mean if mean is None or one.up else -mean,
        interval=None,
        p_value=None,
        better=better,
        worse=worse,
        same=gains.size - better - worse,
        unpaired=int((np.isnan(before) != np.isnan(now)).sum()),
        visibility=None,
    )


def _because(
    change: Change, one: _Lost, alpha: float, allow: float, *, strict: bool
) -> tuple[str, ...]:
    if one.test is None:
        return ()
    beyond = f" by more than {allow:g}" if allow else ""
    if change.p_adjusted is not None and change.p_adjusted <= alpha:
        return (f"worse{beyond}",)
    if strict and one.test.p_no_loss > alpha:
        return (f"not shown to lose at most {allow:g}",)
    return ()


def _losses(pairing: Pairing, metric: str, one: _Lost) -> tuple[WorstQuery, ...]:
    names, texts = pairing.now.queries["query"], pairing.now.queries["text"]
    rows = np.flatnonzero(one.gains < 0).tolist()
    order = sorted(rows, key=lambda row: (one.gains[row], names[row]))[:WORST]
    values, before = pairing.now.of(metric), pairing.baseline(metric)
    return tuple(
        WorstQuery(names[row], texts[row], float(values[row]), float(before[row])) for row in order
    )


def _show(names: list[str]) -> str:
    return ", ".join(repr(name if len(name) <= 60 else name[:57] + "…") for name in names)
