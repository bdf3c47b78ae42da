"""Lanes that add nothing, and lanes of distances, get an answer that says so."""

from typing import Any

import pytest

import calipers
from calipers.errors import NoCommonIds
from tests.questions.fuse.test_first_line import lane, truth

N = 24


def turned(run: dict[str, dict[str, float]]) -> dict[str, list[dict[str, Any]]]:
    """The same lists, with distances instead of scores."""
    return {
        query: [{"id": item, "score": 2.0 - score} for item, score in results.items()]
        for query, results in run.items()
    }


def listed(run: dict[str, dict[str, float]]) -> dict[str, list[dict[str, Any]]]:
    """The same lists, with their scores."""
    return {
        query: [{"id": item, "score": score} for item, score in results.items()]
        for query, results in run.items()
    }


def test_distances_are_turned_and_give_what_similarities_give() -> None:
    words = listed(lane(N, lambda i: 1 + i % 7, "w"))
    near = lane(N, lambda i: 1 + i % 3, "v")
    right = calipers.fuse({"words": words, "vectors": listed(near)}, truth(N))
    found = calipers.fuse({"words": words, "vectors": turned(near)}, truth(N))
    assert [one.name for one in found.settings] == [one.name for one in right.settings]
    for ours, theirs in zip(found.settings, right.settings, strict=True):
        assert ours.means == pytest.approx(theirs.means)
    assert found.noticed == (
        "The scores of vectors rise down its lists: they are read as distances, the smallest "
        "first.",
    )
    assert "read as distances" in " ".join(str(found).split())
    assert right.noticed == ()


def test_scores_that_follow_no_order_are_not_summed() -> None:
    words = listed(lane(N, lambda i: 1 + i % 7, "w"))
    mixed = listed(lane(N, lambda i: 1 + i % 3, "v"))
    for number, results in enumerate(mixed.values()):
        for rank, result in enumerate(results):
            result["score"] = 1.0 + (rank * 3) % 7 + number + rank / 5
    found = calipers.fuse({"words": words, "vectors": mixed}, truth(N))
    assert {one.norm for one in found.settings} == {None, "rank"}
    assert "do not follow the order" in found.noticed[0]


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (lambda query, rank, score: score if query % 2 else 2.0 - score, "do not follow the order"),
        (lambda query, rank, score: score if query % 8 else 2.0 - score, "do not follow the order"),
        (lambda query, rank, score: 0.5, "The scores in each list of vectors are equal, so sums"),
        (
            lambda query, rank, score: None if (query, rank) == (3, 1) else score,
            " results of vectors has no score, so sums of scores were not tried.",
        ),
        (
            lambda query, rank, score: None if rank else 2.0 - score,
            " results of vectors have no score, so sums of scores were not tried.",
        ),
    ],
    ids=["half of the queries", "few queries", "equal", "one missing", "most missing"],
)
def test_scores_that_cannot_be_summed_are_said_to(score: Any, said: str) -> None:
    words = listed(lane(N, lambda i: 1 + i % 7, "w"))
    near = listed(lane(N, lambda i: 1 + i % 3, "v"))
    for query, results in enumerate(near.values()):
        for rank, result in enumerate(results):
            result["score"] = score(query, rank, result["score"])
            if result["score"] is None:
                del result["score"]
    found = calipers.fuse({"words": words, "vectors": near}, truth(N))
    assert {one.norm for one in found.settings} == {None, "rank"}
    assert said in found.noticed[0]


@pytest.mark.parametrize("level", [-10.0, -1.0])
def test_negative_similarities_are_no_distances(level: float) -> None:
    words = listed(lane(N, lambda i: 1 + i % 7, "w"))
    near = lane(N, lambda i: 1 + i % 3, "v")
    below = {
        query: [{"id": item, "score": score + level} for item, score in results.items()]
        for query, results in near.items()
    }
    right = calipers.fuse({"words": words, "vectors": listed(near)}, truth(N))
    found = calipers.fuse({"words": words, "vectors": below}, truth(N))
    assert found.noticed == ()
    for ours, theirs in zip(found.settings, right.settings, strict=True):
        assert ours.means == pytest.approx(theirs.means)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lane(N, lambda i: 2, "w"), "It holds the results of words in the same order."),
        ({f"q{i:03}": {} for i in range(N)}, "It returned no result."),
        (lane(N, lambda i: None, "v"), "It finds no target."),
        (
            {f"q{i:03}": {f"zz{i}-{j}": 9.0 - j for j in range(9)} for i in range(N)},
            "It finds no target; its ids, such as 'zz0-0', are nowhere else.",
        ),
    ],
    ids=["the same", "empty", "finds nothing", "other ids"],
)
@pytest.mark.parametrize("queries", [4, N])
def test_a_lane_that_adds_nothing_is_an_answer(other: Any, why: str, queries: int) -> None:
    few = {query: results for query, results in other.items() if query < f"q{queries:03}"}
    words = lane(queries, lambda i: 2, "w")
    found = calipers.fuse({"words": words, "more": few}, truth(queries))
    assert found.advised.name == "words alone"
    if found.claim.standing != "better":
        assert found.claim.line == f"~ more adds nothing: use words alone. {why}"
    else:
        assert found.noticed == (f"more adds nothing. {why}",)
    scores = calipers.evaluate(ground_truth=truth(queries), run=found.run, metrics=found.metrics)
    for name in found.metrics:
        assert scores[name].mean == pytest.approx(found.advised.means[name], abs=1e-12)


def test_of_three_lanes_the_idle_one_is_named_and_the_others_are_fused() -> None:
    words = lane(N, lambda i: 2 if i % 2 else None, "w")
    vectors = lane(N, lambda i: None if i % 2 else 2, "v")
    found = calipers.fuse({"words": words, "vectors": vectors, "again": words}, truth(N))
    assert found.noticed == (
        "again adds nothing. It holds the results of words in the same order.",
    )
    assert "alone" not in found.advised.name


def test_ids_that_are_only_written_otherwise_are_refused_with_what_differs() -> None:
    words = lane(N, lambda i: 2, "w")
    other = {
        query: {f"idx:{item}": score for item, score in results.items()}
        for query, results in lane(N, lambda i: 1, "w").items()
    }
    with pytest.raises(NoCommonIds, match="'idx:'"):
        calipers.fuse({"words": words, "more": other}, truth(N))


def test_lanes_that_all_find_nothing_are_refused() -> None:
    words = lane(N, lambda i: None, "w")
    with pytest.raises(NoCommonIds):
        calipers.fuse({"words": words, "more": lane(N, lambda i: None, "v")}, truth(N))
