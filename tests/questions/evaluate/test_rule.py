"""Scores written in pieces, against the rows of the result."""

import json
import random
from unittest.mock import Mock

import polars as pl
import pytest

import calipers
from calipers.model.run import Scored
from calipers.questions import cautions
from calipers.questions.evaluate import rule as show
from tests.reports import hostile_records, records

UNANSWERABLE = {"query": "none", "retrieved": ["a"], "ground_truth": []}


@pytest.mark.parametrize(
    "made", [[*records(), UNANSWERABLE], hostile_records(), [{**records()[0], "tags": {}}]]
)
def test_every_row_is_that_of_the_result(made, monkeypatch):
    monkeypatch.setattr(show, "AT_ONCE", 4)
    scores = calipers.evaluate(made, k=3, nothing_in_common="zero")
    pieces = list(show.score_rows(scores))
    assert len(pieces) == (len(scores) + 3) // 4
    written = b'{\n  "a": [\n' + b",\n".join(pieces) + b"\n  ]\n}"
    assert json.loads(written)["a"] == scores.to_dict()["per_query"]


def _tied_anywhere(run):
    return any(len(set(scores.values())) < len(scores) for scores in run.values())


@pytest.mark.parametrize("seed", range(12))
def test_ties_of_a_mapping_are_known_without_its_table(seed, monkeypatch):
    """Wherever they stand in the mapping, and only where there are some; no table is built."""
    draw = random.Random(seed)
    levels = (2, 3, 500)[seed % 3]
    run = {f"q{q}": {f"d{d}": draw.randrange(levels) / 8 for d in range(5)} for q in range(9)}
    truth = {query: {f"d{draw.randrange(5)}": 1} for query in run}
    asked = Mock(return_value=[])
    monkeypatch.setattr(cautions, "cautions", asked)
    scans = Mock(return_value=[])
    monkeypatch.setattr(Scored, "__call__", scans)
    # So many ties are matched in a table; few, or none, are looked up.
    monkeypatch.setattr("calipers.match.by_id._MOST_TIED", 1.0)
    calipers.evaluate(ground_truth=truth, run=run, k=3)
    assert asked.called == _tied_anywhere(run)
    assert not scans.called


def test_equal_scores_that_are_no_neighbours_are_named():
    run = {f"q{q}": {"a": 0.5, "b": 0.75, "c": 0.5, "x": 0.25} for q in range(8)}
    scores = calipers.evaluate(ground_truth={query: {"a": 1} for query in run}, run=run)
    assert any(note.startswith("Equal scores decide") for note in scores.recorded.notes)


def _in_ids(name, at):
    return {"item": f"{name}{at}"}


def _in_spans(name, at):
    return {"document": name, "start": at * 100, "end": at * 100 + 80}


def _in_texts(name, at):
    return {"text": f"The words of list {name} at {at}."}


def _in_both(name, at):
    """The first with an id that all lists share, the others without one."""
    return _in_spans(name, at) if at else {"item": "x", **_in_spans("x", 0)}


def _as_records(lists):
    return [{"query": query, "retrieved": results} for query, results in lists.items()]


def _as_table(lists):
    rows = [
        {"query": query, "rank": rank, **result}
        for query, results in lists.items()
        for rank, result in enumerate(results, 1)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize("form", [_in_ids, _in_spans, _in_texts, _in_both])
@pytest.mark.parametrize("written", [_as_records, _as_table])
@pytest.mark.parametrize("names", ["aaa", "abc"])
def test_the_same_results_are_said_only_where_they_are_the_same(form, written, names):
    lists = {f"q{at}": [form(name, rank) for rank in range(4)] for at, name in enumerate(names)}
    truth = [
        {"query": query, "ground_truth": [results[0].get("text", results[0])]}
        for query, results in lists.items()
    ]
    notes = calipers.evaluate(ground_truth=truth, run=written(lists)).recorded.notes
    seen = any(note.startswith("Every query gets the same 4 results") for note in notes)
    assert seen == (names == "aaa")


def test_lists_with_repeats_are_not_the_same_results():
    lists = {"q1": ["a", "b", "c", "d"], "q2": ["a", "a", "b", "b"]}
    made = [{"query": q, "retrieved": found, "ground_truth": ["a"]} for q, found in lists.items()]
    notes = calipers.evaluate(made).recorded.notes
    assert not any(note.startswith("Every query gets the same") for note in notes)
