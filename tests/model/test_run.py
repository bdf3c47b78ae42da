"""A run is ranked the same way however its rows are cut into batches."""

import gc
import weakref
from itertools import pairwise
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.model.run import Run, peek
from tests.strategies import World, worlds

SCHEMA = {"query": pl.String, "item": pl.String, "score": pl.Float64}


def in_batches(rows: list[tuple[str, str, float]], cuts: list[int]) -> Run:
    """A run that hands out its rows in pieces, some of them empty."""
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    frames = [pl.DataFrame(rows[a:b], schema=SCHEMA, orient="row") for a, b in pairwise(edges)]
    return Run(lambda: iter(frames), order="score")


def ranking(run: Run, ties: Any) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    frame = calipers.Run(run.scan, run.order, ties).frame
    for query, rank, item in frame.select("query", "rank", "item").iter_rows():
        found.setdefault(query, []).append((rank, item))
    return found


@given(
    worlds,
    st.lists(st.integers(0, 40), max_size=6),
    st.booleans(),
    st.randoms(),
    st.sampled_from(["input", "trec"]),
)
def test_batches_do_not_matter(world: World, cuts, mixed: bool, random, ties: Any) -> None:
    rows = [(query, *row) for query, rows in world.run.items() for row in rows]
    if mixed:
        random.shuffle(rows)
        together: dict[str, list[tuple[str, float]]] = {}
        for query, item, score in rows:
            together.setdefault(query, []).append((item, score))
        world = world.with_run(together)
    wanted = {
        query: list(enumerate(world.ranking(query, ties), 1))
        for query in world.run
        if world.run[query]
    }
    run = in_batches(rows, cuts)
    assert ranking(run, ties) == wanted
    truth = world.ground_truth_value()
    one = calipers.evaluate(ground_truth=truth, run=run, ties=ties)
    other = calipers.evaluate(ground_truth=truth, run=in_batches(rows, []), ties=ties)
    assert one.to_dict() == other.to_dict()


def test_ranks_make_the_order_where_they_are_given() -> None:
    frame = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "c"], "rank": [3, 1, 2], "score": [9.0, 5.0, 1.0]}
    )
    assert Run.from_frame(frame).frame["item"].to_list() == ["b", "c", "a"]
    assert Run.from_frame(frame.drop("rank")).frame["item"].to_list() == ["a", "b", "c"]
    assert Run.from_frame(frame, order="listed").frame["item"].to_list() == ["a", "b", "c"]


def test_a_peek_reads_nothing_twice_and_the_run_can_be_read_again() -> None:
    reads: list[int] = []

    def scan() -> Any:
        for q in "abc":
            reads.append(1)
            yield pl.DataFrame({"query": [q], "item": [q]})

    first, run = peek(Run(scan))
    assert first is not None
    assert first.frame["item"].to_list() == ["a"]
    assert reads == [1]
    assert [f["item"][0] for f in run.scan()] == ["a", "b", "c"]
    assert reads == [1, 1, 1]
    assert [f["item"][0] for f in run.scan()] == ["a", "b", "c"]


def test_a_run_without_rows_has_no_first_frame() -> None:
    empty = pl.DataFrame(schema={"query": pl.String})
    first, run = peek(Run(lambda: iter((empty,))))
    assert first is None
    assert [frame.height for frame in run.scan()] == [0]


def test_an_evaluated_run_of_mappings_is_let_go_without_the_garbage_collector() -> None:
    pair = calipers.read(ground_truth={"q": {"a": 1}}, run={"q": {"b": 2.0, "a": 1.0}})
    kept = weakref.ref(pair.run.scan)
    gc.disable()
    try:
        del pair
        assert kept() is None
    finally:
        gc.enable()
