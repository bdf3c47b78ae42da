"""Matching by id gives the same edges whichever way rows meet their targets."""

import random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.io.load import load_pair
from calipers.match.by_id import Sieve, match_by_id
from calipers.model.fingerprint import mixed_hashes
from calipers.model.matched import Matches
from calipers.model.policy import Policy
from calipers.model.run import Run
from tests.strategies import World, worlds

EDGES = ("edge_query", "edge_rank", "edge_target", "target_query", "target_grade", "retrieved")


def edges(matches: Matches) -> list[list[Any]]:
    return [getattr(matches, name).tolist() for name in EDGES]


@given(worlds, st.randoms(), st.integers(1, 7))
def test_a_join_of_its_own_and_a_common_one_find_the_same(
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
    for targets_per_row, rows_per_join in ((0, 1 << 20), (0, 0), (1 << 30, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("calipers.match.by_id._TARGETS_PER_ROW", targets_per_row)
            patch.setattr("calipers.match.by_id._ROWS_PER_JOIN", rows_per_join)
            found.append(edges(match_by_id(truth, shuffled, Policy(ties="input"))[0]))
    assert found[0] == found[1] == found[2]
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
