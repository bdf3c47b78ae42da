"""Laws that every verdict of a comparison keeps, whatever the values of the queries are."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.arrays import frozen_array
from calipers.questions.compare import rule
from calipers.questions.compare.rule import compare_scores
from calipers.words import counts_in_words
from tests.systems import measured

ORDER = ("worse", "no clear difference", "better")
STEPS = (0.0, 0.25, 0.5, 1.0)


@pytest.fixture(autouse=True, scope="module")
def without_a_plan():
    """What a sample would miss takes most of the time, and no verdict depends on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rule, "_visibility", lambda *_, **__: None)
        yield


@lru_cache
def blank(n, metrics):
    return measured([1] * n, metrics)


def scores(table, metrics="recall@5,mrr"):
    """A result with these values: one row per query, one column per metric."""
    values = np.array(table, dtype=np.float64)
    return replace(blank(len(values), metrics), values=frozen_array(values))


def compared(old, new, metrics="recall@5,mrr", **further):
    systems = {"old": scores(old, metrics), "new": scores(new, metrics), **further}
    return compare_scores(systems)


def standings(comparison):
    return {one.metric: ORDER.index(one.verdict) for one in comparison.deciding}


@st.composite
def pairs(draw, least=1, most=14):
    """Two systems, two metrics, leaning one way so that much of it is shown."""
    n = draw(st.integers(least, most))
    lean = draw(st.integers(0, 3))
    tables = []
    for system in range(2):
        floor = STEPS[lean] if system else 0.0
        value = st.sampled_from([max(one, floor) for one in STEPS])
        rows = st.tuples(value, value)
        tables.append(draw(st.lists(rows, min_size=n, max_size=n)))
    return tables


@given(pairs(), st.data())
def test_monotone(tables, data):
    """A query that does better in a metric never makes that metric look worse."""
    old, new = tables
    before = standings(compared(old, new))
    at, column = data.draw(st.integers(0, len(new) - 1)), data.draw(st.integers(0, 1))
    raised = [list(row) for row in new]
    raised[at][column] = min(1.0, raised[at][column] + data.draw(st.sampled_from(STEPS)))
    after = standings(compared(old, raised))
    metric = ("recall@5", "mrr")[column]
    assert after[metric] >= before[metric]


@given(st.integers(6, 30), st.integers(0, 20), st.booleans())
def test_unanimous(moved, still, up):
    """Six or more that all moved one way are heard, in a single test."""
    low, high = [[0.0]] * moved + [[0.5]] * still, [[0.25]] * moved + [[0.5]] * still
    found = compared(low, high, "mrr") if up else compared(high, low, "mrr")
    assert found.claims[0].standing == ("better" if up else "worse")


@given(pairs())
def test_one_voice(tables):
    """The word, the sign, p and the interval say the same, and the sentence says it too."""
    for one in compared(*tables).deciding:
        is_shown = one.p_adjusted is not None and one.p_adjusted <= 0.05
        assert is_shown == (one.verdict != "no clear difference")
        if one.interval is not None:
            assert is_shown == (one.interval.low > 0 or one.interval.high < 0)
        assert one.claim.standing == one.verdict
        assert (f" is {one.verdict} than " in one.claim.fact) == is_shown


@given(pairs(), st.randoms(use_true_random=False))
def test_swap(tables, random):
    """Exchanging the systems exchanges the signs and nothing else; so does no other order."""
    old, new = tables
    there, back = compared(old, new), compared(new, old)
    order = list(range(len(old)))
    random.shuffle(order)
    shuffled = compared([old[at] for at in order], [new[at] for at in order])
    for one in there.differences:
        other = back.difference("new", one.metric)
        again = shuffled.difference("new", one.metric)
        assert ORDER.index(one.verdict) + ORDER.index(other.verdict) == 2
        assert (one.p_adjusted, one.wins, one.losses) == (
            other.p_adjusted,
            other.losses,
            other.wins,
        )
        assert (one.verdict, one.p_adjusted) == (again.verdict, again.p_adjusted)


@given(pairs(most=8))
def test_more_of_the_same(tables):
    """The same queries twice never weaken what was shown."""
    once = standings(compared(*tables))
    twice = standings(compared(*(table * 2 for table in tables)))
    for metric, standing in once.items():
        assert standing == 1 or twice[metric] == standing


@given(pairs(least=6))
def test_no_loss_is_passed_over(tables):
    """A loss that is shown stands in the first line, whatever was gained elsewhere."""
    found = compared(*tables)
    worse = any(one.verdict == "worse" for one in found.deciding)
    assert worse == (found.claims[0].standing == "worse")


@given(pairs(most=9))
def test_fact_first(tables):
    """Means and counts are printed whatever the test says."""
    old, new = (np.array(table) for table in tables)
    found = compared(*tables)
    first = found.deciding[0]
    column = ("recall@5", "mrr").index(first.metric)
    means = [f"{values[:, column].mean():.3f}" for values in (old, new)]
    gains = new[:, column] - old[:, column]
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    said = " ".join(str(found).split())
    assert said.startswith(f"{first.claim.sign} ")
    assert all(mean in said for mean in means)
    if better or worse:
        assert f"{first.metric}: {counts_in_words(better, worse, len(gains))}" in said


@given(pairs(least=6), pairs(least=6))
def test_what_is_worse_than_the_baseline_never_leads(tables, others):
    n = min(len(tables[0]), len(others[0]))
    found = compared(tables[0][:n], tables[1][:n], third=scores(others[1][:n]))
    best = found.ranking[0]
    assert best in found.near_best
    if best != found.baseline:
        assert found.difference(best, found.primary).verdict != "worse"


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 20))
def test_an_unchanged_query_never_changes_a_standing_of_hits(won, lost, tied):
    """One target a query: what neither system changed has no part in the test."""
    old = [[0.0, 0.0]] * won + [[1.0, 1.0]] * (lost + tied)
    new = [[1.0, 1.0]] * won + [[0.0, 0.0]] * lost + [[1.0, 1.0]] * tied
    once, more = compared(old, new), compared([*old, [1.0, 1.0]], [*new, [1.0, 1.0]])
    for one in once.deciding:
        other = more.difference("new", one.metric)
        assert (other.verdict, other.p_value) == (one.verdict, one.p_value)


def test_the_family_of_what_one_comparison_marks():
    """Three systems that are alike: any sign is a false one."""
    rng = np.random.default_rng(25)
    marks = 0
    draws = 60
    for _ in range(draws):
        hard = rng.normal(0.5, 0.2, (12, 1))
        tables = [np.clip(hard + rng.normal(0, 0.15, (12, 2)), 0, 1) for _ in range(3)]
        found = compared(tables[0], tables[1], third=scores(tables[2]))
        marks += any(one.verdict != "no clear difference" for one in found.deciding)
    assert marks / draws <= 0.06
