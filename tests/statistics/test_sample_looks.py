"""SampleLooks at a growing sample hold together, and what is ahead is foreseen."""

import numpy as np
import pytest

from calipers.statistics.prediction_powered import DrawnSample, corrected_mean, planned_looks
from calipers.statistics.sample_looks import SampleLooks, all_hold, looks_up_to
from calipers.statistics.score_interval import normal_quantile


def test_looks_hold_together_as_often_as_they_say():
    """A mean of a growing sample of a set, and what the set says of others."""
    rng = np.random.default_rng(1)
    numbers, total, residuals, values = (30, 45, 70, 100, 150), 200, 0.1, 0.2
    looks = SampleLooks(numbers, total, residuals, values)
    draws = 6_000
    drawn = rng.normal(size=(draws, total)) * np.sqrt(residuals)
    set_ = rng.normal(size=draws) * np.sqrt(values / total)
    out = np.zeros(draws, dtype=bool)
    critical = -normal_quantile(looks.level(0.025))
    for n in numbers:
        error = drawn[:, :n].mean(axis=1) - drawn.mean(axis=1) + set_
        variance = residuals * (1 / n - 1 / total) + values / total
        out |= np.abs(error) > critical * np.sqrt(variance)
    assert out.mean() == pytest.approx(0.05, abs=0.01)


def test_pocock_s_table():
    # Jennison and Turnbull (2000), table 2.1: the constants at 5% for evenly spaced looks.
    for looks, constant in ((2, 2.178), (3, 2.289), (5, 2.413), (10, 2.555)):
        assert all_hold(constant, range(1, looks + 1)) == pytest.approx(0.95, abs=2e-4)


def test_more_looks_cost_more_and_none_cost_nothing():
    levels = [
        SampleLooks(looks_up_to(most), 1000, 0.1, 0.2).level(0.025) for most in (20, 45, 150, 500)
    ]
    assert levels[0] == 0.025
    assert levels == sorted(levels, reverse=True)
    at = (1e-4, 0.005, 0.025, 0.05, 0.1)
    found = [SampleLooks((20, 45, 100), 300, 0.1, 0.2).level(one) for one in at]
    assert found == sorted(found)
    assert all(one <= alpha for one, alpha in zip(found, at, strict=True))
    # Where the queries themselves rule, a look costs little.
    sample_rules = SampleLooks((45, 70, 100, 150), 10_000, 0.2, 0.2).level(0.025)
    queries_rule = SampleLooks((45, 70, 100, 150), 200, 0.005, 0.2).level(0.025)
    assert sample_rules < 0.01 < 0.015 < queries_rule


def drawn(judged, wrong=0.1, n=300, seed=2, looks=(45, 70, 100, 150)):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.6) * 1.0
    machine = np.where(rng.random(n) < wrong, 1 - truth, truth)
    known = np.where(np.arange(n) < judged, truth, np.nan)
    return DrawnSample(machine, known, judged, looks), truth


def test_the_width_ahead_is_about_what_it_comes_to():
    errors = []
    for seed in range(12):
        early, _ = drawn(45, seed=seed)
        later, _ = drawn(100, seed=seed)
        errors.append(early.width(100) / later.width(100) - 1)
    assert abs(np.mean(errors)) < 0.1
    assert np.abs(errors).max() < 0.5


def test_only_what_was_judged_up_to_the_look_counts():
    sample, truth = drawn(83)
    assert (sample.last_look, sample.next_look) == (70, 100)
    people = np.where(np.arange(300) < 70, truth, np.nan)
    expected = corrected_mean(sample.machine, people, looks=sample.looks)
    assert sample.at(70) == expected


def test_the_first_look_is_the_first_that_can_be_narrow_enough():
    sample, _ = drawn(0)
    for until in (0.15, 0.1, 0.08):
        looks, width = planned_looks(sample.machine, until, 300)
        assert width <= until
        none = DrawnSample(sample.machine, np.full(300, np.nan), 0, looks)
        assert none.enough(until) == looks[0]
    looks, width = planned_looks(sample.machine, 0.03, 300)
    assert (looks, width > 0.03) == ((300,), True)


def test_queries_without_the_metric_are_no_zeros_and_not_left_to_the_machine():
    rng = np.random.default_rng(5)
    truth = rng.beta(4, 2, 400)
    lacking = rng.random(400) < 0.3
    # The machine gives what lacks the metric a value far off.
    machine = np.where(lacking, 0.05, np.clip(truth + rng.normal(0, 0.05, 400), 0, 1))
    people = np.where(lacking, np.nan, truth)
    judged = np.arange(400) < 120
    found = corrected_mean(machine, people, judged=judged)
    target = truth[~lacking].mean()
    assert found.value == pytest.approx(target, abs=0.03)
    assert found.interval.low < target < found.interval.high
    complete = corrected_mean(machine, truth, judged=judged)
    assert found.interval.high - found.interval.low > complete.interval.high - complete.interval.low
    assert complete == corrected_mean(machine, np.where(judged, truth, np.nan))


def test_the_machine_has_no_say_where_it_lacks_the_metric():
    machine = np.tile([1.0, 0.0, np.nan, 1.0], 50)
    people = np.where(np.arange(200) < 60, np.tile([1.0, 0.0, 1.0, 1.0], 50), np.nan)
    found = corrected_mean(machine, people, judged=np.arange(200) < 60)
    assert found.machine == pytest.approx(2 / 3)
    assert found.value == pytest.approx(0.75, abs=0.01)
