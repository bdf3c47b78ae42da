"""Ranks of a table: gaps are said, whatever the order of the rows."""

import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.io.tables.ranks import gap_notes


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.sets(st.integers(0, 9), min_size=1), min_size=1, max_size=3
    ),
    st.integers(0, 99),
)
def test_a_gap_is_said_exactly_where_a_rank_between_two_is_missing(ranks, seed):
    rows = [(query, float(rank)) for query, some in ranks.items() for rank in some]
    random.Random(seed).shuffle(rows)
    frame = pl.DataFrame(rows, schema=["query", "rank"], orient="row")
    gaps = [one for one in ranks.values() if max(one) - min(one) + 1 > len(one)]
    notes = gap_notes(frame, whole=True)
    assert len(notes) == bool(gaps)
    assert all(f"The ranks of {len(gaps)} quer" in note for note in notes)


@pytest.mark.parametrize(("order", "said"), [([1, 2, 9], 1), ([9, 2, 1], 0), ([1, 2, 3], 0)])
def test_rows_that_are_not_all_count_only_in_their_order(order, said):
    frame = pl.DataFrame({"query": "q", "rank": order})
    assert len(gap_notes(frame, whole=False)) == said


def test_the_note_reaches_the_result_and_the_results_move_up():
    run = pl.DataFrame({"query": "q", "item": ["x", "a"], "rank": [1, 5]})
    scores = calipers.evaluate(run, ground_truth={"q": ["a"]}, metrics="mrr")
    assert scores["mrr"].mean == 0.5
    assert "(1, then 5)" in scores.settings["notes"][0]
