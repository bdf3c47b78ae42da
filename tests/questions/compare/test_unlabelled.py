"""How much two rankings differ."""

import math
import random
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.model.run import Run
from calipers.questions.compare import unlabelled
from calipers.questions.compare.unlabelled import diff_runs, overlap_at

RANKINGS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=8)


@given(RANKINGS, RANKINGS)
def test_what_holds_for_every_pair_of_rankings(a, b):
    assert overlap_at(a, b) == overlap_at(b, a)
    assert (overlap_at(a, b) == 1) == (set(a) == set(b))


@given(
    st.dictionaries(st.sampled_from("qrs"), RANKINGS, min_size=1),
    st.dictionaries(st.sampled_from("qrs"), RANKINGS, min_size=1),
    st.integers(1, 9),
)
def test_new_and_lost_are_what_only_one_has_among_the_first_k(old, new, k):
    shared = set(old) & set(new)
    if not shared:
        with pytest.raises(InvalidInput, match="share no query"):
            calipers.diff(old, new, k=k)
        return
    found = calipers.diff(old, new, k=k)
    assert {one.query for one in found.queries} == shared
    for one in found.queries:
        a, b = old[one.query][:k], new[one.query][:k]
        assert [moved.item for moved in one.new] == [item for item in b if item not in a]
        assert [moved.item for moved in one.lost] == [item for item in a if item not in b]
        assert all(b[moved.rank - 1] == moved.item for moved in one.new)
        assert one.changed == (a != b)
    assert [one.overlap for one in found.queries] == sorted(one.overlap for one in found.queries)
    assert set(found.only_old) == set(old) - shared
    assert set(found.only_new) == set(new) - shared
    assert math.isclose(
        found.overlap, sum(one.overlap for one in found.queries) / len(found.queries)
    )


def test_results_without_ids_are_told_apart_by_their_texts():
    old = [{"query": "q r", "retrieved": [{"text": "One  text."}, {"text": "Two."}]}]
    new = [{"query": "q r", "retrieved": [{"text": "One text."}, {"text": "Three."}]}]
    (found,) = calipers.diff(old, new).queries
    assert [one.item for one in found.new] == ["Three."]
    assert [one.item for one in found.lost] == ["Two."]


def test_results_with_a_place_only_are_told_apart_by_it():
    old = [{"query": "q r", "retrieved": [{"document": "a", "start": 0, "end": 9}]}]
    new = [{"query": "q r", "retrieved": [{"document": "a", "start": 5, "end": 9}]}]
    (query,) = calipers.diff(old, new).queries
    assert [moved.item for moved in query.new] == ["a:5-9"]
    assert [moved.item for moved in query.lost] == ["a:0-9"]


@pytest.mark.parametrize("settings", [{"k": 0}, {"k": True}])
def test_what_cannot_be_meant_is_refused(settings):
    with pytest.raises(InvalidInput):
        calipers.diff({"q": ["a"]}, {"q": ["a"]}, **settings)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_in_pieces_gives_what_a_whole_one_gives(seed, monkeypatch):
    draw = random.Random(seed)
    asked = [f"question {i}" for i in range(20)]
    old, new = ({one: draw.sample("abcdefgh", 6) for one in draw.sample(asked, 15)} for _ in "ab")

    def in_pieces(found):
        rows = [(q, item, i) for q, some in found.items() for i, item in enumerate(some, 1)]
        rows = sorted(rows, key=lambda row: row[2]) if seed % 2 else rows
        table = pl.DataFrame(rows, ["query", "item", "rank"], orient="row")
        return replace(Run.from_frame(table), scan=lambda: table.iter_slices(7))

    runs = [in_pieces(one) for one in (old, new)]
    every = calipers.diff(old, new, k=4).to_dict()
    assert diff_runs(*runs, k=4).to_dict() == every
    # Few are listed, and all are counted.
    monkeypatch.setattr(unlabelled, "MOST_LISTED", 3)
    few = diff_runs(*runs, k=4).to_dict()
    assert few.pop("sentences")[0] == every.pop("sentences")[0]
    assert few == {**every, "per_query": every["per_query"][:3]}


def test_ten_results_count_and_three_of_them_are_printed():
    old = {"q": [f"a{n}" for n in range(12)], "r": ["x"], "s": ["b", "c", "d"]}
    new = {"q": [f"a{n}" for n in range(9)] + list("mno"), "r": ["x"], "s": ["e", "f", "g"]}
    found = calipers.diff(old, new)
    assert (found.k, len(found.queries[-1].new)) == (10, 0)
    assert {one.query: len(one.new) for one in found.queries} == {"q": 1, "r": 0, "s": 3}
    lines = str(found).splitlines()
    assert "       new: e (rank 1), f (rank 2), g (rank 3)" in lines
    four = str(calipers.diff({"q": list("abcd")}, {"q": list("efgh")}))
    assert "new: e (rank 1), f (rank 2), g (rank 3) and 1 more" in four


def test_queries_that_are_not_printed_are_counted():
    found = calipers.diff({f"q{n}": ["a"] for n in range(7)}, {f"q{n}": ["b"] for n in range(7)})
    notes = [str(getattr(note, "text", note)) for note in found.document().notes]
    assert notes[-1].startswith("2 ")


@pytest.mark.parametrize(
    ("new", "sentence"),
    [
        (["a", "b", "c"], "Nothing changed in the first 3 results of 1 query."),
        (["b", "a", "c"], "the same results in another order"),
        (["a", "b"], "0 new results, 1 lost"),
        (["a", "b", "c", "d"], "1 new result, 0 lost"),
    ],
)
def test_what_changed_is_new_or_lost_or_an_order(new, sentence):
    diff = calipers.diff({"q": ["a", "b", "c"]}, {"q": new}, k=3 if len(new) < 4 else 4)
    assert sentence in str(diff.document().sentence)
