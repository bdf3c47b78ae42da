"""Batches of whole queries, ranked."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.model.ranking import NotGroupedError, RankedBatch, over_ranked


def itself(batch: RankedBatch) -> RankedBatch:
    return batch


def frames(queries: list[int], rows: int) -> list[pl.DataFrame]:
    table = pl.DataFrame({"query": list(map(str, queries)), "item": "a"}, strict=False)
    return [table[i : i + rows] for i in range(0, table.height, rows)]


@given(st.lists(st.integers(0, 12), min_size=1), st.integers(1, 5))
def test_a_query_that_comes_again_is_seen_in_any_cut(queries, rows):
    groups = [q for i, q in enumerate(queries) if not i or q != queries[i - 1]]
    is_grouped = len(set(groups)) == len(groups)
    batches = over_ranked(itself, iter(frames(queries, rows)), "listed", "input")
    if is_grouped:
        assert [name for batch in batches for name in batch.queries] == list(map(str, groups))
    else:
        with pytest.raises(NotGroupedError):
            list(batches)


def test_results_without_ids_are_told_apart_by_their_texts():
    table = pl.DataFrame({"query": ["q"] * 3, "text": ["a", "c", "b"], "score": [1.0, 1.0, 2.0]})
    [batch] = over_ranked(itself, iter([table]), "score", "trec")
    assert batch.frame["text"].to_list() == ["b", "c", "a"]
    with pytest.raises(InvalidInput, match="the same score 1: 'a' and 'c'"):
        list(over_ranked(itself, iter([table]), "score", "error"))


ROW = st.tuples(st.integers(0, 3), st.sampled_from("abcé"), st.integers(0, 2))


@given(st.lists(ROW, min_size=1, max_size=14), st.booleans())
def test_ties_go_by_id_and_take_their_columns_with_them(rows, chunked):
    """Against a sort of the rows themselves; any columns, in one piece or in several."""
    rows = sorted(((q, f"{name}{at}", score, at) for at, (q, name, score) in enumerate(rows)))
    parts = [rows[:5], rows[5:]] if chunked else [rows]
    schema = {"query": pl.String, "item": pl.String, "score": pl.Float64, "page": pl.Int64}
    table = pl.concat(
        pl.DataFrame([(f"q{q}", *rest) for q, *rest in part], schema, orient="row")
        for part in parts
        if part
    )
    [batch] = over_ranked(itself, iter([table]), "score", "trec")
    by_id = sorted(rows, key=lambda row: row[1], reverse=True)
    expected = sorted(by_id, key=lambda row: (row[0], -row[2]))
    assert batch.frame.select("query", "item", "score", "page").rows() == [
        (f"q{q}", item, float(score), page) for q, item, score, page in expected
    ]
