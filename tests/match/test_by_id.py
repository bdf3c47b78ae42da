"""Matching by id gives the same edges whichever way rows meet their targets."""

import random
from collections import OrderedDict
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import calipers
from calipers.errors import CalipersError
from calipers.io.load import load_pair
from calipers.match import by_id
from calipers.match.by_id import Sieve, match_by_id
from calipers.match.pair import match_pair
from calipers.model.fingerprint import mixed_hashes
from calipers.model.matched import Matches
from calipers.model.policy import Policy
from calipers.model.run import Run, Scored
from tests.strategies import World, worlds

EDGES = ("edge_query", "edge_rank", "edge_target", "target_query", "target_grade", "retrieved")


def edges(matches: Matches) -> list[list[Any]]:
    return [getattr(matches, name).tolist() for name in EDGES]


@given(worlds, st.randoms(), st.integers(1, 7))
def test_joins_of_any_number_of_rows_find_the_same(
    world: World, chance: random.Random, rows: int
) -> None:
    truth, run = load_pair(None, world.ground_truth_value(), world.run_value())
    queries = run.frame["query"].unique(maintain_order=True).to_list()
    chance.shuffle(queries)
    parts = [run.frame.filter(pl.col("query") == query) for query in queries]
    mixed = pl.concat(parts) if parts else run.frame
    pieces = [mixed[begin : begin + rows] for begin in range(0, mixed.height, rows)]
    shuffled = Run(lambda: iter(pieces), order="rank", queries=run.queries)
    found = []
    for rows_per_join in (1 << 20, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("calipers.match.by_id._ROWS_PER_JOIN", rows_per_join)
            found.append(edges(match_by_id(truth, shuffled, Policy(ties="input"))[0]))
    assert found[0] == found[1]
    # The pieces stand in the ranks that the custom of the run gave them.
    assert found[0] == edges(match_by_id(truth, run, Policy(ties=run.ties))[0])


def test_a_ground_truth_whose_queries_are_mixed() -> None:
    judged = pl.DataFrame(
        {"query": ["q2", "q1", "q2", "q1"], "item": ["a", "b", "c", "d"], "grade": [1, 2, 1, 1]}
    )
    scores = calipers.evaluate(
        ground_truth=judged, run={"q1": ["d", "b"], "q2": ["x", "c", "a"]}, metrics="recall@2,mrr"
    )
    assert scores.queries["query"].to_list() == ["q2", "q1"]
    assert scores.values.tolist() == [[0.5, 0.5], [1.0, 1.0]]


pairs = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=30)


@given(pairs, pairs)
def test_every_row_of_a_target_passes(targets, others):
    def columns(rows):
        return tuple(pl.Series([row[i] for row in rows], dtype=pl.String) for i in (0, 1))

    sieve = Sieve(*columns(targets))
    rows = targets + others
    query, item = columns(rows)
    passing = sieve.passing(mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy()))
    assert {row for row, pair in enumerate(rows) if pair in targets} <= set(passing.tolist())


def test_most_rows_without_a_target_are_held_back():
    names = pl.Series([str(i) for i in range(20_000)])
    sieve = Sieve(names[:1000], names[:1000])
    strangers = names[1000:].hash().to_numpy()
    assert sieve.passing(mixed_hashes(strangers, strangers)).size < 0.1 * strangers.size


METRICS = "recall@1,3,precision@2,ndcg,map,mrr"
AUDIT = (
    *("retrieved", "status", "unknown", "unknown_examples", "duplicates", "ties"),
    *("sample_queries", "tied_targets", "copy_ranks"),
)
usual_ids = st.sampled_from(["a", "b", "c", "d", "é", "Z", "10", "", "a b", "𝒳"])
odd_ids = st.sampled_from([10, 7, np.int64(10), "\ud800", "a\x1eb", None, 1.5, True])
NO_FLOATS = [True, np.float32(0.25), Decimal("0.5"), None, "1.5", [1.0], 2**70, 10**400]
odd_scores = st.sampled_from([*NO_FLOATS, float("nan"), float("inf")])
usual_scores = st.sampled_from([0.5, 1.0, 2, -1.5, 0.0, -0.0, 1e300, 1 + 2**-40, 3e-320])


def mappings(ids: Any, scores: Any, least: int) -> Any:
    inner = st.dictionaries(ids, scores, max_size=7)
    return st.dictionaries(ids, inner, min_size=least, max_size=5)


truths = mappings(usual_ids, st.sampled_from([0, 1, 2, -1, 0.5]), 1)
usual_runs = mappings(usual_ids, usual_scores, 1)
odd_runs = mappings(st.one_of(usual_ids, odd_ids), st.one_of(usual_scores, odd_scores), 0)
ties = st.sampled_from([None, "trec", "input", "error"])


def outcome(truth: Any, run: Any, rule: Any) -> Any:
    """All that can be seen of an evaluation, or the sentence that refuses it."""
    try:
        pair = calipers.read(ground_truth=truth, run=run, ties=rule)
        scores = calipers.evaluate(pair, metrics=METRICS)
        return (
            [getattr(pair.matches, name).tolist() for name in EDGES],
            [np.asarray(getattr(pair.tally, name)).tolist() for name in AUDIT],
            repr(scores.to_dict()),
            dict(scores.fingerprints),
            scores.queries.to_dict(as_series=False),
            pair.run.frame.to_dict(as_series=False),
        )
    except CalipersError as error:
        return type(error), str(error)


def as_table(run: dict[Any, dict[Any, Any]]) -> dict[Any, Any]:
    """The same run in mappings of another class, of which a table is made at once."""
    return {query: OrderedDict(items) for query, items in run.items()}


@given(truths, st.one_of(usual_runs, odd_runs), ties, st.sampled_from([0.05, 1.0]))
@example({"a": {"a": 1}}, {"a": {"a": 1.0, "b": 1.0, "c": 1.0, "A": 1.0}}, "trec", 1.0)
@example({"a": {"a": 1}}, {"a": {"b": 1.0, "a": 1.0, "c": 1.0}}, "input", 1.0)
@example({"a": {"a": 1}}, {"a": {}, "b": {"x": 1.0}, "c": {}}, None, 1.0)
def test_both_ways_give_the_same(truth: Any, run: Any, rule: str | None, most_tied: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_id, "_MOST_TIED", most_tied)
        assert outcome(truth, run, rule) == outcome(truth, as_table(run), rule)


def test_plain_mappings_are_looked_up_and_no_table_is_made() -> None:
    run = {"q": {"a": 0.5, "b": 0.9}}
    truth, read = load_pair(None, {"q": {"a": 1}}, run)
    assert isinstance(read.scan, Scored)
    matches = match_pair(truth, read).matches
    assert matches.edge_rank.tolist() == [2]
    assert read.scan._made is None
    assert all(callable(vars(truth)[name]) for name in ("targets", "queries"))
    # The tables are there for whoever asks.
    assert read.frame["item"].to_list() == ["b", "a"]
    assert truth.targets["item"].to_list() == ["a"]
    assert truth.queries["query"].to_list() == ["q"]


def test_what_the_caller_does_later_changes_nothing() -> None:
    run, truth = {"q": {"a": 0.5, "b": 0.9}}, {"q": {"a": 1}}
    kept = calipers.evaluate(ground_truth={"q": {"a": 1}}, run={"q": dict(run["q"])})
    pair = calipers.read(ground_truth=truth, run=run)
    first = calipers.evaluate(pair)
    run["q"]["c"] = 2.0
    run["p"] = {"a": 1.0}
    truth["q"]["c"] = 3
    truth["p"] = {"x": 1}
    assert first.to_dict() == kept.to_dict()
    assert dict(first.fingerprints) == dict(kept.fingerprints)
    assert pair.run.frame["item"].to_list() == ["b", "a"]
    again = match_pair(*pair.as_read)
    assert again.matches.edge_rank.tolist() == [2]


numbers = st.one_of(
    st.floats(),
    st.integers(-(2**80), 2**80),
    st.booleans(),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.float64),
)


@given(st.lists(st.one_of(st.floats(), numbers), max_size=40))
@example([0.5] * 15)
@example([0.5] * 16)
@example([0.5] * 65_536)
@example([1] * 65_536)
@example([0, 127])
@example([0, 128])
@example([1, True])
def test_numbers_of_any_type_become_the_floats_that_they_are(some: list[Any]) -> None:
    wanted = np.array([float(one) for one in some], dtype=np.float64)
    assert by_id._as_floats(some).tobytes() == wanted.tobytes()


def test_ids_that_are_numbers_are_no_names_of_parts():
    """A mapping of mappings by number is not looked through for fields."""
    run = {"q1": {1: 0.9, 2: 0.5}, "q2": {3: 0.9, 4: 0.1}}
    truth = {"q1": {1: 1}, "q2": {4: 1}}
    result = calipers.evaluate(run=run, ground_truth=truth, metrics="mrr")
    assert result["mrr"].mean == 0.75
