"""Each slice of the queries against the rest."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.summary import facts_by_name, interval_of_metric, value_bounds
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Ints
from calipers.model.ground_truth import GroundTruth
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import (
    check_cut,
    check_slices,
    check_texts,
    clusters_in,
    cut,
    has_questions,
    labels_of,
)
from calipers.questions.default_metrics import HEADLINES, choose_primary
from calipers.questions.slices.result import Slice, Slices, Standing
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import holm
from calipers.statistics.two_sample import unequal_p


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
    decisive = choose_primary(facts, primary)
    rows: list[Slice] = []
    tested: dict[tuple[str, bytes], float | None] = {}
    keys: list[tuple[str, bytes]] = []
    for name in dict.fromkeys(by):
        for value, mask in cut(scores, name):
            for metric in facts:
                row, inside = _row(scores, name, value, mask, metric, clusters)
                key = (metric.name, min(inside.tobytes(), (~inside).tobytes()))
                if key not in tested:
                    is_primary = metric.name == decisive
                    tested[key] = _p(scores, metric, mask, clusters) if is_primary else None
                keys.append(key)
                rows.append(row)
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    alpha = round(1.0 - level, 12)
    tests = sum(p is not None for p in tested.values())
    return Slices(
        tuple(dict.fromkeys(by)),
        tuple(metric.name for metric in facts),
        tuple(
            replace(
                row,
                p_value=tested[key],
                p_adjusted=corrected[key],
                standing=_standing(row, corrected[key], alpha)
                if row.metric == decisive
                else "supporting",
            )
            for row, key in zip(rows, keys, strict=True)
        ),
        tests,
        decisive,
        {
            "confidence": level,
            **({} if clusters is None else {"cluster": scores.settings["cluster"]}),
        },
    )


def _chosen(scores: Scores, names: Sequence[str] | None) -> list[MetricFacts]:
    if names is not None:
        known = facts_by_name(scores)
        return [known[scores[name].metric] for name in dict.fromkeys(names)]
    return _headlines(scores.metrics)


def _headlines(metrics: Sequence[MetricFacts]) -> list[MetricFacts]:
    headlines = []
    for stem in HEADLINES:
        same = [metric for metric in metrics if metric.stem.partition("(")[0] == stem]
        if same:
            headlines.append(max(same, key=lambda metric: metric.k or 0))
    return headlines or list(metrics)


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
        check_cut(name, list(truth.tags))
        if name in truth.tags:
            several = labels_of(truth.queries, truth.tags, name).n_unique()
            check_slices(name, several, truth.queries.height)
        elif name == "length":
            check_texts(has_questions(truth.queries))
    if by:
        choose_primary(metrics if named else _headlines(metrics), primary)


def _row(
    scores: Scores, by: str, value: str, mask: Bools, metric: MetricFacts, clusters: Ints | None
) -> tuple[Slice, Bools]:
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    inside, outside = mask & defined, ~mask & defined
    mean = exact_mean(column[inside]) if inside.any() else None
    rest = exact_mean(column[outside]) if outside.any() else None
    interval = interval_of_metric(
        np.where(inside, column, np.nan), metric, scores.settings["confidence"], clusters
    )
    row = Slice(
        by,
        value,
        metric.name,
        int(mask.sum()),
        int(inside.sum()),
        mean,
        interval,
        int(outside.sum()),
        rest,
        None if mean is None or rest is None else mean - rest,
        None,
        None,
        "not tested",
        metric.better,
    )
    return row, inside[defined]


def _p(scores: Scores, metric: MetricFacts, mask: Bools, clusters: Ints | None) -> float | None:
    """None where a side has fewer than two queries: one query is no slice."""
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    inside = mask[defined]
    if inside.sum() < 2 or (~inside).sum() < 2:
        return None
    named = None
    if clusters is not None:
        named = (clusters[defined][inside], clusters[defined][~inside])
    values = column[defined]
    return unequal_p(values[inside], values[~inside], value_bounds(metric), named)


def _standing(row: Slice, p: float | None, alpha: float) -> Standing:
    if p is None or row.difference is None:
        return "not tested"
    if p > alpha or row.difference == 0:
        return "not shown"
    return "above" if row.difference > 0 else "below"
