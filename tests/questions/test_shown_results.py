"""Results as one table, against a walk through each list."""

from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers import read
from calipers.questions import shown_results
from calipers.questions.shown_results import first_with, list_results

TEXTS = st.sampled_from(["one", "two", None])
RESULTS = st.lists(st.tuples(st.sampled_from("abcd"), TEXTS), max_size=6)


@given(lists=st.lists(RESULTS, min_size=1, max_size=3), depth=st.none() | st.integers(1, 6))
def test_repetitions_are_those_of_an_id_or_of_a_text_above(lists, depth):
    records = [
        {
            "query": f"q{n}",
            "retrieved": [{"id": item, "text": text} for item, text in results],
            "ground_truth": ["a"],
        }
        for n, results in enumerate(lists)
    ]
    records.append({"query": "safe", "retrieved": [{"id": "a"}], "ground_truth": ["a"]})
    pair = read(records, match="id")
    listed = list_results(pair.run, pair.matches, depth=depth)
    expected = []
    for n, results in enumerate([*lists, [("a", None)]]):
        for rank, (item, text) in enumerate(results[:depth], start=1):
            above = results[: rank - 1]
            repeated = any(item == i or (text is not None and text == t) for i, t in above)
            expected.append((n, rank, item, text, repeated))
    columns = ("query", "rank", "item", "text", "repeated")
    assert listed.select(columns).rows() == expected


def test_a_failed_query_and_an_unknown_one_have_no_results():
    records = [
        {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]},
        {"query": "failed", "retrieved": ["a"], "error": "timeout", "ground_truth": ["a"]},
    ]
    pair = read(records)
    assert list_results(pair.run, pair.matches)["query"].to_list() == [0]
    other = read(ground_truth={"q": ["a"]}, run={"q": ["a"], "unknown": ["a"]})
    assert list_results(other.run, other.matches)["query"].to_list() == [0]


def test_a_file_that_mixes_its_queries(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,item,score\nq,a,3\nr,b,2\nq,b,1\n")
    pair = read(ground_truth={"q": ["a"], "r": ["b"]}, run=path)
    listed = list_results(pair.run, pair.matches)
    assert listed.sort("query", "rank").select("query", "rank", "item").rows() == [
        (0, 1, "a"),
        (0, 2, "b"),
        (1, 1, "b"),
    ]


def test_no_result_at_all_is_an_empty_table():
    pair = read(ground_truth={"q": ["a"]}, run={"q": []})
    assert list_results(pair.run, pair.matches).height == 0


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc") | st.none())))
def test_few_values_and_many_have_the_same_first_row(rows):
    query = np.array([code for code, _ in rows], dtype=np.int64)
    frame = pl.DataFrame({"item": pl.Series([name for _, name in rows], dtype=pl.String)})
    expected = [rows.index(row) if row[1] else at for at, row in enumerate(rows)]
    for few in (0, len(rows)):
        with patch.object(shown_results, "_FEW", few):
            assert first_with(query, frame, "item").tolist() == expected
