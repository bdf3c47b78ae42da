import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.analyse import intervals, resampling
from calipers.analyse.distributions import normal_cdf
from calipers.analyse.intervals import (
    exact_mean,
    mean_interval,
    mean_intervals,
    quantile_of_sorted,
)
from calipers.errors import InvalidInput
from calipers.model.summary import Interval

NAN = float("nan")
scores = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def recall_like(random, shape):
    """Shares of few targets, often all found: the skewed steps that recall takes."""
    return random.choice([0.0, 1 / 3, 0.5, 2 / 3, 1.0], shape, p=[0.15, 0.1, 0.2, 0.15, 0.4])


SIMULATIONS = {
    "beta(2, 5)": (lambda random, shape: random.beta(2, 5, shape), 2 / 7),
    "beta(5, 1)": (lambda random, shape: random.beta(5, 1, shape), 5 / 6),
    "recall": (recall_like, 0.1 / 3 + 0.1 + 0.15 * 2 / 3 + 0.4),
}


@pytest.mark.parametrize("name", SIMULATIONS)
def test_coverage_is_what_the_level_promises(name):
    draw, truth = SIMULATIONS[name]
    # 4,000 data sets put the standard error of the share at 0.0035; 500 would leave it at 0.01.
    found = mean_intervals(draw(generator(11), (40, 4000)))
    covered = np.mean([interval.low <= truth <= interval.high for interval in found])
    assert 0.93 <= covered <= 0.97


def coverage_of_hits(truth, found):
    """The chance that the interval for the hits out of 40 holds the truth, over all outcomes."""
    return sum(
        stats.binom.pmf(hits, 40, truth)
        for hits, interval in enumerate(found)
        if interval.low <= truth <= interval.high
    )


def test_coverage_of_a_hit_rate_added_up_over_all_outcomes():
    outcomes = np.tri(41, 40, -1).T  # column h holds h hits
    found = mean_intervals(outcomes)
    assert {interval.method for interval in found} == {"wilson"}
    # Hits out of 40 come in steps of 0.025, so the coverage of any interval moves in jumps;
    # Wilson's stays near the level for every true rate, and on the level on average.
    covered = [coverage_of_hits(truth, found) for truth in np.linspace(0.02, 0.98, 193)]
    assert min(covered) > 0.92
    assert max(covered) < 0.98
    assert np.mean(covered) == pytest.approx(0.95, abs=0.005)


@given(st.integers(2, 60), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_share_of_queries_agrees_with_scipy(n, data, level):
    hits = data.draw(st.integers(0, n))
    expected = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    actual = mean_interval([1.0] * hits + [0.0] * (n - hits), level)
    assert (actual.low, actual.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert actual.method == "wilson"


def test_all_hits_do_not_claim_certainty():
    found = mean_interval([1.0] * 20, bounds=(0.0, 1.0))
    assert found.low < 0.85
    assert found.high == 1.0


def test_0_and_1_are_no_share_where_the_caller_says_so_or_names_a_method():
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    assert mean_interval(values).method == "wilson"
    assert mean_interval(values, shares=False).method == "bootstrap"
    assert mean_interval(values, method="bootstrap") == mean_interval(values, shares=False)
    assert mean_interval(values, method="normal").method == "normal"


def test_the_expansion_is_what_makes_small_samples_honest():
    data = generator(3).normal(size=(8, 500))
    expanded = mean_intervals(data)
    plain = np.percentile(resampling.bootstrap_means(data, 2000, 0), [2.5, 97.5], axis=0)
    covered = np.mean([interval.low <= 0 <= interval.high for interval in expanded])
    covered_plain = np.mean((plain[0] <= 0) & (plain[1] >= 0))
    assert covered_plain < 0.92 < covered


def test_percentiles_agree_loosely_with_scipy():
    values = generator(1).beta(2, 5, 60)
    expanded_tail = normal_cdf(-math.sqrt(60 / 59) * stats.t.ppf(0.975, 59))
    expected = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        confidence_level=1 - 2 * expanded_tail,
        method="percentile",
        rng=generator(2),
    ).confidence_interval
    actual = mean_interval(values, resamples=20_000)
    width = expected.high - expected.low
    assert actual.low == pytest.approx(expected.low, abs=0.02 * width)
    assert actual.high == pytest.approx(expected.high, abs=0.02 * width)


def test_more_than_5000_values_take_the_normal_approximation():
    values = generator(4).random(5001)
    expected = stats.t.interval(0.9, 5000, loc=values.mean(), scale=stats.sem(values))
    actual = mean_interval(values, level=0.9)
    assert actual.method == "normal"
    assert (actual.low, actual.high) == pytest.approx(expected, rel=1e-9)
    assert mean_interval(values[:-1]).method == "bootstrap"


def test_methods_agree_where_both_are_good():
    values = generator(5).random(3000)
    bootstrap = mean_interval(values, resamples=5000, method="bootstrap")
    normal = mean_interval(values, method="normal")
    assert (bootstrap.method, normal.method) == ("bootstrap", "normal")
    width = normal.high - normal.low
    assert bootstrap.low == pytest.approx(normal.low, abs=0.05 * width)
    assert bootstrap.high == pytest.approx(normal.high, abs=0.05 * width)


@given(scores, st.integers(0, 5), st.sampled_from([0.05, 0.5, 0.9, 0.95, 0.999]))
def test_a_bootstrap_interval_holds_the_mean_and_stays_within_the_data(values, seed, level):
    found = mean_interval(values, level, resamples=50, seed=seed, method="bootstrap")
    assert min(values) <= found.low <= exact_mean(np.array(values)) <= found.high <= max(values)


@given(scores)
def test_a_higher_level_is_never_narrower(values):
    narrow, wide = (mean_interval(values, level, resamples=200) for level in (0.8, 0.95))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(st.floats(-1e9, 1e9), st.integers(2, 40), st.sampled_from(["bootstrap", "normal"]))
def test_equal_values_give_no_width(value, n, method):
    found = mean_interval([value] * n, resamples=20, method=method)
    assert (found.low, found.high) == (value, value)


def test_fewer_than_two_values_have_no_interval():
    assert mean_interval([]) is None
    assert mean_interval([0.5]) is None
    assert mean_interval([0.5, NAN, NAN]) is None


def test_nan_is_left_out():
    assert mean_interval([0.1, NAN, 0.7, 0.4, NAN]) == mean_interval([0.1, 0.7, 0.4])


def test_a_column_alone_equals_the_column_in_company(monkeypatch):
    table = generator(6).random((25, 7))
    table[3:9, 1] = NAN
    table[3:9, 4] = NAN
    table[20, 5] = NAN
    table[1:, 6] = NAN
    together = mean_intervals(table, resamples=300, seed=8)
    alone = [mean_interval(column, resamples=300, seed=8) for column in table.T]
    assert together == alone
    assert together[6] is None
    monkeypatch.setattr(intervals, "_MEANS_HELD", 1)
    assert mean_intervals(table, resamples=300, seed=8) == alone


def test_columns_with_the_same_gaps_are_drawn_once(monkeypatch):
    table = generator(6).random((25, 4))
    table[2, 1:3] = NAN
    drawn = []
    original = resampling.bootstrap_means

    def counting(values, resamples, seed):
        drawn.append(values.shape)
        return original(values, resamples, seed)

    monkeypatch.setattr(intervals, "bootstrap_means", counting)
    mean_intervals(table, resamples=10)
    assert sorted(drawn) == [(24, 2), (25, 2)]


def test_bounds_cut_the_normal_interval():
    values = [1.0] * 9 + [0.5]
    free = mean_interval(values, method="normal")
    assert free.high > 1.0
    assert mean_interval(values, method="normal", bounds=(0.0, 1.0)) == Interval(
        free.low, 1.0, 0.95, "normal"
    )


def test_seed_decides():
    values = generator(7).random(30)
    assert mean_interval(values, seed=1) == mean_interval(values, seed=1)
    assert mean_interval(values, seed=1) != mean_interval(values, seed=2)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20), st.floats(0.001, 0.999))
def test_quantile_agrees_with_numpy(values, p):
    ordered = np.sort(values)
    expected = np.quantile(ordered, p, method="weibull")
    assert quantile_of_sorted(ordered, p) == pytest.approx(expected, abs=1e-9)


def test_wrong_input_is_refused():
    with pytest.raises(InvalidInput, match=r"confidence level is out of range: found 95"):
        mean_interval([0.0, 1.0], level=95)
    with pytest.raises(InvalidInput, match="interval method is unknown: found 'exact'"):
        mean_interval([0.0, 1.0], method="exact")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="interval method is unknown: found 'wilson'"):
        mean_interval([0.0, 0.5], method="wilson")
    with pytest.raises(InvalidInput, match="found inf"):
        mean_interval([0.0, math.inf])
    with pytest.raises(InvalidInput, match="found 2 dimensions, 1 is needed"):
        mean_interval([[0.0, 1.0]])
    with pytest.raises(InvalidInput, match="found 1 dimensions"):
        mean_intervals([0.0, 1.0])
