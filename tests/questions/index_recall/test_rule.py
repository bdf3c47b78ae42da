from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.live.settings import retrieve
from calipers.questions.evaluate.settings import evaluate
from calipers.questions.index_recall.neighbours import exact_neighbours
from calipers.questions.index_recall.rule import IndexRecall, share_found
from calipers.questions.index_recall.settings import index_recall

rankings = st.lists(st.permutations(range(8)), min_size=1, max_size=6)


def one(*args: Any, **settings: Any) -> IndexRecall:
    found = index_recall(*args, **settings)
    assert isinstance(found, IndexRecall)
    return found


@given(rankings, st.data(), st.integers(1, 8))
def test_is_the_recall_of_the_exact_first_k(
    exact: list[list[int]], data: st.DataObject, k: int
) -> None:
    found = data.draw(st.lists(st.permutations(range(8)), min_size=len(exact), max_size=len(exact)))
    shares = [len(set(a[:k]) & set(b[:k])) / k for a, b in zip(exact, found, strict=True)]
    result = one(exact, found, k=k)
    assert result.per_query == tuple(shares)
    assert result.recall == pytest.approx(sum(shares) / len(shares))
    truth = {str(i): {str(d): 1 for d in row[:k]} for i, row in enumerate(exact)}
    run = {str(i): [str(d) for d in row] for i, row in enumerate(found)}
    scores = evaluate(ground_truth=truth, run=run, metrics=f"recall@{k}")
    assert result.recall == pytest.approx(scores[f"recall@{k}"].mean)


@given(rankings)
def test_an_index_that_is_exact_misses_nothing(exact: list[list[int]]) -> None:
    result = one(exact, exact, k=5)
    assert (result.recall, result.worst, result.perfect) == (1, 1, 1)


def test_every_form_is_understood() -> None:
    exact, found = np.array([[1, 2], [3, 4]]), np.array([[1, 9], [3, -1]])
    distances = np.zeros((2, 2))
    forms = [found, found.tolist(), (distances, found), {"0": [1, 9], "1": [3]}]
    assert {one(exact, form, k=2).recall for form in forms} == {0.5}


def test_the_stages_of_a_run_can_be_held_against_each_other() -> None:
    def search(query: str, k: int) -> dict[str, Any]:
        return {"retrieved": ["a", "c"], "stages": {"exact": ["a", "b"]}}

    run = retrieve(search, ["one", "two"], k=2)
    assert one(run.stages["exact"], run, k=2).recall == 0.5


def test_functions_are_timed_and_several_stand_side_by_side() -> None:
    vectors = np.random.default_rng(0).normal(size=(400, 8))

    def exact(queries: Any, k: int) -> Any:
        return exact_neighbours(vectors, queries, k, engine="numpy")

    def half(queries: Any, k: int) -> Any:
        return exact_neighbours(vectors[:200], queries, k, engine="numpy")

    found = index_recall(exact, {"all": exact, "half": half}, k=[1, 10], queries=vectors[:50])
    assert isinstance(found, list)
    assert [(row.name, row.k) for row in found] == [
        ("all", 1),
        ("all", 10),
        ("half", 1),
        ("half", 10),
    ]
    assert found[0].recall == found[1].recall == 1
    assert 0.2 < found[3].recall < 0.8
    assert all(row.queries_per_second and row.speedup for row in found)
    assert found[0].to_dict()["queries"] == 50


@pytest.mark.parametrize(
    ("exact", "approximate", "options", "words"),
    [
        ([[1]], [[1]], {"k": 0}, "k is 0"),
        ([[1]], [[1]], {"k": []}, "empty list"),
        ([[1]], [[1]], {"k": "5"}, "argument k of index_recall"),
        ([[1], [2]], [[1]], {}, "no neighbours for query '1' .1 of 2"),
        ([[1, 1]], [[1]], {"k": 1}, "lists an id twice"),
        ([[-1, 3]], [[1]], {"k": 2}, "lists 1 neighbours, and the recall at k = 2 needs 2"),
        ([1, 2], [[1]], {}, "exact is a list; give a table"),
        ([], [], {}, "exact holds no query"),
        (([[0.9]], [[1, 2]]), [[1]], {"k": 1}, "scores of exact do not fit its ids"),
        (len, [[1]], {}, "nothing to ask it; give queries="),
        (len, [[1]], {"queries": {"q": [1.0]}}, "a list or an array of vectors"),
    ],
)
def test_bad_input(exact: Any, approximate: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        index_recall(exact, approximate, **options)


def test_a_prompt_shows_no_list_of_all_queries() -> None:
    found = index_recall([[1]] * 500, [[1]] * 500, k=1)
    assert repr(found).startswith("<IndexRecall: index finds 1.000 of the exact first 1")
    assert len(repr(found)) < 150


@given(st.permutations(range(8)), st.permutations(range(8)), st.integers(1, 8))
def test_without_ties_it_is_the_overlap(exact, found, k):
    expected = len(set(exact[:k]) & set(found[:k])) / k
    assert share_found(exact, found, k) == expected
    assert share_found(exact, found, k, exact_scores=np.arange(8.0) + 1) == expected


@given(
    st.lists(st.integers(1, 4), min_size=8, max_size=8),
    st.permutations(range(8)),
    st.integers(1, 8),
)
def test_any_order_of_equal_distances_is_perfect(distances, order, k):
    exact = sorted(range(8), key=lambda one: distances[one])
    other = sorted(order, key=lambda one: distances[one])
    scores = [distances[one] for one in exact]
    assert share_found(exact, other, k, exact_scores=scores) == 1.0
    # Exact search that lists no more than k: the index's own distances tell its equals.
    short = share_found(
        exact[:k], other, k, exact_scores=scores[:k], found_scores=[distances[one] for one in other]
    )
    assert short == 1.0


def test_an_equal_of_the_last_does_not_make_up_for_a_nearer_one():
    assert share_found([1, 2, 3], [2, 3], k=2, exact_scores=[0.1, 0.5, 0.5]) == 0.5


def test_an_id_found_twice_counts_once():
    assert share_found([1, 2], [1, 1], k=2) == 0.5


def test_too_few_exact_ids_are_refused():
    with pytest.raises(InvalidInput, match="lists 5 neighbours, and the recall at k = 10"):
        share_found(range(5), range(10), k=10)
    with pytest.raises(InvalidInput, match="an id twice"):
        share_found([1, 1], [1, 2], k=2)
    with pytest.raises(InvalidInput, match="exact scores do not fit"):
        share_found([1, 2], [1, 2], k=2, exact_scores=[1.0])
