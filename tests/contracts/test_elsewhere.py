"""Rows that are worked on elsewhere, in blocks of any size and order, give what memory gives."""

import pickle
import random
from dataclasses import replace

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io.spark import CODE, ROW, ResultReader, _block, _sent
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, Run
from tests.contracts.pairs import answers, pairs, worse


class Elsewhere:
    """As Spark has rows: divided by query, sorted, cut into blocks; all in this process."""

    def __init__(self, frame: pl.DataFrame, partitions: int, steps=(), scan=None):
        self.frame, self.partitions, self.steps, self.scan = frame, partitions, steps, scan
        order: Order = "rank" if "rank" in frame.columns else "score"
        self.reader = ResultReader(tuple(frame.columns), {}, order, "run")

    def __call__(self):
        return self.scan() if self.scan else iter((self.frame,))

    def then(self, step, scan):
        return Elsewhere(self.frame, self.partitions, (*self.steps, step), scan)

    def over_blocks(self, truth, work):
        both = self.frame.sort("query", maintain_order=True), _sent(truth)
        for number in random.Random(self.partitions).sample(
            range(self.partitions), self.partitions
        ):
            results, judged = (
                one.filter(one["query"].hash() % self.partitions == number) for one in both
            )
            if results.height or judged.height:
                # What is sent there and back is pickled.
                answer = work(_block(results, judged, self.reader, self.steps))
                yield pickle.loads(pickle.dumps(answer))


def run_elsewhere(frame: pl.DataFrame, partitions: int) -> Run:
    schema = {name: kind for name, kind in RUN_SCHEMA.items() if name in frame.columns}
    here = Run.from_frame(frame.select(pl.col(name).cast(kind) for name, kind in schema.items()))
    scan = Elsewhere(here.scan().__next__(), partitions)
    return replace(here, scan=scan, name="run", in_memory=False, is_grouped=True, stays=True)


@pytest.mark.parametrize("name", pairs())
def test_every_question_is_answered_as_in_memory(name):
    truth, run, how = pairs()[name]
    here = answers(
        calipers.read(ground_truth=truth, run=run, **how),
        calipers.read(ground_truth=truth, run=worse(run), **how),
    )
    for n in (1, 8) if name == "ids" else (8,):
        there = answers(
            calipers.read(ground_truth=truth, run=run_elsewhere(run, n), **how),
            calipers.read(ground_truth=truth, run=run_elsewhere(worse(run), n), **how),
        )
        for question, answer in here.items():
            assert there[question] == answer, (question, n)


def test_what_rows_without_an_order_cannot_do():
    truth, run, _ = pairs()["ids"]
    with pytest.raises(InvalidInput, match="the rows of a DataFrame have no order"):
        calipers.read(ground_truth=truth, run=run_elsewhere(run, 2), ties="input")


def test_a_sentence_names_the_query():
    rows = pl.DataFrame({"query": ["q", "p"], "item": ["a", "b"], "score": ["0.5", "much"]})
    reader = ResultReader(("query", "item", "score"), {"score": "my score"}, "score", "run")
    with pytest.raises(InvalidInput, match="'my score' holds 'much' at run, query 'p'; it must"):
        reader.checked(rows)
    ranked = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "rank": [1, 1]})
    with pytest.raises(InvalidInput, match="have the rank 1, one of them at run, query 'q'"):
        ResultReader(("query", "item", "rank"), {}, "rank", "run").checked(ranked)


def test_queries_without_targets_are_sent_too():
    truth = calipers.read(
        ground_truth=pl.DataFrame({"query": ["q", "s"], "item": ["a", None]}), run={"q": ["a"]}
    ).ground_truth
    sent = _sent(truth)
    assert sent.select("query", CODE, ROW).rows() == [("q", 0, 0), ("s", 1, None)]
