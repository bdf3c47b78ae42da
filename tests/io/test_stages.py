"""Stages in our records."""

import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load

BOTH = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}


def test_lists_objects_and_scores_make_stages():
    records = [
        {
            **BOTH,
            "stages": {"candidates": ["b", {"id": "a", "score": 2.0}], "exact": {"x": 1, "y": 2}},
        },
        {**BOTH, "query": "r", "stages": {"candidates": []}},
        {**BOTH, "query": "s"},
    ]
    run = load(records, "both").run
    assert set(run.stages) == {"candidates", "exact"}
    candidates, exact = run.stages["candidates"], run.stages["exact"]
    assert candidates.frame.select("query", "rank", "item").rows() == [("q", 1, "b"), ("q", 2, "a")]
    assert candidates.queries["query"].to_list() == ["q", "r"]
    assert exact.frame["item"].to_list() == ["y", "x"]
    assert exact.queries["query"].to_list() == ["q"]


def test_without_stages_there_are_none():
    assert load([BOTH], "both").run.stages == {}


def test_a_bad_stage_is_named_with_its_path():
    with pytest.raises(InvalidInput, match=r"data\[0\].stages.candidates\[1\]"):
        load([{**BOTH, "stages": {"candidates": ["a", {"score": 1.0}]}}], "both")
