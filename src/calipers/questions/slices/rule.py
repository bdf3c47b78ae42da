"""Each slice of the queries against the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from calipers.engines.summary import facts_by_name, interval_of_metric, value_bounds
from calipers.errors import InvalidInput
from calipers.measures.define import from_scale, to_scale
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Claim
from calipers.model.ground_truth import GroundTruth
from calipers.model.scores import Interval, MetricFacts, Scores
from calipers.model.slicing import (
    AUTO,
    FROM_TEXT,
    check_cut,
    check_slices,
    check_texts,
    clusters_in,
    cut,
    cuts_of,
    has_questions,
    labels_of,
)
from calipers.questions.compare.metric_difference import ROUNDING, corrected_level
from calipers.questions.default_metrics import HEADLINES, choose_primary, deepest
from calipers.questions.slices.result import Slice, Slices, Standing, slice_claims
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import Family, family_of
from calipers.statistics.two_sample import TwoSampleTest, two_sample_tests


def slice_scores(
    scores: Scores,
    by: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
) -> Slices:
    """The slices of one or more cuts on some metrics, each tested against all other queries.

    Only the primary metric is tested; its p-values are corrected over all slices at once. Of two
    slices that make up all queries, each is the rest of the other: that is one test, and counts
    as one.
    """
    if not by:
        raise InvalidInput("No cut is named; give at least one, such as a tag of the queries.")
    facts = _chosen(scores, metrics)
    scores = scores.to_slice(tuple(dict.fromkeys(by)), [metric.name for metric in facts])
    level, clusters = scores.settings["confidence"], clusters_in(scores)
    decisive = choose_primary(_tested_facts(facts), primary)
    by = cuts_of(scores, by)
    cuts = [(name, *part) for name in by for part in cut(scores, name)]
    rows = [
        _row(scores, name, value, mask, metric, clusters)
        for name, value, mask in cuts
        for metric in facts
    ]
    alpha = round(1.0 - level, 12)
    claims: tuple[Claim, ...] = ()
    tested = 0
    if decisive is not None:
        metric = next(one for one in facts if one.name == decisive)
        which = [at for at, row in enumerate(rows) if row.metric == decisive]
        found = _tested(scores, metric, [mask for _, _, mask in cuts], clusters)
        family = family_of(
            [one.p_value() if one else None for one in found.tests],
            [one.least_p if one else None for one in found.tests],
            alpha,
        )
        tested = family.tests
        for slice_number, at in enumerate(which):
            rows[at] = _marked(rows[at], found, slice_number, family)
        together = [family.rows[number] for number in found.number]
        marked = [rows[at] for at in which]
        own = [found.own_error[number] for number in found.number]
        claims = slice_claims(marked, together, own, found.spread, alpha)
    return Slices(
        tuple(by),
        tuple(metric.name for metric in facts),
        tuple(rows),
        tested,
        decisive,
        claims,
        {
            "confidence": level,
            **({} if clusters is None else {"cluster": scores.settings["cluster"]}),
        },
    )


@dataclass(frozen=True, eq=False)
class Tested:
    """The tests of all slices; of two that make up all queries, one."""

    tests: list[TwoSampleTest | None]
    number: list[int]
    """For each slice the number of its test."""
    turned: list[bool]
    """Whether its test is that of the rest."""
    own_error: list[float]
    """The standard error of each difference, from the spread of its own two sides."""
    spread: float
    """The standard deviation of all values."""


def _tested(
    scores: Scores, metric: MetricFacts, masks: Sequence[Bools], clusters: Ints | None
) -> Tested:
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    known: dict[bytes, int] = {}
    number: list[int] = []
    turned: list[bool] = []
    groups: list[Bools] = []
    for mask in masks:
        inside = mask[defined]
        key, other = inside.tobytes(), (~inside).tobytes()
        turned.append(other in known)
        if key not in known and other not in known:
            known[key] = len(groups)
            groups.append(inside)
        number.append(known[other if turned[-1] else key])
    values = column[defined]
    named = None if clusters is None else clusters[defined]
    tests = two_sample_tests(values, groups, named, value_bounds(metric))
    errors = [
        math.sqrt(sum(_variance(values[side]) / max(1, side.sum()) for side in (inside, ~inside)))
        for inside in groups
    ]
    return Tested(tests, number, turned, errors, math.sqrt(_variance(values)))


def _variance(values: Floats) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _marked(row: Slice, found: Tested, slice_number: int, family: Family) -> Slice:
    """The row with its p-value, its interval and what they say."""
    number = found.number[slice_number]
    test, p = found.tests[number], family.adjusted[number]
    if test is None or p is None or row.difference is None:
        return replace(row, standing="cannot tell")
    level = corrected_level(1.0 - family.alpha, test.p_value(), p)
    low, high = test.interval(level)
    ends = (-high, -low) if found.turned[slice_number] else (low, high)
    standing: Standing = "not shown" if family.reachable[number] else "cannot tell"
    if p <= family.alpha:
        standing = "above" if row.difference > 0 else "below"
    return replace(
        row,
        p_value=test.p_value(),
        p_adjusted=p,
        standing=standing,
        difference_interval=Interval(*ends, level, "permutation"),
    )


def _chosen(scores: Scores, names: Sequence[str] | None) -> list[MetricFacts]:
    if names is not None:
        known = facts_by_name(scores)
        return [known[scores[name].metric] for name in dict.fromkeys(names)]
    return _headlines(scores.metrics)


def _headlines(metrics: Sequence[MetricFacts]) -> list[MetricFacts]:
    found = [deepest(metrics, (kind,)) for kind in HEADLINES]
    return [one for one in found if one] or list(metrics)


def check_before(
    truth: GroundTruth,
    by: Sequence[str],
    metrics: Sequence[MetricFacts],
    *,
    named: bool,
    primary: str | None,
) -> None:
    """Refuse slices that cannot be made, before anything is measured.

    ``named``: the metrics were asked for by name, so that all of them are sliced.
    """
    for name in by:
        if name == AUTO:
            continue
        check_cut(name, list(truth.tags))
        if name in truth.tags:
            several = labels_of(truth.queries, truth.tags, name).n_unique()
            check_slices(name, several, truth.queries.height)
        elif name in FROM_TEXT:
            check_texts(name, has_questions(truth.queries))
    if by:
        choose_primary(_tested_facts(metrics if named else _headlines(metrics)), primary)


def _tested_facts(metrics: Sequence[MetricFacts]) -> list[MetricFacts]:
    """Those whose means can be told apart by their values; a geometric mean is shown alone."""
    return [one for one in metrics if one.aggregate != "geometric"]


def _row(
    scores: Scores, by: str, value: str, mask: Bools, metric: MetricFacts, clusters: Ints | None
) -> Slice:
    # On the scale on which values are averaged: of a geometric mean that of their logarithms.
    column = to_scale(scores.of(metric.name), metric.aggregate)
    defined = ~np.isnan(column)
    inside, outside = mask & defined, ~mask & defined

    def back(value: float) -> float:
        return from_scale(value, 1, metric.aggregate)

    mean = back(exact_mean(column[inside])) if inside.any() else None
    rest = back(exact_mean(column[outside])) if outside.any() else None
    ends = interval_of_metric(
        np.where(inside, column, np.nan), metric, scores.settings["confidence"], clusters
    )
    interval = ends and replace(ends, low=back(ends.low), high=back(ends.high))
    difference = None if mean is None or rest is None else mean - rest
    if difference is not None and abs(difference) < ROUNDING:
        difference = 0.0
    return Slice(
        by,
        value,
        metric.name,
        int(mask.sum()),
        int(inside.sum()),
        mean,
        interval,
        int(outside.sum()),
        rest,
        difference,
        None,
        None,
        "supporting",
        metric.better,
    )
