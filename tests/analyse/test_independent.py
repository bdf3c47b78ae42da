from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calipers.analyse import independent
from calipers.analyse.independent import permutation_test, permutation_tests
from calipers.errors import InvalidInput


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def naive(values, chosen):
    """Every choice of as many queries; how many are as far from the mean of all?"""
    n, size = len(values), sum(chosen)
    overall = sum(values) / n

    def distance(rows):
        return abs(sum(values[row] for row in rows) / size - overall)

    observed = distance([row for row in range(n) if chosen[row]])
    choices = list(combinations(range(n), size))
    return sum(distance(rows) >= observed - 1e-9 for rows in choices) / len(choices)


@given(st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), min_size=2, max_size=9), st.data())
def test_few_queries_are_tested_exactly(values, data):
    size = data.draw(st.integers(1, len(values) - 1))
    chosen = [row < size for row in range(len(values))]
    assert permutation_test(values, chosen) == pytest.approx(naive(values, chosen))


def test_many_queries_agree_with_scipy():
    random = generator(1)
    inside, outside = random.beta(2, 3, 40), random.beta(2.6, 3, 80)
    expected = stats.permutation_test(
        (inside, outside),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        n_resamples=20_000,
        vectorized=True,
        rng=generator(2),
    ).pvalue
    actual = permutation_test(
        np.concatenate([inside, outside]), np.arange(120) < 40, resamples=20_000
    )
    assert actual == pytest.approx(expected, abs=0.02)


def test_equal_groups_raise_false_alarms_at_the_level():
    random = generator(3)
    chosen = np.arange(60) < 15
    alarms = [
        permutation_test(random.random(60), chosen, resamples=200, seed=seed) <= 0.05
        for seed in range(400)
    ]
    assert np.mean(alarms) == pytest.approx(0.05, abs=0.03)


def test_a_column_alone_equals_the_column_in_company(monkeypatch):
    table = generator(4).random((50, 3))
    chosen = np.arange(50) < 20
    together = permutation_tests(table, chosen, resamples=300, seed=7)
    alone = [permutation_test(column, chosen, resamples=300, seed=7) for column in table.T]
    assert together.tolist() == alone
    monkeypatch.setattr(independent, "CELLS_PER_BLOCK", 1)
    assert permutation_tests(table, chosen, resamples=300, seed=7).tolist() == alone


def test_the_seed_decides_and_p_is_never_0():
    values = [1.0] * 30 + [0.0] * 30
    chosen = np.arange(60) < 30
    assert permutation_test(values, chosen, resamples=500) == 1 / 501
    mixed = generator(5).random(60)
    p = [permutation_test(mixed, chosen, resamples=500, seed=seed) for seed in (1, 1, 2)]
    assert p[0] == p[1] != p[2]


def test_all_values_equal_show_nothing():
    assert permutation_test([0.1 + 0.2, 0.3] * 30, np.arange(60) < 9, resamples=100) == 1.0


def test_an_empty_side_has_no_p():
    assert np.isnan(permutation_test([0.1, 0.2], [True, True]))
    assert np.isnan(permutation_test([0.1, 0.2], [False, False]))


def test_wrong_input_is_refused():
    with pytest.raises(InvalidInput, match="found 2 dimensions, 1 is needed"):
        permutation_test([[0.1]], [True])
    with pytest.raises(InvalidInput, match=r"found \(1,\), \(2,\) is needed"):
        permutation_test([0.1, 0.2], [True])
    with pytest.raises(InvalidInput, match="resamples is out of range: found 0"):
        permutation_test([0.1, 0.2], [True, False], resamples=0)
    with pytest.raises(InvalidInput, match="found nan"):
        permutation_test([0.1, float("nan")], [True, False])
