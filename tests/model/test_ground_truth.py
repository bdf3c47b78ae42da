"""A ground truth is checked when it is made."""

from typing import Any

import polars as pl
import pytest

from calipers import GroundTruth
from calipers.errors import InvalidInput


def targets(**columns: list[object]) -> pl.DataFrame:
    return pl.DataFrame(columns)


def test_a_grade_is_one_unless_given() -> None:
    truth = GroundTruth.from_targets(targets(query=["q", "r"], item=["a", "b"]))
    assert truth.targets["grade"].to_list() == [1.0, 1.0]
    assert truth.queries["query"].to_list() == ["q", "r"]
    assert truth.kinds == {"item"}


def test_queries_without_targets_are_kept() -> None:
    queries = pl.DataFrame({"query": ["s", "q"]})
    truth = GroundTruth.from_targets(targets(query=["q"], item=["a"]), queries=queries)
    assert truth.queries["query"].to_list() == ["s", "q"]
    assert truth.target_query.tolist() == [1]


REFUSED: dict[str, tuple[dict[str, Any], list[str] | None, str]] = {
    "no number": ({"query": ["q"], "item": ["a"], "grade": [None]}, None, "found None"),
    "NaN": ({"query": ["q"], "item": ["a"], "grade": [float("nan")]}, None, "row 0: found nan"),
    "a contradiction": (
        {"query": ["q", "q"], "item": ["a", "a"], "grade": [1.0, 2.5]},
        None,
        "query 'q', target 'a' is graded 1 at row 0 and 2.5 at row 1",
    ),
    "the same query twice": ({"query": ["q"], "item": ["a"]}, ["q", "q"], "same id 'q'"),
    "a query that is not listed": ({"query": ["q"], "item": ["a"]}, ["r"], "'q', which is not"),
    "a query without an id": ({"query": [None], "item": ["a"]}, ["r"], "has no id"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_used(fault: str) -> None:
    columns, names, words = REFUSED[fault]
    queries = None if names is None else pl.DataFrame({"query": names})
    with pytest.raises(InvalidInput) as caught:
        GroundTruth.from_targets(pl.DataFrame(columns), queries=queries)
    assert words in str(caught.value)


def test_the_same_judgement_twice_counts_once() -> None:
    twice = targets(query=["q", "q", "q"], item=["a", "b", "a"], grade=[1.0, 0.0, 1.0])
    truth = GroundTruth.from_targets(twice)
    assert (truth.targets["item"].to_list(), truth.repeated) == (["a", "b"], 1)
