"""Fusing in blocks of queries: the answer and the fused run are the same at any size of a block."""

import pickle
import random

import polars as pl
import pytest

import calipers
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
