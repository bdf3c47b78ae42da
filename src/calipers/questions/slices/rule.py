"""Test each slice of the queries against the rest."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.summary import facts_by_name, interval_of_metric
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Ints
from calipers.model.scores import Interval, MetricFacts, Scores
from calipers.model.slicing import (
    clusters_in,
    cut,
    cuts_of,
    refuse_weighted,
)
from calipers.questions.default_metrics import HEADLINES, choose_primary, deepest
from calipers.questions.slices.result import Slice, Slices, slice_claims
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_units import SMALLEST
from calipers.statistics.two_sample import GroupTest, group_tests


def slice_scores(
    scores: Scores,
    by: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
) -> Slices:
    """Compare each slice with the rest; the primary metric is tested, all slices together."""
    if not by:
        raise InvalidInput(
            "No cut is named; give at least one, such as a tag of the queries."
        )
    refuse_weighted(scores, "Tests of slices")
    known = facts_by_name(scores)
    named = (known[scores[name].metric] for name in dict.fromkeys(metrics or ()))
    facts = _headlines(scores.metrics) if metrics is None else list(named)
    level = scores.recorded.confidence
    clusters = clusters_in(scores)
    decisive = choose_primary(facts, primary, named=metrics is not None)
    by = cuts_of(scores, by)
    cuts = [(name, *part) for name in by for part in cut(scores, name)]
    rows = [
        _row(scores, name, value, mask, metric, clusters)
        for name, value, mask in cuts
        for metric in facts
    ]
    tested: list[Slice] = []
    if decisive is not None:
        which = [at for at, row in enumerate(rows) if row.metric == decisive]
        tests = group_tests(scores.of(decisive), [mask for _, _, mask in cuts], clusters)
        for at, test in zip(which, tests, strict=True):
            rows[at] = _marked(rows[at], test, round(1.0 - level, 12))
        tested = [rows[at] for at in which]
    return Slices(
        tuple(by),
        tuple(metric.name for metric in facts),
        tuple(rows),
        sum(row.p_value is not None for row in tested),
        decisive,
        slice_claims(tested),
        {
            "confidence": level,
            **({} if clusters is None else {"cluster": scores.recorded.cluster}),
        },
    )


def _marked(row: Slice, test: GroupTest | None, alpha: float) -> Slice:
    """Add the p-values and the standing to a row.

    The permutation test detects any difference between a slice and the rest, even in
    spread alone. A mark claims that the means differ, so both intervals have to agree.
    """
    row = replace(row, standing="no clear difference")
    if test is None:
        return row
    row = replace(row, p_value=test.p, p_adjusted=test.adjusted)
    apart = (
        test.adjusted <= alpha
        and row.interval is not None
        and row.rest_interval is not None
        and not _holds(row.interval, row.rest)
        and not _holds(row.rest_interval, row.mean)
    )
    return (
        replace(row, standing="worse" if row.shortfall > 0 else "better")
        if apart
        else row
    )


def _holds(interval: Interval, mean: float | None) -> bool:
    return mean is not None and interval.low <= mean <= interval.high


def _headlines(metrics: Sequence[MetricFacts]) -> list[MetricFacts]:
    deepest_of_each = [deepest(metrics, (kind,)) for kind in HEADLINES]
    return [metric for metric in deepest_of_each if metric] or list(metrics)


def _row(
    scores: Scores,
    by: str,
    value: str,
    mask: Bools,
    metric: MetricFacts,
    clusters: Ints | None,
) -> Slice:
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    inside = mask & defined
    outside = ~mask & defined

    def side(chosen: Bools) -> tuple[float | None, Interval | None]:
        if not chosen.any():
            return None, None
        ends = interval_of_metric(
            np.where(chosen, column, np.nan), metric, scores.recorded.confidence, clusters
        )
        return exact_mean(column[chosen]), ends

    (mean, interval), (rest, rest_interval) = side(inside), side(outside)
    difference = None if mean is None or rest is None else mean - rest
    if difference is not None and abs(difference) < SMALLEST:
        difference = 0.0
    return Slice(
        by=by,
        value=value,
        metric=metric.name,
        queries=int(mask.sum()),
        n=int(inside.sum()),
        mean=mean,
        interval=interval,
        rest_n=int(outside.sum()),
        rest=rest,
        rest_interval=rest_interval,
        difference=difference,
        better=metric.better,
    )
