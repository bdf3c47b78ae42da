"""What Spark is given: columns, policies, rows that are wrong, and workers that end."""

import os
from typing import Any

import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.io import spark
from tests.contracts.pairs import made_tables
from tests.engines.conftest import BATCH
from tests.engines.spark_frames import FILTERS, every_other, frame_of

pytestmark = FILTERS

TRUTH = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})
RESULTS = pl.DataFrame({"query": ["q", "q"], "item": ["b", "a"], "score": [2.0, 1.0]})


def evaluated(session, run: Any, truth: pl.DataFrame, **asked: Any) -> Any:
    """The scores of two tables that Spark has."""
    there = run if not isinstance(run, pl.DataFrame) else frame_of(session, run)
    return calipers.evaluate(run=there, ground_truth=frame_of(session, truth), **asked)


@pytest.mark.parametrize(
    "policy",
    [
        {"missing": "exclude", "unanswerable": "zero", "rel": 2.0},
        {"like": "trec_eval"},
        {"duplicates": "first", "unknown": "ignore", "ties": "trec", "corpus_size": 10_000},
    ],
)
def test_every_policy_is_that_of_memory(session, policy):
    tables = made_tables()
    asked = {"metrics": "recall@5,ndcg@10,map", "ties": "trec", **policy}
    found = evaluated(session, tables.run, tables.truth, **asked).to_dict()
    whole = calipers.evaluate(ground_truth=tables.truth, run=tables.run, **asked).to_dict()
    # The rows of a run have no order there, so examples are the first by name.
    for one in (found, whole):
        one["audit"].pop("unknown_examples")
    assert found == whole


BAD_ROWS = [
    ({"query": [None, "q"], "item": ["a", "a"], "score": [1.0, 1.0]}, "'query' holds nothing"),
    ({"query": ["q"], "item": [None], "score": [1.0]}, "'item' holds nothing"),
    ({"query": ["q"], "item": ["a"], "score": [float("nan")]}, "'score' holds nan at run"),
    ({"query": ["q"], "item": ["a"], "score": ["high"]}, "'score' holds 'high' at run, query 'q'"),
    ({"query": ["q"], "score": [1.0]}, "run has no column for the item"),
    ({"query": ["q"], "item": ["a"]}, "neither a score nor a rank"),
    ({"query": ["q"] * 2, "item": ["a", "b"], "rank": [1, 1]}, "'q' have the rank 1"),
    ({"query": ["q"], "item": ["a"], "call": [1], "rank": [1]}, r"calls of the retriever \('call"),
    ({"query": ["q"], "item": ["x"], "score": [1.0]}, "no item id in common"),
]


@pytest.mark.parametrize(("run", "sentence"), every_other(BAD_ROWS))
def test_bad_rows_get_the_sentences_of_memory(session, run, sentence):
    run = pl.DataFrame(run, schema_overrides={"query": pl.String, "item": pl.String})
    with pytest.raises(InvalidInput, match=sentence) as raised:
        evaluated(session, run, TRUTH, metrics="mrr")
    assert "java" not in str(raised.value).lower()
    assert raised.value.__cause__ is None


BAD_TARGETS = [
    ({"query": ["q"], "item": ["a"], "grade": ["sour"]}, "'sour'"),
    ({"query": ["q", "q"], "item": ["a", "a"], "grade": [1.0, 2.0]}, "two different grades"),
    ({"query": ["q", "q"], "item": ["a", "b"], "worth": [0, 1]}, "worth"),
    ({"query": [], "item": []}, "no rows"),
]


@pytest.mark.parametrize(("truth", "sentence"), every_other(BAD_TARGETS))
def test_bad_targets_get_the_sentences_of_memory(session, truth, sentence):
    kinds = {"query": pl.String, "item": pl.String}
    with pytest.raises(InvalidInput, match=sentence):
        evaluated(session, RESULTS, pl.DataFrame(truth, schema_overrides=kinds), metrics="mrr")


def test_policies_are_enforced(session):
    run = pl.DataFrame({"query": ["q", "x"], "item": ["a", "a"], "score": [1.0, 1.0]})
    with pytest.raises(InvalidInput, match="unknown=error forbids it"):
        evaluated(session, run, TRUTH, metrics="mrr", unknown="error")


def test_whole_numbers_that_became_decimals_are_ids_and_nan_is_nothing(session):
    run = pl.DataFrame({"query": [7.0, 8.0], "item": ["a", "b"], "score": [1.0, 1.0]})
    truth = pl.DataFrame({"query": [7, 8], "item": ["a", "a"]})
    assert evaluated(session, run, truth, metrics="mrr")["mrr"].mean == 0.5
    broken = run.with_columns(query=pl.Series([7.0, float("nan")]))
    with pytest.raises(InvalidInput, match="'query' holds nothing at run"):
        evaluated(session, broken, truth, metrics="mrr")


def test_columns_mean_what_they_mean_in_files(session):
    beir = pl.DataFrame({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 0]})
    far = RESULTS.rename({"score": "distance"}).select("distance", "item", "query")
    silent = pl.DataFrame({"query": ["q", "p"], "item": ["a", None]})
    named = {"query": "person", "item": "thing"}
    cases: list[tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]] = [
        (RESULTS, beir, {}),
        (far, TRUTH, {}),
        (far, TRUTH, {"columns": {"score": "distance"}}),
        (RESULTS, silent, {}),
        (RESULTS.rename(named), TRUTH.rename(named), {"columns": named}),
    ]
    for run, truth, how in cases:
        here = calipers.evaluate(ground_truth=truth, run=run, metrics="mrr,dcg@2", **how)
        there = evaluated(session, run, truth, metrics="mrr,dcg@2", **how)
        assert there.summaries == here.summaries, how
    with pytest.raises(InvalidInput, match="no column 'wroth' to take as grade"):
        evaluated(session, RESULTS, TRUTH, metrics="mrr", columns={"grade": "wroth"})


def test_one_query_of_very_many_rows(session):
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    rows = 10**5
    long = session.range(rows).select(
        F.lit("q").alias("query"),
        F.col("id").cast("string").alias("item"),
        (F.lit(1.0) / (F.col("id") + 1)).alias("score"),
    )
    few = frame_of(session, pl.DataFrame({"query": ["p"], "item": ["1"], "score": [1.0]}))
    truth = pl.DataFrame({"query": ["q", "q", "p"], "item": ["999", "99999", "2"]})
    session.conf.set(BATCH, "1000")
    try:
        found = evaluated(session, long.union(few), truth, metrics="recall@1000,mrr")
    finally:
        session.conf.set(BATCH, "50")
    assert (found["recall@1000"].mean, found["mrr"].mean) == (0.25, 0.0005)
    assert found.audit.retrieved == rows + 1


def test_a_lost_worker_is_named_with_its_cure(session, monkeypatch):
    # Inside, so that it is sent as a value: a worker has none of these tests.
    def dies(batches: Any) -> Any:
        for _ in batches:
            os._exit(1)
        yield from ()

    monkeypatch.setattr(spark, "_worker", lambda *_: dies)
    with pytest.raises(InvalidInput, match=r"A worker was lost.*spark\.executor\.memoryOverhead"):
        evaluated(session, RESULTS, TRUTH, metrics="mrr")
