"""Answers of every shape become the same rows, by the usual names or by paths."""

import itertools
import math
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.io.records.documents import Row
from calipers.live.answers import Answer, Layout, NoMatch, Path, read_answer
from calipers.live.failures import AskFailed


@dataclass
class Point:
    id: str
    score: float


def read(raw: Any, k: int = 10, **paths: Any) -> Answer:
    return read_answer(raw, k, Layout.from_texts(paths))


PAIRS = [Row("a", 0.5), Row("b", 0.25)]


@pytest.mark.parametrize(
    "raw",
    [
        [("a", 0.5), ("b", 0.25)],
        [(0.5, "a"), (0.25, "b")],
        (["a", "b"], [0.5, 0.25]),
        [["a", "b"], [0.5, 0.25]],
        (np.array(["a", "b"]), np.array([0.5, 0.25], dtype=np.float32)),
        (("a", 0.5), ("b", 0.25)),
        {"b": 0.25, "a": 0.5},
        [{"id": "a", "score": 0.5}, {"id": "b", "score": 0.25}],
        {"retrieved": [{"id": "a", "score": 0.5}, ("b", 0.25)]},
        {"hits": {"total": 2, "hits": [{"_id": "a", "_score": 0.5}, {"_id": "b", "_score": 0.25}]}},
        {"ids": [["a", "b"]], "distances": [[0.5, 0.25]]},
        SimpleNamespace(points=[Point("a", 0.5), Point("b", 0.25)]),
        iter([("a", 0.5), ("b", np.float32(0.25))]),
        [{"document": {"id": "a"}, "score": 0.5}, {"node": {"node_id": "b"}, "score": 0.25}],
    ],
)
def test_the_usual_shapes_are_one_answer(raw: Any) -> None:
    assert read(raw).retrieved == PAIRS


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (["a", "b"], [Row("a"), Row("b")]),
        (np.array([1, 2]), [Row("1"), Row("2")]),
        ([UUID(int=1)], [Row("00000000-0000-0000-0000-000000000001")]),
        ([(1, 0.5), (2, 0.25)], [Row("1", 0.5), Row("2", 0.25)]),
        ([("a", 0.5, "text")], [Row("a", 0.5, "text")]),
        ([], []),
        (
            [{"id": "a", "payload": {"text": "t", "start": "chapter", "document": "x"}}],
            [Row("a", text="t", document="x")],
        ),
        ([{"document_id": "x"}], [Row("x", document="x")]),
        ([{"id": "a", "score": None, "tokens": 12}], [Row("a", tokens=12)]),
    ],
)
def test_other_shapes(raw: Any, expected: list[Row]) -> None:
    assert read(raw).retrieved == expected


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "returned None .is a `return` missing"),
        ("d1", "returned d1"),
        ({"a", "b"}, "a set, which has no order"),
        ({"hello": "world"}, "returned {'hello': 'world'}, which is a dictionary without a list"),
        (object(), "which is a object that holds no list"),
        ([None], "result 0 of the answer is neither an id nor an object"),
        ([["a", "b", "c", "d"]], "a list of 4, not an"),
        ([("a", "b")], "pair without a score that is a number; found"),
        ([[("a", 1.0)] * 5], "a list of 5, not an .*pair .*return the results of one"),
        ([[("a", 1.0), ("b", 0.5)]], "pair without a score .*return the results of one"),
        ([{"score": 1}], "neither an id nor a text"),
        ([{"id": "a", "score": "high"}], "has the score 'high'; it must be a number"),
        ([("a", float("nan"))], "has the score nan"),
        ([{"id": 1.5}], "has the id 1.5"),
        ({"retrieved": [], "stages": [1]}, "'stages' is"),
        ({"ids": ["a"], "scores": [1, 2]}, "different lengths: id 1, score 2"),
    ],
)
def test_what_cannot_be_used_says_why(raw: Any, words: str) -> None:
    with pytest.raises(AskFailed, match=words) as failed:
        read(raw)
    assert failed.value.kind == "bad answer"
    assert not failed.value.retry


def test_paths_overrule_the_usual_names() -> None:
    raw = {"out": [{"id": "wrong", "meta": {"key": 3}, "s": 0.5, "t": "text"}]}
    answer = read(raw, results="$.out[*]", id="$.meta.key", score="$.s", text="$.t")
    assert answer.retrieved == [Row("3", 0.5, "text")]


def test_a_path_that_matches_nothing_shows_the_beginning_of_what_came() -> None:
    with pytest.raises(
        AskFailed, match=r"\$.hits\[\*\] matches nothing: \$ has no 'hits'.*'error': 'x'"
    ):
        read({"error": "x"}, results="$.hits[*]")
    with pytest.raises(AskFailed, match=r"result 0 of the answer has no id at \$.key"):
        read([{"id": "a"}], id="$.key")


def test_an_endless_answer_is_cut_at_k() -> None:
    answer = read(itertools.count(), k=3)
    assert [row.id for row in answer.retrieved] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([3, 2, 1], False), ([1, 2, 3], False), ([1, 1, 1], False), ([2, 3, 1], True)],
)
def test_unsorted_scores_are_noticed_and_the_list_counts(
    scores: list[float], expected: bool
) -> None:
    answer = read([(f"d{i}", score) for i, score in enumerate(scores)])
    assert answer.unsorted == expected
    assert [row.id for row in answer.retrieved] == [f"d{i}" for i in range(len(scores))]


def test_stages_are_kept_whole() -> None:
    raw = {"retrieved": ["b"], "stages": {"candidates": ["a", ("b", 1.0)], "exact": {"b": 2.0}}}
    answer = read(raw, k=1)
    assert answer.stages == {"candidates": [Row("a"), Row("b", 1.0)], "exact": [Row("b", 2.0)]}
    named = read({"hits": ["b"], "pool": ["a", "b"]}, results="$.hits", stages={"c": "$.pool[*]"})
    assert named.stages == {"c": [Row("a"), Row("b")]}


words = st.sampled_from(["a", "b", "", "7", "é"])
NUMBERS = [0, 7, -1, 2**70, 0.5, 3.0, math.nan, math.inf, 1e308, Decimal("1.5"), Fraction(1, 3)]
NUMPY = [np.float32(0.25), np.float64(2.0), np.int64(3), np.bool_(True), np.str_("n")]
NESTED = [[], ["a"], ("a", 1), {}, {"id": "inner", "text": "t"}, {"score": 9}]
odd = st.sampled_from([None, True, *NUMBERS, *NUMPY, UUID(int=5), b"x", *NESTED])
values = st.one_of(words, st.floats(0, 1), st.integers(0, 9), odd)


@given(st.lists(values | st.tuples(values, values) | st.lists(values, max_size=3), max_size=4))
def test_every_list_is_rows_or_a_bad_answer(listed: list[Any]) -> None:
    try:
        rows = read(listed).retrieved
    except AskFailed:
        return
    assert all(type(row.id) in (str, type(None)) for row in rows)
    assert all(row.score is None or math.isfinite(row.score) for row in rows)


ANSWER = {"a": {"b": [{"c": 1}, {"c": 2}]}, "odd name": [[3], [4, 5]], "none": None}


@pytest.mark.parametrize("path", ["", "hits", "$hits", "$..id", "$.a[?(@.b)]", "$.a[1:2]", "$.[0]"])
def test_what_is_not_understood_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be read at"):
        Path.parse(path)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("$.x", r"\$ has no 'x'; it is {'a'"),
        ("$.a.b[7]", r"\$.a.b has no 7; it is \[{'c': 1}"),
        ("$.a[*]", r"\$.a is no list; it is {'b'"),
        ("$.a.b[0].c[0]", r"\$.a.b\[0\].c has no 0; it is 1"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_got(path: str, words: str) -> None:
    with pytest.raises(NoMatch, match=words):
        Path.parse(path).all(ANSWER)


trees = st.recursive(
    st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=12,
)


@given(trees, st.data())
def test_every_place_of_a_tree_can_be_reached(tree: Any, data: st.DataObject) -> None:
    steps: list[str | int] = []
    here = tree
    while isinstance(here, list | dict) and here and data.draw(st.booleans()):
        step = data.draw(
            st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here)))
        )
        steps.append(step)
        here = here[step]
    text = "$" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
    assert Path.parse(text).all(tree) == [here]


def test_two_pairs_are_not_taken_for_a_pair_of_lists() -> None:
    assert read([[1, 2], [3, 4]]).retrieved == [Row("1", 2.0), Row("3", 4.0)]
    assert read(((1, 2), (3, 4))).retrieved == [Row("1", 2.0), Row("3", 4.0)]
    assert read(([1, 2], [3, 4])).retrieved == [Row("1", 3.0), Row("2", 4.0)]
    assert read(([], [])).retrieved == []
    with pytest.raises(AskFailed, match="a list of 2 ids and a list of 1 scores"):
        read((["a", "b"], [0.5]))


Results = namedtuple("Results", "documents scores")
IDS = ["b", "a", "c"]
SCORES = [3.0, 2.0, 1.5]


@pytest.mark.parametrize(
    "answer",
    [
        (tuple(IDS), tuple(SCORES)),
        (pl.Series(IDS), pl.Series(SCORES)),
        [pl.Series(IDS), pl.Series(SCORES)],
        (np.array([IDS]), np.array([SCORES])),
        ([IDS], [SCORES]),
        Results(np.array([IDS]), np.array([SCORES])),
        {"retrieved": [IDS, SCORES]},
        {"hits": (np.array(IDS), np.array(SCORES))},
        {"ids": np.array(IDS), "scores": np.array(SCORES)},
    ],
    ids=repr,
)
def test_ids_and_scores_beside_each_other_in_any_container(answer: object) -> None:
    rows = read_answer(answer).retrieved
    assert [(row.id, row.score) for row in rows] == list(zip(IDS, SCORES, strict=True))


def test_two_ids_and_two_scores_under_a_name_are_no_pairs() -> None:
    rows = read_answer({"retrieved": [["b", "a"], [2.0, 1.0]]}).retrieved
    assert [(row.id, row.score) for row in rows] == [("b", 2.0), ("a", 1.0)]
    rows = read_answer({"retrieved": [["b", 2.0], ["a", 1.0]]}).retrieved
    assert [(row.id, row.score) for row in rows] == [("b", 2.0), ("a", 1.0)]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((np.array([[0.1, 0.2]]), np.array([[5, 6]])), "scores before one of ids"),
        ((SCORES, IDS), "scores before one of ids"),
        ((np.array([IDS, IDS]), np.array([SCORES, SCORES])), "2 rows; return the row of"),
    ],
    ids=["faiss", "lists", "two questions"],
)
def test_lists_beside_each_other_that_are_no_answer_say_why(answer: object, sentence: str) -> None:
    with pytest.raises(AskFailed, match=sentence):
        read_answer(answer)
