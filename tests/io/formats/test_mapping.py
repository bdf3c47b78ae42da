"""Mappings of query to items, in memory and as JSON."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calipers
from calipers.errors import InvalidInput

TRUTH = {"q": {"a": 2, "b": 0}, "r": {"c": 1}}
RUN = {"q": {"b": 0.5, "a": 0.9}, "r": {"x": 1.0}}


def mrr(ground_truth: Any, run: Any, **settings: Any) -> list[float]:
    scores = calipers.evaluate(ground_truth=ground_truth, run=run, metrics="mrr", **settings)
    return [float(value) for value in scores.of("mrr")]


SAME_TRUTHS: dict[str, Any] = {
    "lists": {"q": ["a"], "r": ["c"]},
    "tuples": {"q": ("a",), "r": ("c",)},
    "sets": {"q": {"a"}, "r": frozenset({"c"})},
    "numpy numbers": {"q": {"a": np.float32(1)}, "r": {"c": np.int64(1)}},
    "other numbers": {"q": {"a": Decimal("1.5")}, "r": {"c": True}},
    "floats and whole numbers": {"q": {"a": 1, "b": -0.5}, "r": {"c": 1.0}},
}


@pytest.mark.parametrize("form", SAME_TRUTHS)
def test_forms_of_a_ground_truth(form: str) -> None:
    assert mrr(SAME_TRUTHS[form], RUN) == [1.0, 0.0]


def test_whole_numbers_are_ids_too() -> None:
    assert mrr({1: {10: 1}}, {"1": ["10"]}) == [1.0]
    assert mrr({"1": ["10"]}, {np.int64(1): {np.int64(10): 1.0, 11: 2.0}}) == [0.5]


def test_an_empty_list_stands_beside_scores() -> None:
    assert mrr(TRUTH, {"q": {"a": 1.0}, "r": []}) == [1.0, 0.0]


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no id": ({"q": {None: 1}}, RUN, "ground_truth has the id None; an id is a text"),
    "no query": ({None: {"a": 1}}, RUN, "ground_truth has the id None"),
    "no id in a run": (TRUTH, {"q": ["a", None]}, "run has the id None"),
    "a decimal id": ({1.5: {"a": 1}}, RUN, "ground_truth has the id 1.5"),
    "a bool as id": ({"q": [True]}, RUN, "ground_truth has the id True"),
    "unpaired surrogate": ({"q": ["\ud800"]}, RUN, "unpaired surrogate"),
    "two queries in one": ({1: ["a"], "1": ["b"]}, RUN, "have the same id '1'"),
    "two queries in one, in a run": (TRUTH, {1: ["a"], "1": ["b"]}, "same id '1', once as a text"),
    "two items in one": ({"q": {1: 1, "1": 2}}, RUN, "two different grades: query 'q', target '1'"),
    "NaN": ({"q": {"a": float("nan")}}, RUN, "ground_truth['q']['a'] is nan; a grade is a finite"),
    "infinite": (TRUTH, {"q": {"a": float("inf")}}, "run['q']['a'] is inf; a score is a finite"),
    "nothing": (TRUTH, {"q": {"a": None}}, "run['q']['a'] is None"),
    "a number as text": (TRUTH, {"q": {"a": "0.5"}}, "run['q']['a'] is '0.5'"),
    "too large": ({"q": {"a": 10**400}}, RUN, "a grade is a finite number"),
    "one text": ({"q": "abc"}, RUN, "ground_truth['q'] is 'abc'; it must be a mapping"),
    "a number": (TRUTH, {"q": 5}, "run['q'] is 5; it must be a mapping"),
    "no order": (TRUTH, {"q": {"a", "b"}}, "run['q'] is a set, which has no order"),
    "two forms": (TRUTH, {"q": {"a": 1.0}, "r": ["c"]}, "scores for some queries and bare lists"),
    "no queries": ({}, RUN, "ground_truth holds no queries: found an empty mapping"),
    "no results": (TRUTH, {}, "run holds no queries: found an empty mapping"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_used(fault: str) -> None:
    truth, run, words = REFUSED[fault]
    with pytest.raises(InvalidInput) as caught:
        mrr(truth, run)
    assert words in str(caught.value)


def test_a_long_value_is_cut_in_the_error() -> None:
    with pytest.raises(InvalidInput) as caught:
        mrr({"q": "a" * 10_000}, RUN)
    assert len(str(caught.value)) < 300


def test_the_same_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(json.dumps(TRUTH, indent=2))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    assert mrr(tmp_path / "truth.json", tmp_path / "run.json") == [1.0, 0.0]
    (tmp_path / "run.json").write_text('{"q": {"a": "high"}}')
    with pytest.raises(InvalidInput, match=r"run.json\['q'\]\['a'\] is 'high'"):
        mrr(TRUTH, tmp_path / "run.json")


def test_one_list_of_objects_among_mappings_is_seen() -> None:
    """Types are looked at once for all queries, and a rare one is not missed."""
    mixed = {**{f"q{i}": {"a": 1} for i in range(50)}, "last": [{"id": "c"}]}
    assert mrr(mixed, {"last": ["b", "c"]})[-1] == 0.5
    listed = {f"q{i}": [{"id": "a"}] for i in range(3)}
    assert mrr(listed, {"q0": ["a"], "q1": ["b", "a"], "q2": ["c"]}) == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    "answer",
    [
        (np.array(["x", "a"]), np.array([2.0, 1.0])),
        {"ids": np.array(["x", "a"]), "scores": np.array([2.0, 1.0])},
    ],
    ids=["pair", "columns"],
)
def test_arrays_of_ids_and_scores_are_read_as_lists_are(answer):
    scores = calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": answer}, metrics="mrr")
    assert scores["mrr"].mean == 0.5
