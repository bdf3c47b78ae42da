"""Spark gives what evaluation in memory gives, to the last bit."""

from dataclasses import replace

import polars as pl
import pytest

import calipers
from calipers import spark
from calipers.errors import InvalidInput
from tests.contracts.pairs import CHUNKS, QUOTED, SPANS
from tests.contracts.test_engines import COUNTS, METRICS, made_tables
from tests.engines.conftest import BATCH
from tests.engines.spark_frames import FILTERS, every_other, frame_of

pytestmark = FILTERS


def assert_same(found, whole) -> None:
    """Values, counts, fingerprints and summaries, each to the last bit."""
    per_query = pl.DataFrame(found.per_query.toArrow())
    in_order = whole.per_query.select("query").join(per_query, on="query", maintain_order="left")
    assert in_order.equals(whole.per_query.select(per_query.columns))
    assert {c: getattr(found.audit, c) for c in COUNTS} == {
        c: getattr(whole.audit, c) for c in COUNTS
    }
    assert found.fingerprints == dict(whole.fingerprints)
    assert found.summaries == dict(whole.summaries)


@pytest.mark.parametrize("partitions", [1, 8])
def test_values_counts_fingerprints_and_summaries_are_those_of_memory(session, partitions):
    tables = made_tables()
    shuffled = tables.run.sample(fraction=1.0, shuffle=True, seed=partitions)
    weights = {"recall@5": 1.0, "mrr": 2.0}
    found = spark.evaluate(
        frame_of(session, shuffled),
        frame_of(session, tables.truth),
        metrics=list(METRICS),
        partitions=partitions,
        weights=weights,
    )
    assert_same(found, tables.evaluate(weights=weights))


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
    asked = {"metrics": "recall@5,ndcg@10,map", **policy}
    found = spark.evaluate(
        frame_of(session, tables.run), frame_of(session, tables.truth), partitions=2, **asked
    )
    whole = calipers.evaluate(ground_truth=tables.truth, run=tables.run, **asked)
    assert_same(found, whole)


def test_columns_of_other_names_tags_and_whole_floats(session, tmp_path):
    truth = pl.DataFrame(
        {"user_id": [1, 1, 2, 3], "sku": ["a", "b", "a", "c"], "land": ["x", "x", "y", "y"]}
    )
    run = pl.DataFrame({"user_id": [1, 2, 3, 4], "sku": ["a", "b", "c", "a"], "rank": [1, 1, 1, 1]})
    found = spark.evaluate(
        frame_of(session, run),
        frame_of(session, truth),
        metrics="recall@1,mrr",
        query="user_id",
        item="sku",
        tags=["land"],
    )
    assert found["recall@1"].mean == 0.5
    assert found.audit.unknown_examples == ("4",)
    assert repr(found).startswith("<Scores of 3 queries in Spark: recall@1 0.500")
    found.unpersist()
    found.per_query.write.parquet(str(tmp_path / "scores.parquet"))
    sliced = calipers.slices(tmp_path / "scores.parquet", "land", metrics="recall@1")
    assert {row.value: row.mean for row in sliced.rows} == {"x": 0.5, "y": 0.5}


MATCHINGS = [
    (QUOTED, {}),
    (QUOTED, {"match": "quote(min=0.8)"}),
    (QUOTED, {"match": "quote(case=ignore)", "level": "chunk"}),
    (QUOTED, {"level": "document"}),
    (SPANS, {}),
    (SPANS, {"match": "span(min=0.5)", "level": "chunk"}),
]


@pytest.mark.parametrize(("truth", "how"), every_other(MATCHINGS))
def test_every_way_of_matching_is_that_of_memory(session, truth, how):
    asked = {"metrics": "recall@1,ndcg@2,mrr", **how}
    found = spark.evaluate(
        frame_of(session, CHUNKS), frame_of(session, truth), partitions=2, **asked
    )
    whole = calipers.evaluate(ground_truth=truth, run=CHUNKS, **asked)
    assert found.settings["match"] == whole.settings["match"]
    assert_same(found, whole)


def test_texts_of_equal_scores_need_no_ids(session):
    truth = pl.DataFrame({"query": ["q", "p"], "quote": ["a lock", "no such"]})
    run = pl.DataFrame({"query": ["q", "q"], "score": [1.0, 1.0], "text": ["a lock", "none"]})
    found = spark.evaluate(frame_of(session, run), frame_of(session, truth), metrics="mrr")
    whole = calipers.evaluate(ground_truth=truth, run=run, metrics="mrr", ties="trec")
    assert_same(found, whole)


def test_queries_with_nothing_to_find_are_counted(session):
    truth = pl.DataFrame({"query": ["q", "p", "s"], "item": ["a", None, "b"]})
    run = pl.DataFrame({"query": ["q", "p"], "item": ["a", "a"], "score": [1.0, 1.0]})
    found = spark.evaluate(
        frame_of(session, run), frame_of(session, truth), metrics="mrr", partitions=2
    )
    assert (found.audit.unanswerable, found["mrr"].undefined) == (1, 1)
    assert_same(found, calipers.evaluate(ground_truth=truth, run=run, metrics="mrr"))


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
        found = spark.evaluate(
            long.union(few), frame_of(session, truth), metrics="recall@1000,mrr", partitions=2
        )
    finally:
        session.conf.set(BATCH, "50")
    assert (found["recall@1000"].mean, found["mrr"].mean) == (0.25, 0.0005)
    assert found.audit.retrieved == rows + 1


def test_slices_are_those_of_memory(session):
    tables = made_tables()
    number = tables.truth["query"].str.slice(1).cast(pl.Int64)
    texts = pl.concat_str(pl.lit("word ").repeat_by(number % 12).list.join(""), pl.lit("end"))
    truth = tables.truth.with_columns(
        pl.Series("land", [None if n % 9 == 0 else f"l{n % 3}" for n in number]),
        pl.select(texts.alias("query_text")).to_series(),
    )
    by, metrics = ["land", "length", "targets", "auto"], "recall@5,ndcg@10,mrr"
    found = spark.evaluate(
        frame_of(session, tables.run),
        frame_of(session, truth),
        metrics=metrics,
        tags=["land"],
        partitions=3,
    )
    tagged = calipers.evaluate(
        ground_truth=truth.drop("land"), run=tables.run, metrics=metrics, ties="trec"
    )
    queries = tagged.queries.join(
        truth.select("query", "land").unique("query"), on="query", maintain_order="left"
    )
    whole = calipers.slices(replace(tagged, tags={"land": queries["land"]}), by)
    assert calipers.slices(found, by).to_dict() == whole.to_dict()
    with pytest.raises(InvalidInput, match="no tag 'lnad'; they can be cut by land"):
        calipers.slices(found, "lnad")
