"""Machine labels corrected by people."""

import numpy as np
import pytest

from calipers.errors import InvalidInput
from calipers.statistics.bounded_mean import largest_bounded_mean
from calipers.statistics.prediction_powered import corrected_mean
from calipers.statistics.score_interval import score_ends
from tests.statistics.ends import score_interval


def sample(n=200, judged=40, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    people = rng.beta(4, 2, n)
    machine = np.clip(people + rng.normal(0.05, noise, n), 0, 1)
    people[judged:] = np.nan
    return machine, people


def test_by_hand():
    machine, people = sample()
    y, f = people[:40], machine[:40]
    weight = (39 * np.cov(y, f)[0, 1] + 0.5) / (39 * f.var(ddof=1) + 0.5)
    found = corrected_mean(machine, people)
    assert found.weight == pytest.approx(weight)
    assert found.value == pytest.approx(weight * machine.mean() + (y - weight * f).mean())
    # Both parts of the uncertainty, by their own functions; every error seen is below 0.31.
    residuals, lacking = y - weight * f, 200 * (1 - 0.025 ** (1 / 40))
    lowest = np.interp(lacking, np.arange(201), np.append(0, np.cumsum(np.sort(machine)))) / lacking
    share = np.abs(y - f).max() / (1 - lowest)
    end = residuals.mean() + share * (1 - weight * lowest - residuals.mean())
    up = largest_bounded_mean(residuals, end, 0.025) - residuals.mean()
    variance = np.array([y.var(ddof=1)])
    beyond = score_ends(np.array([found.value]), variance, 200, 0.95)[1][0] - found.value
    high = found.value + np.hypot(np.sqrt(0.8) * up, beyond)
    assert found.interval.high == pytest.approx(high, abs=1e-6)


def test_where_people_judged_everything_the_machine_has_no_say():
    _, people = sample(judged=200)
    found = corrected_mean(np.zeros(200), people)
    assert found.value == pytest.approx(people.mean())
    assert found.weight == 0.0
    assert found.interval == pytest.approx(score_interval(people))
    one = np.where(np.arange(200) < 199, people, np.nan)
    almost = corrected_mean(people, one).interval
    assert almost == pytest.approx(score_interval(people), abs=2e-3)


@pytest.mark.parametrize("judged", [20, 30, 50, 100])
def test_a_sample_without_any_error_leaves_room_for_some(judged):
    machine = np.repeat([1.0, 0.0], [700, 300])
    people = np.where(np.arange(1000) % (1000 // judged) == 0, machine, np.nan)
    found = corrected_mean(machine, people)
    rule_of_three = (1 - 0.025 ** (1 / judged)) * np.sqrt(1 - judged / 1000)
    assert found.value == pytest.approx(0.7)
    assert found.value - found.interval.low >= rule_of_three
    alone = score_interval(people)
    assert found.interval.high - found.interval.low < alone.high - alone.low


def test_more_labels_narrow_the_interval():
    rng = np.random.default_rng(4)
    truth = (rng.random(1000) < 0.7) * 1.0
    machine = np.where(rng.random(1000) < 0.05, 1.0, truth)
    widths = []
    for n in (20, 50, 200, 800):
        low, high = corrected_mean(machine, np.where(np.arange(1000) < n, truth, np.nan)).interval
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert (widths[1] < 0.23, widths[-1] < 0.07) == (True, True)


def test_a_good_machine_narrows_the_interval_and_a_useless_one_does_no_harm():
    machine, people = sample()
    alone = score_interval(people)
    found = corrected_mean(machine, people).interval
    assert found.high - found.low < 0.75 * (alone.high - alone.low)
    useless = corrected_mean(np.random.default_rng(1).random(200), people)
    assert useless.weight < 0.3
    assert useless.interval.high - useless.interval.low < 1.25 * (alone.high - alone.low)
    # One that always says the same leaves it to people.
    constant = corrected_mean(np.full(200, 0.9), people)
    assert constant.value == pytest.approx(constant.people)
    assert constant.interval == pytest.approx(alone, abs=0.02)


def test_the_order_of_queries_does_not_matter():
    machine, people = sample()
    order = np.random.default_rng(2).permutation(200)
    assert corrected_mean(machine, people) == corrected_mean(machine[order], people[order])


def test_bad_input():
    with pytest.raises(InvalidInput, match="Too few judged"):
        corrected_mean([0.5, 0.5], [0.5, np.nan])
