"""Fusing in blocks of queries: the answer and the fused run are the same at any size of a block."""

import pickle
import random

import polars as pl
import pytest

import calipers
from calipers.questions.fuse import bench, listed
from calipers.questions.fuse import lanes as module


def drawn(seed):
    """Lanes with scores and a ground truth, of 40 queries in no order."""
    draw = random.Random(seed)

    def results():
        scores = {f"d{draw.randrange(25)}": round(draw.random(), 1) for _ in range(9)}
        return dict(sorted(scores.items(), key=lambda pair: -pair[1]))

    queries = [f"q{number}" for number in range(40)]
    lanes = {}
    for name in ("words", "vectors"):
        asked = draw.sample(queries, len(queries))
        lanes[name] = {query: results() for query in asked}
    truth = {query: {f"d{draw.randrange(25)}": 1 for _ in range(2)} for query in queries}
    return lanes, truth


@pytest.mark.parametrize("seed", range(4))
def test_the_answer_does_not_depend_on_the_blocks(seed, monkeypatch):
    lanes, truth = drawn(seed)
    whole = calipers.fuse(lanes, truth, metrics="ndcg@10,recall@5")
    monkeypatch.setattr(module, "QUERIES_AT_ONCE", 3)
    monkeypatch.setattr(module, "AT_ONCE", 100)
    monkeypatch.setattr(listed, "ROWS_AT_ONCE", 20)
    monkeypatch.setattr(bench, "WAYS_AT_ONCE", 7)
    parts = calipers.fuse(lanes, truth, metrics="ndcg@10,recall@5")
    assert parts.to_dict() == whole.to_dict()
    assert parts.run.frame.equals(whole.run.frame)


def test_the_fused_run_is_the_one_that_was_measured_and_can_be_read_again():
    lanes, truth = drawn(9)
    fusion = calipers.fuse(lanes, truth, metrics="ndcg@10")
    again = calipers.evaluate(ground_truth=truth, run=fusion.run, metrics="ndcg@10")
    assert again["ndcg@10"].mean == pytest.approx(fusion.advised.means["ndcg@10"])
    first, second = (pl.concat(fusion.run.scan()) for _ in range(2))
    assert first.equals(second)
    assert pl.concat(pickle.loads(pickle.dumps(fusion.run)).scan()).equals(first)


def test_lanes_are_listed_by_query_however_their_rows_are_mixed():
    lanes, truth = drawn(5)
    draw = random.Random(5)
    mixed = {}
    for name, queries in lanes.items():
        rows = [(q, i, s) for q, results in queries.items() for i, s in results.items()]
        draw.shuffle(rows)
        mixed[name] = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    whole = calipers.fuse(lanes, truth, metrics="ndcg@10")
    assert calipers.fuse(mixed, truth, metrics="ndcg@10").best.means == whole.best.means


def test_results_that_are_places_in_documents_are_fused():
    """Without ids and texts all results of a query were one and the same."""
    truth = [
        {
            "id": f"q{n}",
            "question": f"question {n}",
            "targets": [{"document": f"d{n}.md", "start": 10, "end": 60}],
        }
        for n in range(12)
    ]

    def lane(shift):
        return [
            {
                "id": f"q{n}",
                "question": f"question {n}",
                "results": [
                    {"document": f"d{(n + rank + shift) % 12}.md", "start": 0, "end": 100}
                    for rank in range(4)
                ],
            }
            for n in range(12)
        ]

    fusion = calipers.fuse({"first": lane(0), "third": lane(10)}, truth, metrics="mrr")
    means = {setting.name: setting.means["mrr"] for setting in fusion.settings}
    assert means["first alone"] == 1.0
    assert means["third alone"] == pytest.approx(1 / 3)
    assert fusion.run.frame.height == 12 * 6
