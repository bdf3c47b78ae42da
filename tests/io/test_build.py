"""The one builder: long tables in, a ground truth and a run out."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.build import (
    DOCUMENTS_RETURNED,
    ResultRows,
    TargetLists,
    TargetRows,
    build,
    check_listed,
    check_ranked,
)
from calipers.io.load import load

TARGETS = pl.DataFrame({"query": ["q", "q", "r"], "item": ["a", "b", "a"]})


def line(row: int) -> str:
    return f"file:{row + 1}"


def test_rows_of_targets_are_a_ground_truth() -> None:
    aside = pl.DataFrame({"query": ["q", "q"], "item": ["z", "z"]})
    rows = TargetRows(TARGETS, line, forbidden=aside, notes=("Read so.",), only_returned=True)
    truth = build("lines", rows).ground_truth
    assert truth is not None
    assert truth.targets["grade"].to_list() == [1.0, 1.0, 1.0]
    assert truth.forbidden is not None
    assert truth.forbidden.select("query", "item").rows() == [("q", "z")]
    assert (truth.excluded, truth.notes, truth.only_returned) == (None, ("Read so.",), True)


def test_a_fault_of_a_row_is_refused_with_its_place() -> None:
    twice = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "grade": [1.0, 2.0]})
    with pytest.raises(InvalidInput, match="graded 1 at file:1 and 2 at file:2"):
        build("lines", TargetRows(twice, line))
    span = TARGETS.with_columns(start=pl.lit(9), end=pl.lit(4))
    with pytest.raises(InvalidInput, match="ends before it starts at file:1"):
        check_ranked(span, line)
    ranks = TARGETS.with_columns(rank=pl.lit(1))
    with pytest.raises(InvalidInput, match="have the rank 1, one of them at file:12"):
        check_ranked(ranks, line, before=10)
    with pytest.raises(InvalidInput, match=r"do not rise at file:2\.rank"):
        check_listed(ranks, line)
    check_listed(TARGETS.with_columns(rank=pl.Series([1, 2, 1])), line)


def test_lists_and_rows_of_the_same_targets_are_the_same_ground_truth() -> None:
    lists = TargetLists(["q", "r"], np.array([2, 1]), ["a", "b", "a"], np.ones(3))
    quick = build("lists", lists).ground_truth
    slow = build("rows", TargetRows(TARGETS)).ground_truth
    assert quick is not None
    assert slow is not None
    assert quick.is_listed
    for name in ("kinds", "complete", "has_groups", "is_grouped", "n_queries", "names", "ids"):
        assert getattr(quick, name) == getattr(slow, name), name
    assert quick.targets.equals(slow.targets)
    assert quick.fingerprint == slow.fingerprint


@pytest.mark.parametrize(
    ("columns", "order", "ties"),
    [
        ({}, "listed", "input"),
        ({"score": [3.0, 2.0, 1.0]}, "score", "trec"),
        ({"score": [3.0, 2.0, 1.0], "rank": [1, 2, 1]}, "rank", "input"),
    ],
)
def test_the_order_is_the_same_whether_rows_are_read_at_once_or_later(columns, order, ties) -> None:
    frame = TARGETS.with_columns(**{name: pl.Series(values) for name, values in columns.items()})
    stages = {"candidates": ResultRows(TARGETS, order="listed")}
    known: dict[str, Any] = {"name": "mine", "stages": stages, "notes": ("Sorted.",)}
    at_once = build("rows", results=ResultRows(frame, **known)).run
    later = build("rows", results=ResultRows(lambda: iter([frame]), frame.columns, **known)).run
    for run in (at_once, later):
        assert run is not None
        assert (run.order, run.ties, run.name, run.notes) == (order, ties, "mine", ("Sorted.",))
        assert run.stages["candidates"].frame.height == 3
    assert at_once is not None
    assert later is not None
    assert at_once.frame.equals(later.frame)
    assert (at_once.in_memory, later.in_memory) == (True, False)


WAYS: dict[str, Any] = {
    "records": [
        {"query": "q", "ground_truth": {"a": 2, "b": 0}},
        {"query": "r", "ground_truth": {"a": 1}},
    ],
    "objects": [
        {"query": "q", "ground_truth": [{"id": "a", "grade": 2}, {"id": "b", "grade": 0}]},
        {"query": "r", "ground_truth": ["a"]},
    ],
    "a mapping": {"q": {"a": 2, "b": 0}, "r": {"a": 1}},
    "a mapping with numbers of another type": {"q": {"a": True + 1, "b": 0.0}, "r": {"a": 1}},
    "a table": pl.DataFrame(
        {"query": ["q", "q", "r"], "item": ["a", "b", "a"], "grade": [2, 0, 1]}
    ),
    "lines": "q 0 a 2\nq 0 b 0\nr 0 a 1\n",
    "CSV": "query,item,grade\nq,a,2\nq,b,0\nr,a,1\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_ends_in_the_same_ground_truth(way, tmp_path) -> None:
    given = WAYS[way]
    if isinstance(given, str):
        path = tmp_path / "judged"
        path.write_text(given)
        given = path
    truth = load(given, "ground_truth").ground_truth
    assert truth is not None
    rows = truth.targets.select("query", "item", "grade").rows()
    assert rows == [("q", "a", 2.0), ("q", "b", 0.0), ("r", "a", 1.0)]
    expected = load(WAYS["a table"], "ground_truth").ground_truth
    assert expected is not None
    assert truth.fingerprint == expected.fingerprint


@pytest.mark.parametrize("place", [{}, {"start": 1, "end": 5}])
def test_results_that_are_documents_meet_targets_that_name_them(place):
    """It is said where a span was wanted, and its document is all that can be found."""
    records = [
        {"query": "q", "retrieved": ["a", "b"], "ground_truth": [{"document": "a", **place}]},
        {"query": "r", "retrieved": ["b"], "ground_truth": [{"document": "c", **place}]},
    ]
    pair = calipers.read(records)
    assert calipers.evaluate(pair, metrics="recall@2")["recall@2"].mean == 0.5
    assert (DOCUMENTS_RETURNED in pair.ground_truth.notes) == bool(place)
