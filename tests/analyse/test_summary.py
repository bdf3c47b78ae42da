"""Summaries are the same however many queries there are, alone or side by side."""

import statistics

import numpy as np
import pytest

import calipers
from calipers.analyse.intervals import LARGEST_BOOTSTRAP, mean_interval

METRICS = ("recall@2", "mrr", "first_rank")


def scores_of(n: int) -> calipers.Scores:
    chance = np.random.default_rng(3)
    judged = {f"q{i}": {"a": 1, "b": 1} for i in range(n)}
    run = {query: chance.permutation(list("abcdef")).tolist()[:3] for query in judged}
    return calipers.evaluate(ground_truth=judged, run=run, metrics=METRICS)


@pytest.mark.parametrize("n", [40, LARGEST_BOOTSTRAP, LARGEST_BOOTSTRAP + 1])
def test_each_metric_as_if_it_were_alone(n):
    scores = scores_of(n)
    for facts, column in zip(scores.metrics, scores.values.T, strict=True):
        summary = scores[facts.name]
        defined = column[~np.isnan(column)]
        assert summary.mean == pytest.approx(statistics.fmean(defined), abs=1e-12)
        assert summary.median == statistics.median(defined)
        assert (summary.n, summary.undefined) == (defined.size, n - defined.size)
        low, high = facts.bounds
        limits = (low, float("inf") if high is None else high)
        assert summary.interval == mean_interval(column, bounds=limits)
    assert scores["first_rank"].undefined > 0


def test_the_same_intervals_whichever_is_asked_for_first():
    first, last = scores_of(60), scores_of(60)
    intervals = {name: first[name].interval for name in METRICS}
    assert {name: last[name].interval for name in reversed(METRICS)} == intervals


def test_a_metric_that_is_defined_nowhere():
    judged, run = {"q": {"a": 1, "b": 0}}, {"q": ["b"]}
    scores = calipers.evaluate(ground_truth=judged, run=run, metrics="first_rank")
    summary = scores["first_rank"]
    assert (summary.mean, summary.median, summary.interval, summary.n) == (None, None, None, 0)
