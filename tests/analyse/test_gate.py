"""Checks against conditions and baselines: right verdicts, and few false alarms."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from calipers.analyse.conditions import parse_condition
from calipers.analyse.gate import (
    check_baseline,
    check_condition,
    everything,
    pair,
    slice_of,
    slices_by,
)
from calipers.analyse.visible import visibility
from calipers.api.measure import evaluate
from calipers.errors import InvalidInput
from calipers.model.arrays import frozen_array


def scores_of(values, metrics=("recall@10", "ndcg@10", "mrr"), tags=None):
    """Scores with the given values, whatever retriever could have made them."""
    values = np.asarray(values, dtype=np.float64)
    names = [f"q{n}" for n in range(len(values))]
    template = evaluate(
        ground_truth={name: ["a"] for name in names},
        run={name: ["a"] for name in names},
        metrics=list(metrics)[: values.shape[1]],
    )
    columns = {name: pl.Series(name, column, pl.String) for name, column in (tags or {}).items()}
    return replace(template, values=frozen_array(values), tags=columns)


def compare(now, before, *, by=(), **settings):
    slices = [everything(now), *slices_by(now, by)]
    metrics = [one.name for one in now.metrics]
    usual = {"alpha": 0.05, "tolerance": None, "resamples": 400, "seed": 0, "baseline": "main"}
    return check_baseline(pair(now, before), metrics, slices, **{**usual, **settings})


def test_equal_systems_set_off_the_gate_in_at_most_one_of_twenty_cases(monkeypatch):
    # What could have been seen takes long to work out and plays no part in the verdict here.
    seen = visibility([0.1, -0.1] * 30)
    monkeypatch.setattr("calipers.analyse.gate.visibility", lambda *_: seen)
    random = np.random.default_rng(20240131)
    tags = {"type": ["fact", "how-to"] * 30}
    template = scores_of(np.zeros((60, 3)), tags=tags)
    # The intervals play no part in the verdict: few resamples will do for them.
    template = replace(template, settings={**template.settings, "resamples": 20})
    rounds, alarms = 300, 0
    for _ in range(rounds):
        difficulty = random.random((60, 1))
        draws = [np.clip(difficulty + random.normal(0, 0.25, (60, 3)), 0, 1) for _ in range(2)]
        now, before = (replace(template, values=frozen_array(draw)) for draw in draws)
        checks = compare(now, before, by=["type"])
        alarms += any(check.status == "failed" for check in checks)
    assert alarms / rounds <= 0.05


def test_a_real_drop_is_seen():
    random = np.random.default_rng(7)
    before = random.random((200, 1))
    now = np.clip(before - 0.1 + random.normal(0, 0.1, (200, 1)), 0, 1)
    (check,) = compare(scores_of(now), scores_of(before))
    assert check.status == "failed"
    assert check.because == ("significantly worse",)
    assert check.change.difference < -0.05
    assert check.change.p_adjusted < 0.05
    drops = [one.baseline - one.value for one in check.worst]
    assert drops == sorted(drops, reverse=True)
    assert len(drops) == 5


def test_a_gain_is_no_failure_however_large():
    (check,) = compare(scores_of(np.ones((30, 1))), scores_of(np.zeros((30, 1))), tolerance=0.0)
    assert check.status == "passed"
    assert (check.change.better, check.change.worse) == (30, 0)


def test_where_lower_is_better_a_rise_is_a_drop():
    now, before = np.full((30, 1), 3.0), np.full((30, 1), 1.0)
    (check,) = compare(scores_of(now, ["fp@10"]), scores_of(before, ["fp@10"]))
    assert check.status == "failed"
    assert (check.change.better, check.change.worse) == (0, 30)
    (fine,) = compare(scores_of(before, ["fp@10"]), scores_of(now, ["fp@10"]), tolerance=0.1)
    assert fine.status == "passed"


@pytest.mark.parametrize(("tolerance", "status"), [(0.05, "failed"), (0.1, "passed")])
def test_the_tolerance_fails_what_is_not_significant(tolerance, status):
    before = np.array([[1.0], [0.5], [0.5], [0.5], [0.5]] * 2)
    now = before - np.array([[0.5], [0.0], [0.0], [0.0], [0.0]] * 2)
    (check,) = compare(scores_of(now), scores_of(before), tolerance=tolerance)
    assert check.change.difference == pytest.approx(-0.1)
    assert check.status == status


def test_the_correction_covers_metrics_and_slices():
    random = np.random.default_rng(3)
    before = random.random((40, 2))
    now = before + random.normal(0, 0.1, (40, 2))
    tags = {"type": ["a", "b"] * 20}
    checks = compare(scores_of(now, tags=tags), scores_of(before, tags=tags), by=["type"])
    assert [check.slice for check in checks] == [None, None, "type=a", "type=a", "type=b", "type=b"]
    p = [check.change.p_value for check in checks]
    smallest = int(np.argmin(p))
    assert checks[smallest].change.p_adjusted == pytest.approx(min(1.0, 6 * p[smallest]))


def test_a_slice_too_small_to_show_anything_is_not_called_passed():
    values = np.random.default_rng(1).random((20, 1))
    tags = {"type": ["rare"] * 3 + ["common"] * 17}
    checks = compare(scores_of(values - 0.3, tags=tags), scores_of(values, tags=tags), by=["type"])
    by_slice = {check.slice: check for check in checks}
    assert by_slice["type=rare"].status == "untested"
    assert "at least" in by_slice["type=rare"].because[0]
    assert by_slice["type=common"].status == "failed"


def test_queries_are_paired_by_name_and_not_by_row():
    values = np.arange(10, dtype=float)[:, np.newaxis] / 10
    now = scores_of(values)
    order = np.arange(10)[::-1]
    turned = replace(now, values=frozen_array(values[order]), queries=now.queries[order])
    assert not np.nan_to_num(pair(now, turned).difference("recall@10")).any()


def test_results_without_a_query_in_common_cannot_be_compared():
    now = scores_of(np.ones((3, 1)))
    other = replace(now, queries=now.queries.with_columns(query=pl.col("query") + "x"))
    with pytest.raises(InvalidInput, match="share no query"):
        pair(now, other)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("recall@10 >= 0.5", "passed"),
        ("recall@10 > 0.5", "failed"),
        ("recall@10 < 0.5", "failed"),
        ("recall@10 >= 0.9 for type=a", "passed"),
        ("recall@10 >= 0.1 for type=b", "failed"),
    ],
)
def test_conditions_are_about_means_of_slices(text, status):
    scores = scores_of([[1.0], [0.0]] * 3, tags={"type": ["a", "b"] * 3})
    check = check_condition(scores, parse_condition(text))
    assert check.status == status
    assert bool(check.worst) == (status == "failed")


def test_the_worst_queries_of_a_condition_are_the_lowest_or_the_highest():
    scores = scores_of([[0.3], [0.1], [0.2]])
    low = check_condition(scores, parse_condition("recall@10 >= 0.9"))
    high = check_condition(scores, parse_condition("recall@10 <= 0.01"))
    assert [one.query for one in low.worst] == ["q1", "q2", "q0"]
    assert [one.query for one in high.worst] == ["q0", "q2", "q1"]


def test_an_undefined_mean_decides_nothing():
    scores = scores_of([[np.nan], [np.nan]])
    with pytest.raises(InvalidInput, match="cannot be decided"):
        check_condition(scores, parse_condition("recall@10 >= 0"))


def test_unknown_tags_and_values_have_neighbours():
    scores = scores_of([[1.0], [0.0]], tags={"type": ["fact", "how-to"]})
    with pytest.raises(InvalidInput, match="Did you mean type"):
        slice_of(scores, "typ", "fact")
    with pytest.raises(InvalidInput, match="Did you mean fact"):
        slice_of(scores, "type", "facts")
