"""Measures that few tools have, against values that others published or printed."""

import math

import polars as pl

import calipers
from calipers.model.ground_truth import GroundTruth

SUBTOPICS = [("a", "A"), ("b", "B"), ("b", "D"), ("c", "C")]
"""Of the example in pyndeval's description, which wraps TREC's ndeval; so are the values."""


def test_the_example_of_ndeval():
    rows = [("0", item, topic) for topic, item in SUBTOPICS]
    truth = GroundTruth.from_targets(
        pl.DataFrame(rows, schema=["query", "item", "group"], orient="row")
    )
    scores = calipers.evaluate(
        {"0": ["A", "D", "E", "B"]}, ground_truth=truth, metrics="alpha_ndcg@5,10,20,st_recall@5"
    )
    # Printed with four digits, the rest cut off.
    assert [math.floor(scores[name].mean * 1e4) / 1e4 for name in scores] == [
        0.7868,
        0.7868,
        0.7868,
        0.6666,
    ]
