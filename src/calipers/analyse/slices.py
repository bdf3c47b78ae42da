"""Each slice of the queries against the rest."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calipers.analyse.compare import facts_by_name
from calipers.analyse.cuts import cut
from calipers.analyse.headlines import HEADLINES
from calipers.analyse.holm import holm
from calipers.analyse.independent import permutation_test
from calipers.analyse.intervals import exact_mean, mean_interval
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slices import Slice, Slices, Standing


def slice_scores(
    scores: Scores,
    by: Sequence[str],
    *,
    metrics: Sequence[str] | None = None,
    resamples: int = 10_000,
) -> Slices:
    """The slices of one or more cuts on some metrics, each tested against all other queries.

    The p-values are corrected over all slices and metrics at once. Of two slices that make up
    all queries, each is the rest of the other: that is one test, and counts as one.
    """
    if not by:
        raise InvalidInput("No cut is named; give at least one, such as a tag of the queries.")
    facts = _chosen(scores, metrics)
    level, seed = scores.settings["confidence"], scores.settings["seed"]
    rows: list[Slice] = []
    tested: dict[tuple[str, bytes], float | None] = {}
    keys: list[tuple[str, bytes]] = []
    for name in dict.fromkeys(by):
        for value, mask in cut(scores, name):
            for metric in facts:
                row, inside = _row(scores, name, value, mask, metric)
                key = (metric.name, min(inside.tobytes(), (~inside).tobytes()))
                if key not in tested:
                    tested[key] = _p(scores, metric, mask, resamples, seed)
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
                row, p_value=tested[key], p_adjusted=corrected[key],
                standing=_standing(row, corrected[key], alpha),
            )
            for row, key in zip(rows, keys, strict=True)
        ),
        tests,
        {"confidence": level, "resamples": resamples, "seed": seed},
    )  # fmt: skip


def _chosen(scores: Scores, names: Sequence[str] | None) -> list[MetricFacts]:
    if names is not None:
        for name in names:
            scores.of(name)
        known = facts_by_name(scores)
        return [known[name] for name in dict.fromkeys(names)]
    headlines = []
    for stem in HEADLINES:
        same = [metric for metric in scores.metrics if metric.stem.partition("(")[0] == stem]
        if same:
            headlines.append(max(same, key=lambda metric: metric.k or 0))
    return headlines or list(scores.metrics)


def _row(
    scores: Scores, by: str, value: str, mask: Bools, metric: MetricFacts
) -> tuple[Slice, Bools]:
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    inside, outside = mask & defined, ~mask & defined
    mean = exact_mean(column[inside]) if inside.any() else None
    rest = exact_mean(column[outside]) if outside.any() else None
    settings = scores.settings
    high = np.inf if metric.bounds[1] is None else metric.bounds[1]
    interval = mean_interval(
        column[inside], settings["confidence"], settings["resamples"], settings["seed"],
        bounds=(metric.bounds[0], high),
    )  # fmt: skip
    row = Slice(
        by, value, metric.name, int(mask.sum()), int(inside.sum()), mean, interval,
        int(outside.sum()), rest, None if mean is None or rest is None else mean - rest,
        None, None, "not tested", metric.better,
    )  # fmt: skip
    return row, inside[defined]


def _p(scores: Scores, metric: MetricFacts, mask: Bools, resamples: int, seed: int) -> float | None:
    """None where a side has fewer than two queries: one query is no slice."""
    column = scores.of(metric.name)
    defined = ~np.isnan(column)
    inside = mask[defined]
    if inside.sum() < 2 or (~inside).sum() < 2:
        return None
    return permutation_test(column[defined], inside, resamples, seed)


def _standing(row: Slice, p: float | None, alpha: float) -> Standing:
    if p is None or row.difference is None:
        return "not tested"
    if p > alpha or row.difference == 0:
        return "not shown"
    return "above" if row.difference > 0 else "below"
