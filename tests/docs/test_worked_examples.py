"""The examples that the pages work by hand: computed here by scipy or step by step."""

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import calipers
from calipers.questions.sweep.floor import lowest_mean
from calipers.statistics.nights import watch
from calipers.statistics.two_sample import group_tests
from simulations.page import METHOD
from simulations.results import pair_of
from tests.statistics.ends import score_interval

DOCS = Path(__file__).parents[2] / "docs"


def says(page, *pieces):
    """Whether the page has these figures, in this order."""
    text = re.sub(r"\s+", " ", (DOCS / f"{page}.md").read_text(encoding="utf-8"))
    pattern = ".*?".join(map(re.escape, pieces))
    assert re.search(pattern, text), pieces


def by_turned_signs(differences, value=0.0):
    """The share of all turned signs that give a sum at least as large, as the pages have it."""
    away = np.array(differences) - value
    sums = [np.dot(signs, away) for signs in product((1, -1), repeat=len(away))]
    return float(np.mean(np.array(sums) >= away.sum() - 1e-9))


def test_statistics_an_interval_of_a_mean():
    u = stats.t.ppf(0.975, 99) ** 2 / 99
    middle = (0.6 + u / 2) / (1 + u)
    reach = np.sqrt(u * 0.24 + u**2 / 4) / (1 + u)
    found = score_interval([1.0] * 60 + [0.0] * 40)
    assert found == pytest.approx((middle - reach, middle + reach), abs=1e-9)
    assert score_interval([1.0] * 20).low == pytest.approx(0.025 ** (1 / 20), abs=1e-9)
    assert f"{found.low:.3f} to {found.high:.3f}" in METHOD
    assert f"{middle:.3f}" in METHOD
    assert f"{0.025 ** (1 / 20):.3f}" in METHOD
    says("statistics", f"{found.low:.3f} to {found.high:.3f}")


def test_slices_a_slice_and_the_rest():
    [found] = group_tests([0, 0, 0.5, 0.5, 1, 1, 1], [[True] * 3 + [False] * 4])
    assert found.p == pytest.approx(4 / 35, abs=0.005)
    says("slices", f"p = 2 · 2/35 = {4 / 35:.3f}")


def test_floor_how_many_queries_promise_anything():
    needed = int(np.ceil(np.log(0.05) / np.log(0.95)))
    assert lowest_mean(np.ones(needed), 0.95) >= 0.95 > lowest_mean(np.ones(needed - 1), 0.95)
    says("which-k", f"takes at least {needed} queries")


def test_compare_a_paired_test():
    values = [0.5, 0.25, 0.25, 0.5, 0.0, 0.75, 0.25, 0.5, 0.25]
    p = 2 * by_turned_signs(values)
    found = calipers.compare(pair_of(np.array(values))).difference("new", "recall@10")
    assert found.p_value == pytest.approx(p, abs=1e-9)
    low, high = found.interval.low, found.interval.high
    says("compare", "mean of 0.361", f"p = {p:.4f}", f"{low:.3f} to {high:.3f}")


def test_gate_a_loss():
    values = [0.0] * 4 + [-0.5, -0.25, -0.5, -0.25, -0.5, -0.75]
    systems = pair_of(np.array(values))
    verdict = calipers.gate(systems["new"], baseline=systems["old"])
    change = verdict.checks[0].change
    assert change.difference == pytest.approx(-0.275)
    assert change.p_value == 2 / 64
    assert verdict.failed[0].because == ("significant loss", "over the 0.05 allowed")
    says("gate", "mean is −0.275", f"p = 2/64 = {2 / 64:.3f}")


def test_history_five_lost_without_noise():
    values = np.ones((8, 200))
    values[7, :5] = 0.0
    assert watch(values, 0.02, 1 / 365).rings[-1] == "fact"
    says("history", "5 of 200 lost and none won is a loss of", f"{5 / 200:.3f}")
