"""Which questions are worth judging."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.labels.worth_judging import worth_judging
from calipers.store.pool import PoolSettings

LISTS = st.dictionaries(
    st.sampled_from("pqr"),
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=5, unique=True),
    min_size=3,
)


def runs(*values):
    return {f"run{n}": load(value, "run").run for n, value in enumerate(values)}


@given(LISTS, LISTS, LISTS, st.integers(1, 4))
def test_questions_with_a_miss_are_those_whose_targets_are_not_all_near_the_top(
    truth, one, other, depth
):
    found = worth_judging(
        "misses",
        load(truth, "ground_truth").ground_truth,
        runs(one, other),
        PoolSettings(depth=depth),
    )
    assert found == {
        query
        for query, targets in truth.items()
        if any(set(targets) - set(run[query][:depth]) for run in (one, other))
    }


@given(LISTS, LISTS, st.integers(1, 4))
def test_different_questions_are_those_whose_first_results_are_not_the_same(one, other, depth):
    found = worth_judging("different", None, runs(one, other), PoolSettings(depth=depth))
    assert found == {query for query in one if one[query][:depth] != other[query][:depth]}


def test_what_cannot_be_known_gets_a_sentence():
    with pytest.raises(InvalidInput, match="one run alone differs from nothing"):
        worth_judging("different", None, runs({"q": ["a"]}), PoolSettings())
    with pytest.raises(InvalidInput, match="without a ground truth nothing is missed"):
        worth_judging("misses", None, runs({"q": ["a"]}), PoolSettings())


def test_a_pool_of_misses_has_no_other_question(tmp_path):
    desk = calipers.labels_pool(
        "some",
        {"one": {"p ?": ["a", "b"], "q ?": ["c", "d"]}},
        only="misses",
        depth=2,
        ground_truth={"p ?": ["a"], "q ?": ["x"]},
        store=str(tmp_path / "h.db"),
    )
    assert {one.label.query_id for one in desk.items} == {"q ?"}
