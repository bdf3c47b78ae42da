"""The laws of the paired test: monotone, unanimous, one voice, swap, more of the same."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from calipers.statistics import paired_rows as module
from calipers.statistics.paired_rows import paired_rows, sign_test
from calipers.statistics.paired_units import _ranked

SIZES = (-1.0, -0.5, -0.25, 0.0, 0.1, 0.5, 1.0)
few = st.lists(st.sampled_from(SIZES), min_size=1, max_size=14)
hits = st.lists(st.sampled_from((-1.0, 0.0, 1.0)), min_size=1, max_size=60)
several = st.integers(2, 12).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from(SIZES), min_size=n, max_size=n), min_size=2, max_size=4
    )
)

DRAWN = [np.random.default_rng(n).normal(0.1, 0.3, (3, n)).round(2).tolist() for n in (20, 40, 300)]
"""So many that signs are drawn."""


def row(gains, clusters=None):
    return paired_rows([gains], clusters)[0]


def won(better, worse, n):
    return [1.0] * better + [-1.0] * worse + [0.0] * (n - better - worse)


def brute(gains):
    """p from every way to set the signs of what changed."""
    moved = [abs(gain) for gain in gains if gain]
    sums = [
        sum(map(float.__mul__, moved, signs)) for signs in product((1.0, -1.0), repeat=len(moved))
    ]
    return float(np.mean([abs(one) >= abs(sum(gains)) - 1e-9 for one in sums]))


def above(found):
    """The one-sided p of "better"."""
    return found.p / 2 if found.difference > 0 else 1 - found.p / 2


@given(hits)
def test_hits_are_the_sign_test_at_any_number(gains):
    better, worse = gains.count(1.0), gains.count(-1.0)
    wanted = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert row(gains).p == pytest.approx(wanted)
    for more in (1, 2_000):
        assert row([*gains, *[0.0] * more]).standing == row(gains).standing
        assert row([*gains, *[0.0] * more]).p == row(gains).p


@settings(deadline=None, max_examples=40)
@given(few, st.data())
def test_few_are_counted_through_and_raising_one_never_makes_better_less_certain(gains, data):
    assert row(gains).p == pytest.approx(brute(gains))
    at = data.draw(st.integers(0, len(gains) - 1))
    raised = [*gains]
    raised[at] = min(1.0, gains[at] + data.draw(st.sampled_from((0.05, 0.5, 1.0))))
    first, second = row(gains), row(raised)
    assert above(second) <= above(first) + 1e-12
    if first.interval and second.interval:
        assert second.interval.low >= first.interval.low - 1e-9
        assert second.interval.high >= first.interval.high - 1e-9


@pytest.mark.parametrize("n", [25, 60, 400, 3_000])
def test_raising_one_of_many_is_monotone_up_to_rounding(n):
    random = np.random.default_rng(n)
    for _ in range(3 if n > 100 else 10):
        gains = np.where(random.random(n) < 0.5, random.normal(0.02, 0.3, n), 0.0)
        raised = gains.copy()
        raised[int(random.integers(n))] += 0.2
        first, second = paired_rows([gains, raised], marked=[False, False])
        assert above(second) <= above(first) + 1e-4


@pytest.mark.parametrize("shape", ["normal", "skewed", "ranks 1 to 3", "ranks 1 to 9", "sixths"])
@pytest.mark.parametrize("n", [31, 34])
def test_more_than_thirty_changes_have_the_p_of_all_their_signs(shape, n, monkeypatch):
    random = np.random.default_rng(n)
    if shape.startswith("ranks"):  # some differences of nDCG are the sum of others
        values = np.append(1 / np.log2(np.arange(2, 2 + int(shape[-1]))), 0.0)
        gains = np.array([one - other for one in values for other in values if one != other])
        gains = random.choice(gains, n)
    else:
        drawn: dict[str, Any] = {"normal": random.normal, "skewed": random.lognormal}
        gains = drawn[shape](0.1, 0.9, n) if shape in drawn else random.integers(1, 7, n) / 6
        gains -= gains.mean() * (0.7 if shape == "normal" else 0.8)
    found = row(gains).p
    monkeypatch.setattr(module, "EXACT", n)
    assert 0.999 * row(gains).p < found < 1.01 * row(gains).p


@pytest.mark.parametrize("n", [100, 900])
def test_sums_that_are_equal_count_also_among_many(n):
    """Gains in units of 1/300, shifted by 0.02 as a gate does: every sum has its exact chance."""
    random = np.random.default_rng(n)
    gains = np.where(np.arange(n) < n // 3, random.choice([300, 150, -100, -300], n), 0) + 6
    chances = np.ones(1)
    for size in np.abs(gains):
        chances = np.concatenate([chances, np.zeros(size)]) + np.append(np.zeros(size), chances)
        chances /= 2
    reached = (np.abs(gains).sum() - abs(gains.sum())) // 2
    assert row(gains / 300).p == pytest.approx(2 * chances[: reached + 1].sum(), rel=0.01)


@pytest.mark.parametrize("n", [6, 12, 200, 5_000])
def test_six_that_all_changed_one_way_are_significant(n):
    assert row(won(6, 0, n)).standing == "better"
    assert row(won(0, 6, n)).standing == "worse"
    assert row([-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, *[0.0] * (n - 6)]).standing == "worse"
    assert row(won(5, 0, n)).standing == "no clear difference"


@settings(deadline=None, max_examples=40)
@given(several)
def test_p_and_interval_speak_with_one_voice(columns):
    for found in paired_rows(columns):
        assert found.adjusted >= found.p - 1e-12
        assert (found.standing != "no clear difference") == (found.adjusted <= 0.05)
        assert (found.interval is not None) <= (found.changed >= 8)
        if found.interval is not None:
            outside = found.interval.low > 0 or found.interval.high < 0
            assert outside == (found.standing != "no clear difference")


@settings(deadline=None, max_examples=40)
@given(several | st.sampled_from(DRAWN), st.randoms())
def test_swapping_systems_swaps_signs_and_order_means_nothing(columns, random):
    order = list(range(len(columns[0])))
    random.shuffle(order)
    mixed = [[-column[at] for at in order] for column in columns]
    for one, other in zip(paired_rows(columns), paired_rows(mixed), strict=True):
        assert (one.p, one.adjusted) == (other.p, other.adjusted)
        assert (one.better, one.worse) == (other.worse, other.better)
        if one.interval and other.interval:
            assert one.interval == (-other.interval.high, -other.interval.low)


@settings(deadline=None, max_examples=40)
@given(few)
@example([-0.5, 0.1, 0.1, 0.1, 0.5])
def test_more_of_the_same_never_weakens(gains):
    once, twice = row(gains), row(gains * 2)
    # Far from any claim an exact p may rise: .625 to .629 for the example, which claims nothing.
    assert twice.p <= once.p + 1e-12 or once.p > 0.5
    assert twice.standing == once.standing or once.standing == "no clear difference"
    # Copies of the same queries are no new ones.
    copies = row(gains * 2, [*range(len(gains))] * 2)
    assert copies.p == once.p
    assert copies.difference == pytest.approx(once.difference)


def test_ten_copies_of_one_question_count_once():
    assert row([1.0] * 10).standing == "better"
    copied = row([1.0] * 10 + [0.0] * 5, [0] * 10 + [1, 2, 3, 4, 5])
    assert (copied.p, copied.changed, copied.units, copied.better) == (1.0, 1, 6, 10)


def test_rows_that_say_the_same_cost_nothing():
    lost = won(0, 6, 40)
    ranked = [0.37 * gain - 0.05 * at * (gain != 0) for at, gain in enumerate(lost)]
    assert [one.adjusted for one in paired_rows([lost, lost, ranked])] == [0.03125] * 3
    three = won(3, 0, 40)[::-1]
    assert [one.adjusted for one in paired_rows([lost, three])] == [0.03125, 0.25]


def test_the_adjusted_p_is_the_share_of_flips_in_which_any_row_is_as_extreme():
    columns = [won(7, 1, 12), won(1, 8, 12)[::-1]]
    signs = np.array(list(product((1.0, -1.0), repeat=12)))
    sums = np.abs(signs @ np.array(columns).T)
    tables = [[binomtest((k + m) // 2, m).pvalue for k in range(m + 1)] for m in (8, 9)]
    smallest = np.min([np.array(tables[at])[sums[:, at].astype(int)] for at in (0, 1)], axis=0)
    seen = sorted(one.p for one in paired_rows(columns) if one.p)
    found = sorted(one.adjusted for one in paired_rows(columns) if one.adjusted)
    assert found[0] == pytest.approx(np.mean(smallest <= seen[0] + 1e-12))


def test_rows_over_other_queries_and_without_any():
    gone = float("nan")
    whole, part, none = won(6, 0, 8), [gone] * 4 + [1.0] * 2 + [0.0] * 2, [gone] * 8
    found = paired_rows([whole, part, none])
    assert [one.n for one in found] == [8, 4, 0]
    last = found[2]
    assert (last.p, last.difference, last.standing) == (None, None, "no clear difference")


def test_rows_outside_the_family_are_not_adjusted_and_cost_nothing():
    random = np.random.default_rng(3)
    columns = [random.normal(0.15, 0.3, 60) for _ in range(4)]
    family = paired_rows(columns, marked=[True, True, False, False])
    assert [one.adjusted == one.p for one in family] == [False, False, True, True] or family[0].p
    alone = paired_rows(columns[:2])
    assert [one.adjusted for one in family[:2]] == [one.adjusted for one in alone]


def test_a_large_difference_that_outweighs_all_others_is_told():
    assert row([0.04] * 20 + [-1.0]).one_outweighs
    assert not row([0.04] * 20 + [-0.5]).one_outweighs


@pytest.mark.parametrize(("lost", "gained"), [(9, 3), (550, 450), (5_500, 4_500), (0, 0)])
def test_sign_test_is_exact(lost, gained):
    wanted = binomtest(lost, lost + gained, alternative="greater").pvalue if lost else 1.0
    assert sign_test(lost, gained) == pytest.approx(wanted, rel=1e-6)


def test_many_queries_and_rows_beside_few_changes():
    random = np.random.default_rng(5)
    many = np.where(random.random(5_000) < 0.9, random.normal(0.0, 0.3, 5_000), 0.0)
    few_changed = np.zeros(5_000)
    few_changed[:7] = -1.0
    found = paired_rows([many, few_changed])
    assert found[1].standing == "worse"
    assert found[1].adjusted == pytest.approx(0.031, abs=0.004)


@example(214041843, "hits")  # two rows that a third tells apart only by its signs
@example(137, "hits")  # two rows that could change places, but for their sums
@given(st.integers(0, 2**32 - 1), st.sampled_from(["permuted", "hits", "parts"]))
def test_the_order_of_rows_and_queries_and_the_sign_change_no_adjusted_p(seed, kind):
    """Rows that change as many queries by as much once got the draws of their place."""
    rng = np.random.default_rng(seed)
    rows, n = int(rng.integers(2, 6)), int(rng.integers(16, 40))
    table = {
        "permuted": lambda: rng.permuted(np.tile(rng.choice([-1.0, 0, 1], n), (rows, 1)), axis=1),
        "hits": lambda: rng.choice([-1.0, 0.0, 1.0], (rows, n), p=[0.15, 0.6, 0.25]),
        "parts": lambda: rng.choice([-0.5, 0.0, 1 / 3, 0.5], (rows, n)),
    }[kind]()
    order = rng.permutation(rows)
    moved = table[order][:, rng.permutation(n)]
    expected, found, turned = (
        np.array([(row.adjusted, row.alpha) for row in paired_rows(list(one))])
        for one in (table, moved, -table)
    )
    assert found == pytest.approx(expected[order], abs=1e-12)
    assert turned == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.lists(st.sampled_from(SIZES), min_size=3, max_size=3), min_size=1, max_size=9))
def test_few_rows_are_ranked_as_many_are(table):
    rows = np.array(table)
    first = np.arange(len(rows)) % 2
    many = np.unique(np.column_stack([first, rows]), axis=0, return_inverse=True)[1].ravel()
    assert _ranked(rows, first).tolist() == many.tolist()
