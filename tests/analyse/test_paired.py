import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.analyse import resampling
from calipers.analyse.intervals import mean_interval
from calipers.analyse.paired import (
    PairedResult,
    paired_interval,
    paired_result,
    paired_results,
    randomisation_test,
    randomisation_tests,
)
from calipers.errors import InvalidInput

NAN = float("nan")
# What differences of recall, precision and reciprocal rank look like: fractions with many ties.
fractions = st.builds(Fraction, st.integers(-6, 6), st.sampled_from([1, 2, 3, 5, 6, 7]))


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def naive_p(differences):
    """All sign flips, in exact fractions."""
    observed = abs(sum(differences))
    flips = list(itertools.product([1, -1], repeat=len(differences)))
    extreme = sum(
        abs(sum(sign * d for sign, d in zip(flip, differences, strict=True))) >= observed
        for flip in flips
    )
    return extreme / len(flips)


@given(st.lists(fractions, min_size=1, max_size=8))
def test_exact_p_is_that_of_the_naive_enumeration(differences):
    assert randomisation_test([float(d) for d in differences]) == naive_p(differences)


@given(st.lists(st.tuples(fractions, fractions), min_size=1, max_size=7))
def test_rounding_in_the_subtraction_does_not_lose_ties(pairs):
    noisy = [float(b) - float(a) for a, b in pairs]
    assert randomisation_test(noisy) == naive_p([b - a for a, b in pairs])


@given(st.lists(st.tuples(st.integers(903, 997), st.integers(-3, 3)), min_size=1, max_size=8))
def test_small_differences_between_high_scores_do_not_lose_ties(pairs):
    # The noise of a score near 1 is large beside a difference of 0.001.
    noisy = [(score + gain) / 1000 - score / 1000 for score, gain in pairs]
    assert randomisation_test(noisy) == naive_p([gain for _, gain in pairs])


@pytest.mark.parametrize("n", [2, 5, 9, 12])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exact_p_agrees_with_scipy(n, seed):
    differences = generator(seed).choice([-0.5, -1 / 3, 0.25, 1 / 3, 2 / 3, 1.0], n)
    expected = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=np.inf,
        alternative="two-sided",
    ).pvalue
    assert randomisation_test(differences) == pytest.approx(expected, rel=1e-12)


def test_sampled_p_agrees_with_the_exact_one():
    differences = generator(8).normal(0.35, 1.0, 18)
    sums = np.zeros(1)
    for d in differences:
        sums = np.concatenate([sums - d, sums + d])
    exact = np.mean(np.abs(sums) >= abs(differences.sum()) - 1e-9)
    sampled = randomisation_test(differences, resamples=20_000, seed=1)
    assert sampled == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_sampled_p_is_the_count_of_extreme_flips_plus_one():
    differences = generator(2).integers(-3, 5, 30).astype(float)
    source = np.random.PCG64(6)
    extreme = 0
    for _ in range(99):
        word = int(source.random_raw())
        signs = [1 if word >> i & 1 else -1 for i in range(30)]
        extreme += abs(np.dot(signs, differences)) >= abs(differences.sum())
    assert randomisation_test(differences, resamples=99, seed=6) == (extreme + 1) / 100


def test_p_is_right_under_no_difference():
    """Were the p-values of noise not uniform, a gate at 0.05 would not fail 1 time in 20."""
    noise = generator(12).standard_t(3, size=(60, 800))
    p_values = randomisation_tests(noise, resamples=999)
    assert 0.03 <= np.mean(p_values <= 0.05) <= 0.07
    assert 0.46 <= np.mean(p_values <= 0.5) <= 0.54


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40), st.integers(0, 3))
def test_p_is_a_probability_above_zero_and_blind_to_direction(differences, seed):
    p = randomisation_test(differences, resamples=50, seed=seed)
    assert 0.0 < p <= 1.0
    assert p == randomisation_test([-d for d in differences], resamples=50, seed=seed)


@given(st.lists(fractions, min_size=1, max_size=30), st.integers(-300, 300))
def test_p_does_not_depend_on_the_unit(differences, exponent):
    plain = [float(d) for d in differences]
    scaled = [math.ldexp(d, exponent) for d in plain]
    assert randomisation_test(plain, 50) == randomisation_test(scaled, 50)


@given(st.lists(fractions, min_size=1, max_size=9), st.integers(1, 60))
def test_zeros_do_not_change_an_exact_p(differences, zeros):
    plain = [float(d) for d in differences]
    assert randomisation_test(plain + [0.0] * zeros) == randomisation_test(plain)


def test_the_line_between_exact_and_sampled():
    assert randomisation_test([1.0] * 16) == 2 / 2**16
    assert paired_result([1.0] * 16 + [0.0] * 50).method == "exact"
    assert paired_result([1.0] * 17, resamples=99).method == "sampled"
    assert randomisation_test([1.0] * 40, resamples=99) == 1 / 100


def test_differences_of_0_and_1_are_no_share_of_queries():
    differences = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    result = paired_result(differences)
    assert result.interval.method == "bootstrap"
    assert paired_interval(differences).method == "bootstrap"


def test_no_difference_at_all():
    assert randomisation_test([0.0] * 100) == 1.0
    result = paired_result([0.0] * 3)
    assert (result.p_value, result.effect_size, result.ties) == (1.0, 0.0, 3)
    assert (result.interval.low, result.interval.high) == (0.0, 0.0)


def test_no_pair_at_all():
    expected = PairedResult(
        n=0,
        mean_difference=None,
        interval=None,
        p_value=None,
        effect_size=None,
        wins=0,
        losses=0,
        ties=0,
        method="exact",
    )
    assert paired_result([]) == expected
    assert paired_result([NAN, NAN]) == expected
    assert math.isnan(randomisation_test([]))


def test_one_pair():
    result = paired_result([0.25])
    assert (result.n, result.mean_difference, result.p_value) == (1, 0.25, 1.0)
    assert result.interval is None
    assert result.effect_size is None


def test_effect_size_is_mean_over_sd():
    differences = generator(3).normal(0.2, 1.0, 50)
    expected = differences.mean() / differences.std(ddof=1)
    assert paired_result(differences, resamples=50).effect_size == pytest.approx(expected)


def test_effect_size_of_a_constant_gain_is_not_infinite():
    assert paired_result([0.3 - 0.2, 0.1, 0.4 - 0.3]).effect_size is None


def test_counts_and_mean():
    result = paired_result([0.5, NAN, 0.0, -0.25, 0.5, 0.5])
    assert (result.n, result.wins, result.losses, result.ties) == (5, 3, 1, 1)
    assert result.mean_difference == 0.25


def test_interval_is_that_of_the_mean():
    differences = generator(4).normal(size=30)
    assert paired_interval(differences, seed=3) == mean_interval(differences, seed=3)


def test_a_column_alone_equals_the_column_in_company():
    table = generator(5).normal(size=(30, 5))
    table[4:8, 1] = NAN
    table[10:, 2] = 0.0
    table[:, 3] *= 1e6
    table[:, 4] = NAN
    together = paired_results(table, resamples=200, seed=7)
    assert together == [paired_result(column, resamples=200, seed=7) for column in table.T]
    assert [result.method for result in together[:4]] == ["sampled", "sampled", "exact", "sampled"]


@pytest.mark.parametrize("cells", [1, 50, 1 << 20])
def test_block_size_does_not_change_p(monkeypatch, cells):
    table = generator(5).normal(0.2, 1.0, size=(70, 3))
    expected = randomisation_tests(table, 200).tolist()
    monkeypatch.setattr(resampling, "CELLS_PER_BLOCK", cells)
    assert randomisation_tests(table, 200).tolist() == expected


def test_wrong_input_is_refused():
    with pytest.raises(InvalidInput, match="number of resamples is out of range: found 0"):
        randomisation_test([1.0], resamples=0)
    with pytest.raises(InvalidInput, match="found 2 dimensions, 1 is needed"):
        randomisation_test([[1.0]])
    with pytest.raises(InvalidInput, match="found 1 dimensions"):
        randomisation_tests([1.0])
    with pytest.raises(InvalidInput, match="found inf"):
        paired_result([1.0, math.inf])


def test_many_columns_are_tested_as_each_alone():
    table = generator(9).normal(0.02, 0.3, (700, 40))
    together = randomisation_tests(table, resamples=300, seed=4)
    assert together[11] == randomisation_test(table[:, 11], resamples=300, seed=4)
