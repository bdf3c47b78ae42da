"""Depth-k pooling: each thing once, in an order that tells nothing."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.questions.pooling import by_queries, pool_runs, shuffled, without_judged

RUN = st.dictionaries(
    st.sampled_from("pqr"), st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True)
)


def frame(run):
    rows = [(q, rank, item) for q, items in run.items() for rank, item in enumerate(items, 1)]
    return pl.DataFrame(
        rows, schema={"query": pl.String, "rank": pl.Int64, "item": pl.String}, orient="row"
    )


def truth(*targets):
    return GroundTruth.from_targets(pl.DataFrame(targets))


@given(st.lists(RUN, min_size=1, max_size=4), st.integers(1, 5))
def test_the_pool_is_the_union_of_the_first_k(runs, k):
    pool = pool_runs(map(frame, runs), k)
    found = {query: [one.item for one in items] for query, items in pool.items.items()}
    for query in {query for run in runs for query in run}:
        union = {item for run in runs for item in run.get(query, [])[:k]}
        assert sorted(found.get(query, [])) == sorted(union)


@given(st.lists(RUN, min_size=1, max_size=4), st.integers(0, 9))
def test_the_order_depends_on_nothing_but_seed_and_item(runs, seed):
    there, back = pool_runs(map(frame, runs), 9), pool_runs(map(frame, reversed(runs)), 9)
    for query, items in there.items.items():
        assert shuffled(items, seed) == shuffled(back.items[query], seed)
        # Another run puts its items in between and moves no other.
        kept = [one for one in shuffled(items, seed) if one.item != "a"]
        assert kept == shuffled([one for one in items if one.item != "a"], seed)


@given(
    st.lists(st.lists(st.sampled_from("pqrz"), max_size=9), min_size=1, max_size=3),
    st.permutations("pqr"),
    st.integers(1, 4),
)
def test_rows_come_query_by_query_whatever_their_order(columns, names, at_once):
    frames = [
        pl.DataFrame({"query": rows, "rank": range(len(rows))}, {"query": pl.String, "rank": int})
        for rows in columns
    ]
    for some, tables in by_queries(frames, names, at_once):
        for frame, table in zip(frames, tables, strict=True):
            wanted = frame.filter(pl.col("query").is_in(some)).sort("rank")
            assert table.sort("rank").equals(wanted)
            assert table.equals(table.sort("rank")) or len(some) > 1


def test_rank_does_not_show_in_the_order():
    items = [Label("q", item=f"d{rank}") for rank in range(50)]
    places = [shuffled(items, seed).index(items[0]) for seed in range(200)]
    assert 18 < sum(places) / len(places) < 31  # The middle is 24.5.


def test_what_one_run_knows_completes_the_other():
    ids = pl.DataFrame({"query": ["q"], "rank": [1], "item": ["a"]})
    whole = ids.with_columns(text=pl.lit("A lock."), document=pl.lit("gil"))
    for frames in ([ids, whole], [whole, ids]):
        assert pool_runs(frames, 1).items["q"] == [
            Label("q", item="a", text="A lock.", document="gil")
        ]


def test_without_ids_the_text_tells_items_apart():
    texts = pl.DataFrame({"query": ["q"] * 3, "rank": [1, 2, 3], "text": ["x  y", "x\ny", "z"]})
    assert [one.text for one in pool_runs([texts], 3).items["q"]] == ["x  y", "z"]
    named = pl.DataFrame({"query": ["q"], "rank": [1], "item": ["a"], "text": ["x y"]})
    for frames in ([texts, named], [named, texts]):
        found = pool_runs(frames, 3).items["q"]
        assert {one.item for one in found} == {"a", None}
        assert len(found) == 2


def test_two_ids_with_one_text_are_two_items():
    rows = pl.DataFrame({"query": ["q"] * 2, "rank": [1, 2], "item": ["a", "b"], "text": ["x"] * 2})
    assert [one.item for one in pool_runs([rows], 2).items["q"]] == ["a", "b"]


def test_whatever_a_ground_truth_recognises_is_left_out():
    items = {
        "q": [
            Label("q", item="a"),
            Label("q", item="b", text="It is\na lock."),
            Label("q", item="c", text="Else", document="d", start=10, end=20),
            Label("q", item="d", text="Else", document="d", start=12, end=20),
        ]
    }
    by_id = truth({"query": "q", "item": "a", "grade": 0.0})
    by_quote = truth({"query": "q", "quote": "is a lock"})
    by_span = truth({"query": "q", "document": "d", "start": 11, "end": 19})
    other = truth({"query": "p", "item": "a"}, {"query": "p", "item": "b"})
    for ground_truth, gone in ((by_id, "a"), (by_quote, "b"), (by_span, "c"), (other, "")):
        left, count = without_judged(items, ground_truth)
        assert [one.item for one in left["q"]] == [i for i in "abcd" if i != gone]
        assert count == len(gone)
