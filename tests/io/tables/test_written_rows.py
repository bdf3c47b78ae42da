"""Ground truths and runs as rows of a table: what they hold comes back."""

import polars as pl
import pytest

from calipers.io.load import load
from calipers.io.tables.written_rows import fits_long, long_rows


def rows(data, role):
    part = load(data, role)
    assert fits_long(part)
    return pl.concat(list(long_rows(part)))


def test_targets_are_rows_with_whole_grades_where_all_are_whole():
    truth = [
        {"query": "q", "ground_truth": {"a": 1, "b": 2}},
        {"query": "p", "ground_truth": ["c"]},
    ]
    written = rows(truth, "ground_truth")
    assert written.select("query", "item", "grade").rows() == [
        ("q", "a", 1),
        ("q", "b", 2),
        ("p", "c", 1),
    ]
    assert written["grade"].dtype == pl.Int64
    half = rows([{"query": "q", "ground_truth": {"a": 1, "b": 0.5}}], "ground_truth")
    assert half["grade"].to_list() == [1.0, 0.5]
    places = [{"query": "q", "ground_truth": [{"document": "d", "start": 1, "end": 5}]}]
    written = rows(places, "ground_truth").select("document", "start", "end", "grade")
    assert written.rows() == [("d", 1, 5, 1)]


def test_results_are_rows_with_their_ranks():
    table = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]})
    written = rows(table, "run")
    assert written.select("item", "rank", "score").rows() == [("b", 1, 2.0), ("a", 2, 1.0)]


@pytest.mark.parametrize(
    "record",
    [
        {"query": "q", "ground_truth": ["a"], "tags": {"kind": "x"}},
        {"query": "q", "ground_truth": []},
        {"query": "q", "ground_truth": ["None"]},
        {"query": "q", "ground_truth": ["a"], "forbidden": ["b"]},
        {"id": "1", "query": " q ", "ground_truth": ["a"]},
    ],
)
def test_what_rows_cannot_hold_stays_a_record(record):
    assert not fits_long(load([record], "ground_truth"))
