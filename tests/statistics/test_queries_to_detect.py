"""What a fixed difference takes: exact for hits, Bonett's interval else, rounded outward."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.claim import QueriesToDetect, cannot_show
from calipers.statistics import queries_to_detect as rule
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_to_detect import queries_to_detect, usual_queries_to_detect


def row_of(values, **settings):
    return paired_rows([values], **settings)[0]


def hits(won, lost, same):
    return row_of([1.0] * won + [-1.0] * lost + [0.0] * same)


def naive_power(n, changing, difference, alpha):
    """The chance that a sign test of n hits shows a gain, by adding up every outcome."""
    gains = (changing + difference) / 2
    losses = changing - gains
    shown = 0.0
    for won in range(n + 1):
        for lost in range(n - won + 1):
            changed = won + lost
            tail = sum(math.comb(changed, one) for one in range(won, changed + 1)) / 2**changed
            if won > lost and 2 * tail <= alpha:
                ways = math.comb(n, won) * math.comb(n - won, lost)
                shown += ways * gains**won * losses**lost * (1 - changing) ** (n - changed)
    return shown


@pytest.mark.parametrize("n", [8, 17, 40])
@pytest.mark.parametrize(
    ("changing", "difference"), [(0.5, 0.3), (0.35, 0.35), (1.0, 0.4), (0.2, 0.05)]
)
@pytest.mark.parametrize("alpha", [0.05, 0.02])
def test_the_power_for_hits_is_that_of_every_outcome(n, changing, difference, alpha):
    found = rule._power(n, changing, difference, alpha)
    assert found == pytest.approx(naive_power(n, changing, difference, alpha), abs=1e-10)


@pytest.mark.parametrize(("share", "difference"), [(0.3, 0.2), (0.6, 0.25), (0.1, 0.3)])
def test_one_query_fewer_has_less_power(share, difference):
    n = int(rule._by_signs(share, difference, 0.05, 0.8))
    changing = max(share, difference)
    assert rule._power(n, changing, difference, 0.05) >= 0.8
    assert rule._power(n - 1, changing, difference, 0.05) < 0.8


def test_many_queries_need_no_exact_sums():
    exact = rule._by_signs(0.4, 0.03, 0.05, 0.8)
    assert exact < rule._EXACT
    assert rule._by_normal_signs(0.4, 0.03, 0.05, 0.8) == pytest.approx(exact, rel=0.02)
    assert rule._by_signs(0.4, 0.003, 0.05, 0.8) == pytest.approx(100 * exact, rel=0.02)


def test_other_changes_take_the_variance_of_bonett():
    values = np.array([0.31, -0.22, 0.05, 0.0, 0.11, -0.4, 0.27, 0.02, -0.13, 0.0, 0.09, -0.08])
    n, z = len(values), 1.959963984540054
    cut = int(n / (2 * math.sqrt(n - 4)))
    trimmed = np.sort(values)[cut : n - cut].mean()
    kurtosis = n * ((values - trimmed) ** 4).sum() / ((values - values.mean()) ** 2).sum() ** 2
    small = n / (n - z)
    error = z * small * math.sqrt((kurtosis - (n - 3) / n) / (n - 1))
    middle = 7.848879734349082 * small * values.var(ddof=1) / 0.1**2
    low, high = middle * math.exp(-error) + 2, middle * math.exp(error) + 2
    found = queries_to_detect(row_of(values), 0.1)
    assert (found.low, found.high) == (rule._rounded_down(low), rule._rounded_up(high))
    assert (found.low, found.high) == (10, 150)


def test_hits_take_the_exact_interval_of_the_share_that_changed():
    # 10 of 42: Clopper and Pearson's 95% interval is 0.1205 to 0.3945.
    low, high = rule._share_ends(hits(6, 4, 32))
    assert [low, high] == pytest.approx([0.1205, 0.3945], abs=1e-4)
    found = queries_to_detect(hits(6, 4, 32))
    ends = [rule._by_signs(share, 0.05, 0.05, 0.8) for share in (low, high)]
    assert (found.low, found.high) == (rule._rounded_down(ends[0]), rule._rounded_up(ends[1]))
    assert found == queries_to_detect(hits(0, 10, 32)), "the difference that was seen is no matter"


def test_it_is_silent_below_five_that_changed():
    assert queries_to_detect(hits(2, 2, 38)) is None
    assert queries_to_detect(hits(3, 2, 37)) is not None
    assert queries_to_detect(row_of([0.1, 0.2, -0.1, 0.3] + [0.0] * 40)) is None
    assert queries_to_detect(row_of([])) is None


def test_clusters_count_as_one_and_weights_as_what_they_move():
    names = np.repeat(np.arange(12), 2)
    values = np.repeat([1.0, -1.0, 1.0, -1.0, 1.0, -1.0] + [0.0] * 6, 2)
    assert queries_to_detect(row_of(values, clusters=names)) == queries_to_detect(hits(3, 3, 6))
    weights = np.where(np.arange(24) % 3, 1.0, 5.0)
    weighted = queries_to_detect(row_of(values, weights=weights))
    assert row_of(values, weights=weights).step is None
    assert weighted.high > queries_to_detect(row_of(values)).high


def test_more_rows_take_more():
    columns = [np.random.default_rng(one).choice([-1.0, 0.0, 1.0], 60) for one in range(12)]
    alone, among = row_of(columns[0]), paired_rows(columns)[0]
    assert among.alpha < alone.alpha
    assert queries_to_detect(among).high > queries_to_detect(alone).high
    assert queries_to_detect(among, alpha=0.05) == queries_to_detect(alone)


@given(st.floats(0.3, 1e7))
def test_ends_are_rounded_outward_to_round_numbers(value):
    low, high = rule._rounded_down(value), rule._rounded_up(value)
    assert low <= max(value, 1.0) <= max(high, 1)
    assert high <= max(1.6 * value, 2)
    assert low >= min(0.6 * value, 1)
    for end in (low, high):
        digits = f"{end}".rstrip("0")
        assert digits in {"1", "15", "2", "3", "4", "5", "7"}


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.02, 0.05, 0.1]),
    st.booleans(),
)
def test_the_order_and_the_direction_are_no_matter_and_a_smaller_difference_takes_more(
    seed, difference, only_hits
):
    rng = np.random.default_rng(seed)
    values = rng.choice([-1.0, 0.0, 1.0], 40) if only_hits else rng.normal(0.02, 0.2, 40)
    found = queries_to_detect(row_of(values), difference)
    assert found.low <= found.high
    assert found == queries_to_detect(row_of(-rng.permutation(values)), -difference)
    smaller = queries_to_detect(row_of(values), difference / 2)
    assert (smaller.low, smaller.high) >= (found.low, found.high)


def test_without_a_measurement_the_usual_share_of_hits_changes():
    assert usual_queries_to_detect() == QueriesToDetect(0.05, 300, 1_000)
    assert usual_queries_to_detect(0.1).high == 300


def test_sentences():
    takes = QueriesToDetect(0.05, 300, 1_000)
    assert takes.sentence == "To detect 0.05 takes 300 to 1,000 queries."
    assert takes.sentence_for("clusters", "ndcg@10") == (
        "To detect 0.05 in ndcg@10 takes 300 to 1,000 clusters."
    )
    assert cannot_show(2.0, takes) == ("can show no difference; to detect 0.05 takes 300 to 1,000")
