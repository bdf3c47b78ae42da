"""Summaries are the same however many queries there are, alone or side by side."""

import statistics
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.statistics.score_interval import mean_interval

METRICS = ("recall@2", "mrr", "first_rank")


def scores_of(n: int) -> calipers.Scores:
    chance = np.random.default_rng(3)
    judged = {f"q{i}": {"a": 1, "b": 1} for i in range(n)}
    run = {query: chance.permutation(list("abcdef")).tolist()[:3] for query in judged}
    return calipers.evaluate(ground_truth=judged, run=run, metrics=METRICS)


@pytest.mark.parametrize("n", [2, 40, 600])
def test_each_metric_as_if_it_were_alone(n):
    scores = scores_of(n)
    for facts, column in zip(scores.metrics, scores.values.T, strict=True):
        summary = scores[facts.name]
        defined = column[~np.isnan(column)]
        assert summary.mean == pytest.approx(statistics.fmean(defined), abs=1e-12)
        assert summary.median == statistics.median(defined)
        assert (summary.n, summary.undefined) == (defined.size, n - defined.size)
        low, high = facts.bounds
        expected = mean_interval(column, bounds=None if high is None else (low, high))
        if high is not None:
            assert summary.interval == expected
        elif expected is not None:
            assert summary.interval.method == "t"
            assert summary.interval.low == max(expected.low, low)
            assert summary.interval.high == expected.high
    assert n < 40 or scores["first_rank"].undefined > 0


def test_clusters_make_the_interval_that_of_the_clusters():
    names = [f"{i % 3}-{i // 15}" for i in range(30)]
    made = records(names, lambda one: one[0] != "0")
    alone = calipers.evaluate(made, metrics="recall@1")["recall@1"]
    together = calipers.evaluate(made, metrics="recall@1", cluster="intent")
    assert together["recall@1"].mean == alone.mean
    wide, narrow = together["recall@1"].interval, alone.interval
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert wide == mean_interval(together.of("recall@1"), clusters=names)
    with pytest.raises(calipers.errors.InvalidInput, match=r"no tag 'intend' .* mean intent"):
        calipers.evaluate(made, metrics="recall@1", cluster="intend")


LARGE = [0] * 30 + [1 + i // 2 for i in range(40)]
EVEN = [i // 3 for i in range(70)]


def records(clusters, found):
    return [
        {
            "query": f"q{i}",
            "retrieved": ["a", "b"] if found(one) else ["b", "a"],
            "ground_truth": ["a"],
            "tags": {"intent": f"i{one}"},
        }
        for i, one in enumerate(clusters)
    ]


def answers(clusters):
    new, old = (records(clusters, lambda one, by=by: one % by) for by in (3, 2))
    ask: dict[str, Any] = {"metrics": "mrr", "cluster": "intent"}
    baseline = calipers.evaluate(old, **ask)
    return {
        "eval": calipers.evaluate(new, **ask).settings["notes"],
        "compare": calipers.compare({"old": old, "new": new}, **ask).settings["notes"],
        "gate": calipers.gate(new, baseline=baseline, **ask).notes,
    }


@pytest.mark.parametrize("way", ["eval", "compare", "gate"])
def test_one_cluster_of_30_among_pairs_is_named(way):
    notes = [note for note in answers(LARGE)[way] if "decides" in note]
    assert len(notes) == 1
    assert "the largest by intent holds 30 of 70 queries" in notes[0]
    assert "21 clusters of such different sizes tell as much as about 5 of one size" in notes[0]


def test_clusters_of_one_size_are_not_remarked_on():
    assert not any("decide" in note for notes in answers(EVEN).values() for note in notes)
