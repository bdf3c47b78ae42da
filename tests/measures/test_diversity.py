"""Subtopics are groups: an item of several subtopics stands in each of their groups."""

from math import log2

import polars as pl
import pytest

import calipers
from calipers.model.ground_truth import GroundTruth
from calipers.model.scores import Scores

ABOUT = {"both": ("1", "2"), "one": ("1",), "three": ("3",)}


def measured(ranking: list[str], metrics: str) -> Scores:
    rows = [("q", item, topic) for item, topics in ABOUT.items() for topic in topics]
    targets = pl.DataFrame(rows, schema=["query", "item", "group"], orient="row")
    return calipers.evaluate(
        ground_truth=GroundTruth.from_targets(targets), run={"q": ranking}, metrics=metrics
    )


def test_a_subtopic_that_was_shown_is_worth_less_the_second_time() -> None:
    scores = measured(["both", "x", "one", "three"], "alpha_ndcg,alpha_ndcg@3,alpha_ndcg(alpha=1)")
    best = 2 + 1 / log2(3) + 0.5 / 2
    assert scores["alpha_ndcg"].mean == pytest.approx((2 + 0.5 / 2 + 1 / log2(5)) / best)
    assert scores["alpha_ndcg@3"].mean == pytest.approx((2 + 0.5 / 2) / best)
    assert scores["alpha_ndcg(alpha=1)"].mean == pytest.approx(
        (2 + 1 / log2(5)) / (2 + 1 / log2(3))
    )


def test_the_best_possible_ranking_has_1() -> None:
    assert measured(["both", "three", "one"], "alpha_ndcg")["alpha_ndcg"].mean == 1


def test_subtopic_recall_counts_subtopics() -> None:
    scores = measured(["both", "one", "three"], "st_recall@1,2,3")
    assert [scores[f"recall@{k}"].mean for k in (1, 2, 3)] == pytest.approx([2 / 3, 2 / 3, 1])
