"""Every question that is asked of two DataFrames is answered as in memory, to the last bit."""

import os

import polars as pl
import pytest

import calipers
from tests.contracts.pairs import answers, pairs, worse
from tests.engines.spark_frames import FILTERS, frame_of

pytestmark = FILTERS


def read(session, truth: pl.DataFrame, run: pl.DataFrame, seed: int, **how):
    """Both sides as DataFrames; the rows of the run stand in any order."""
    mixed = run.sample(fraction=1.0, shuffle=True, seed=seed)
    # The query need not stand first.
    mixed = mixed.select(*(one for one in run.columns if one != "query"), "query")
    there, results = (frame_of(session, one) for one in (truth, mixed))
    return calipers.read(ground_truth=there, run=results, **how)


@pytest.fixture
def partitions(session):
    """Sets how many partitions a shuffle makes."""
    key = "spark.sql.shuffle.partitions"
    before = session.conf.get(key)
    yield lambda n: session.conf.set(key, str(n))
    session.conf.set(key, before)


CASES = {
    "classic": [("ids", 2), ("quotes", 8), ("documents", 1)],
    "connect": [("ids", 8), ("quotes", 2), ("spans", 9)],
}
"""Every number of partitions, with one kind of session or the other; both take one path."""


@pytest.mark.parametrize(("name", "n"), CASES[os.environ.get("CALIPERS_SPARK", "classic")])
def test_every_question_is_answered_as_in_memory(session, partitions, name, n):
    truth, run, how = pairs()[name]
    # Lists come in the order of the ground truth, whatever it is.
    truth = truth.reverse()
    partitions(n)
    there = [read(session, truth, run, n, **how)]
    here = [calipers.read(ground_truth=truth, run=run, **how)]
    if n == 2:
        there.append(read(session, truth, worse(run), n, **how))
        here.append(calipers.read(ground_truth=truth, run=worse(run), **how))
    found = answers(*there)
    for question, answer in answers(*here).items():
        assert found[question] == answer, question


def test_names_with_points_other_names_and_distances(session):
    truth = pl.DataFrame({"user.id": [1, 1, 2], "sku`": ["a", "b", "a"], "tag.a b": ["x"] * 3})
    found = {"sku`": [" a ", "b", "a"], "distance": [0.1, 0.2, 0.3]}
    run = pl.DataFrame({"user.id": [1, 2, 2], **found})
    named = {"query": "user.id", "item": "sku`"}
    here, there = (
        calipers.evaluate(ground_truth=one, run=other, columns=named, metrics="recall@1,mrr")
        for one, other in ((truth, run), (frame_of(session, truth), frame_of(session, run)))
    )
    assert there.to_dict() == here.to_dict()
    assert list(there.tags) == ["a b"]
