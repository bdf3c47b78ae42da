"""Machine labels corrected by people."""

import numpy as np
import pytest
from scipy import stats

from calipers.errors import InvalidInput
from calipers.statistics.prediction_powered import (
    AgainstPeople,
    against_people,
    corrected_mean,
    corrected_share,
    wilson,
)
from calipers.statistics.score_interval import score_interval


def sample(n=200, judged=40, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    people = rng.beta(4, 2, n)
    machine = np.clip(people + rng.normal(0.05, noise, n), 0, 1)
    people[judged:] = np.nan
    return machine, people


def test_by_hand():
    machine, people = sample()
    y, f, rest = people[:40], machine[:40], machine[40:]
    weight = np.cov(y, f)[0, 1] / ((1 + 40 / 160) * machine.var(ddof=1))
    found = corrected_mean(machine, people, bounds=None)
    assert found.weight == pytest.approx(weight)
    assert found.value == pytest.approx(weight * rest.mean() + (y - weight * f).mean())
    variance = (y - weight * f).var(ddof=1) / 40 + weight**2 * rest.var(ddof=1) / 160
    margin = stats.t.ppf(0.975, 39) * np.sqrt(variance)
    assert found.interval == pytest.approx((found.value - margin, found.value + margin))


def test_a_good_machine_narrows_the_interval_and_a_useless_one_does_no_harm():
    machine, people = sample()
    alone = score_interval(people)
    found = corrected_mean(machine, people).interval
    assert found.high - found.low < 0.7 * (alone.high - alone.low)
    useless = corrected_mean(np.random.default_rng(1).random(200), people)
    assert useless.weight < 0.3
    assert useless.interval.high - useless.interval.low < 1.1 * (alone.high - alone.low)


def test_a_machine_that_always_says_the_same_leaves_it_to_people():
    _, people = sample()
    found = corrected_mean(np.full(200, 0.9), people)
    assert (found.weight, found.value) == (0.0, found.people)
    assert found.interval == pytest.approx(score_interval(people))


def test_the_order_of_queries_does_not_matter():
    machine, people = sample()
    order = np.random.default_rng(2).permutation(200)
    assert corrected_mean(machine, people) == corrected_mean(machine[order], people[order])


@pytest.mark.parametrize(("count", "n"), [(0, 9), (3, 9), (9, 9), (70, 100)])
def test_wilson(count, n):
    expected = stats.binomtest(count, n).proportion_ci(method="wilson")
    assert wilson(count, n) == pytest.approx(tuple(expected), abs=1e-9)


def test_sensitivity_and_specificity():
    found = against_people([1] * 8 + [0] * 2 + [1] * 3 + [0] * 7, [1] * 10 + [0] * 10)
    assert found == AgainstPeople(both=8, missed=2, invented=3, neither=7)
    assert found.sensitivity_interval() == wilson(8, 10)
    assert found.specificity_interval() == wilson(7, 10)
    assert AgainstPeople(0, 0, 1, 1).sensitivity() is None
    assert AgainstPeople(0, 0, 1, 1).sensitivity_interval() is None


def test_a_perfect_machine_needs_no_correction():
    share, ends = corrected_share(300, 1000, AgainstPeople(1000, 0, 0, 1000))
    assert share == pytest.approx(0.3)
    assert ends == pytest.approx(wilson(300, 1000), abs=0.01)


def test_a_machine_like_a_coin_cannot_be_corrected():
    assert corrected_share(500, 1000, AgainstPeople(50, 50, 50, 50)) is None
    assert corrected_share(500, 1000, AgainstPeople(0, 0, 5, 5)) is None


def test_bad_input():
    with pytest.raises(InvalidInput, match="do not fit"):
        corrected_mean([0.5], [0.5, 0.5])
    with pytest.raises(InvalidInput, match="every query"):
        corrected_mean([np.nan, 0.5, 0.5], [0.5, 0.5, 0.5])
    with pytest.raises(InvalidInput, match="Too few judged"):
        corrected_mean([0.5, 0.5], [0.5, np.nan])
    with pytest.raises(InvalidInput, match="labels do not fit"):
        against_people([1], [1, 0])
