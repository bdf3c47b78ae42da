"""What the best of many settings gains on new queries."""

import numpy as np
import pytest

from calipers.statistics import winner
from calipers.statistics.winner import winner_gain


def scores(n=60, settings=12, seed=3):
    return np.random.default_rng(seed).random((n, settings)).round(2)


def naive(values, baseline, orders, parts):
    """The same by loops, for the orders in which the queries were divided."""
    n, found = len(values), []
    for order in orders:
        for held_out in np.array_split(np.asarray(order), np.arange(1, parts) * n // parts):
            others = np.setdiff1d(np.arange(n), held_out)
            means = values[others].mean(axis=0)
            chosen = np.flatnonzero(means >= means.max() - 1e-12)
            chosen = np.array([baseline]) if baseline in chosen else chosen
            found.append(values[held_out][:, chosen].mean(axis=1).sum())
    return sum(found) / (n * len(orders)) - values[:, baseline].mean()


def test_agrees_with_loops():
    values = scores(23, 4)
    columns = np.lexsort(
        (values.T @ values.mean(axis=1), (values**2).sum(axis=0), values.sum(axis=0))
    )
    ordered = values[np.argsort(values[:, columns] @ np.random.default_rng(0).random(4))]
    draw = np.random.default_rng([0, 23, 4])
    orders = [draw.permutation(23) for _ in range(winner.MOST_TIMES)]
    assert winner_gain(values, 1).expected == pytest.approx(naive(ordered, 1, orders, winner.PARTS))


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_queries_nor_that_of_settings_matters(seed):
    values, draw = scores(), np.random.default_rng(seed)
    rows, columns = draw.permutation(60), draw.permutation(12)
    first = winner_gain(values, 2)
    second = winner_gain(values[rows][:, columns], int(np.flatnonzero(columns == 2)[0]))
    assert second.expected == pytest.approx(first.expected, abs=1e-12)
    assert columns[second.winner] == first.winner


def test_queries_of_a_cluster_are_never_on_both_sides():
    # One cluster likes the other setting: without it neither leads, and the baseline stays.
    values = np.zeros((80, 2))
    values[:10, 1] = 1
    apart = winner_gain(values, 0, np.repeat(np.arange(8), 10))
    together = winner_gain(values, 0)
    assert (apart.units, apart.here, together.here) == (8, 0.125, 0.125)
    assert (apart.expected, together.expected) == (0.0, 0.125)


def test_what_cannot_be_chosen_from_has_no_winner():
    assert winner_gain([[0.1, 0.2]], 0) is None
    assert winner_gain([[0.1], [0.2]], 0) is None
    assert winner_gain([[np.nan, 0.2], [0.1, 0.3]], 0) is None


def test_among_equals_the_baseline_leads():
    found = winner_gain(np.ones((20, 3)), 2)
    assert (found.winner, found.here, found.expected) == (2, 0.0, 0.0)
