"""A ground truth is checked when it is made."""

import json
from typing import Any

import polars as pl
import pytest

from calipers import GroundTruth, evaluate
from calipers.errors import InvalidInput


def test_queries_without_targets_are_kept() -> None:
    queries = pl.DataFrame({"query": ["s", "q"]})
    targets = pl.DataFrame({"query": ["q"], "item": ["a"]})
    truth = GroundTruth.from_targets(targets, queries=queries)
    assert truth.queries["query"].to_list() == ["s", "q"]
    assert truth.target_query.tolist() == [1]
    assert truth.targets["grade"].to_list() == [1.0]
    assert truth.kinds == {"item"}


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
    twice = pl.DataFrame({"query": ["q"] * 3, "item": ["a", "b", "a"], "grade": [1.0, 0.0, 1.0]})
    truth = GroundTruth.from_targets(twice)
    assert (truth.targets["item"].to_list(), truth.repeated) == (["a", "b"], 1)


GOOD = {"document": "d", "start": 4, "end": 9}
BAD = {"document": "d", "start": 9, "end": 4}
FOUND = "found start 9 and end 4"


@pytest.mark.parametrize("part", ["retrieved", "ground_truth"])
def test_in_a_record_with_line_and_path(tmp_path, part):
    first = {"query": "q", "retrieved": [GOOD], "ground_truth": [GOOD]}
    second = {**first, "query": "r", part: [GOOD, BAD]}
    path = tmp_path / "evals.jsonl"
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(InvalidInput, match=rf"at .*evals\.jsonl:2 \$\.{part}\[1\]: {FOUND}"):
        evaluate(path)
    with pytest.raises(InvalidInput, match=FOUND):
        evaluate([first, second])


@pytest.mark.parametrize("bad", ["truth", "run"])
def test_in_a_table_with_its_line(tmp_path, bad):
    good = "q,d,4,9,1\n"
    rows = {"truth": good, "run": good, bad: f"{good}q,d,9,4,1\n"}
    (tmp_path / "truth.csv").write_text(f"query,document,start,end,grade\n{rows['truth']}")
    (tmp_path / "run.csv").write_text(f"query,document,start,end,rank\n{rows['run']}")
    with pytest.raises(InvalidInput, match=rf"at .*{bad}\.csv:3: {FOUND}"):
        evaluate(ground_truth=tmp_path / "truth.csv", run=tmp_path / "run.csv", match="span")
