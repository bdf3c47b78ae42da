"""Spark gives what evaluation in memory gives; needs pyspark and Java, which CI installs."""

import os
import shutil
import sys
import warnings

import polars as pl
import pytest

import calipers
from calipers import spark
from calipers.errors import InvalidInput, NoCommonIds
from tests.contracts.test_engines import COUNTS, METRICS, made_tables

pytest.importorskip("pyspark", reason="Spark is installed by make spark")
if not shutil.which("java"):
    pytest.skip("Spark needs Java", allow_module_level=True)

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    # What Spark leaves open is its own affair.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
KIND = os.environ.get("CALIPERS_SPARK", "classic")
"""One process can hold one kind of session; make spark runs both."""


@pytest.fixture(scope="module")
def session():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.config("spark.sql.shuffle.partitions", "2")
        builder = builder.config("spark.ui.enabled", "false")
        if KIND == "connect":
            found = builder.remote("local[2]").getOrCreate()
        else:
            found = builder.master("local[2]").getOrCreate()
        # Batches that cut queries.
        found.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
        yield found
        found.stop()


def frame_of(session, frame: pl.DataFrame):
    return session.createDataFrame(frame.rows(), schema=_ddl(frame, frame.columns))


def _ddl(frame, names):
    kinds = {pl.String: "string", pl.Float64: "double", pl.Int64: "long"}
    return ", ".join(f"`{name}` {kinds[frame.schema[name].base_type()]}" for name in names)


@pytest.mark.parametrize("partitions", [1, 2, 8, 33])
def test_values_counts_fingerprints_and_summaries_are_those_of_memory(session, partitions):
    tables = made_tables()
    shuffled = tables.run.sample(fraction=1.0, shuffle=True, seed=partitions)
    found = spark.evaluate(
        frame_of(session, shuffled), frame_of(session, tables.truth), metrics=list(METRICS),
        partitions=partitions, weights={"recall@5": 1.0, "mrr": 2.0},
    )  # fmt: skip
    whole = tables.evaluate(weights={"recall@5": 1.0, "mrr": 2.0})
    per_query = pl.DataFrame(found.per_query.toArrow())
    in_order = whole.per_query.select("query").join(per_query, on="query", maintain_order="left")
    assert in_order.equals(whole.per_query.select(per_query.columns))
    assert {c: getattr(found.audit, c) for c in COUNTS} == {
        c: getattr(whole.audit, c) for c in COUNTS
    }
    assert found.fingerprints == dict(whole.fingerprints)
    for name in whole:
        ours, theirs = found[name], whole[name]
        assert (ours.mean, ours.median, ours.n, ours.undefined) == (
            theirs.mean, theirs.median, theirs.n, theirs.undefined,
        )  # fmt: skip
        if theirs.interval is not None and theirs.interval.method != "bootstrap":
            assert ours.interval == theirs.interval


def test_columns_of_other_names_tags_and_whole_floats(session, tmp_path):
    truth = pl.DataFrame(
        {"user_id": [1, 1, 2, 3], "sku": ["a", "b", "a", "c"], "land": ["x", "x", "y", "y"]}
    )
    run = pl.DataFrame({"user_id": [1, 2, 3, 4], "sku": ["a", "b", "c", "a"], "rank": [1, 1, 1, 1]})
    found = spark.evaluate(
        frame_of(session, run), frame_of(session, truth), metrics="recall@1,mrr",
        query="user_id", item="sku", tags=["land"],
    )  # fmt: skip
    assert found["recall@1"].mean == 0.5
    assert found.audit.unknown_examples == ("4",)
    assert repr(found).startswith("<Scores of 3 queries in Spark: recall@1 0.500")
    found.per_query.write.parquet(str(tmp_path / "scores.parquet"))
    sliced = calipers.slices(tmp_path / "scores.parquet", "land", metrics="recall@1")
    assert {row.value: row.mean for row in sliced.rows} == {"x": 0.5, "y": 0.5}


@pytest.mark.parametrize(
    ("match", "truth", "run"),
    [
        ("quote", {"query": ["q", "p"], "quote": ["a lock", "no such"]},
         {"query": ["q", "p"], "rank": [1, 1], "text": ["It is a lock.", "Nothing"]}),
        ("span(min=0.9)",
         {"query": ["q", "p"], "document": ["d", "d"], "start": [0, 50], "end": [10, 60]},
         {"query": ["q", "p"], "rank": [1, 1], "document": ["d", "e"], "start": [0, 0],
          "end": [20, 9]}),
    ],
)  # fmt: skip
def test_quotes_and_spans(session, match, truth, run):
    truth, run = pl.DataFrame(truth), pl.DataFrame(run)
    found = spark.evaluate(
        frame_of(session, run), frame_of(session, truth), metrics="recall@1", partitions=2
    )
    whole = calipers.evaluate(ground_truth=truth, run=run, metrics="recall@1", ties="trec")
    assert found.settings["match"] == match == whole.settings["match"]
    assert found["recall@1"].mean == whole["recall@1"].mean == 0.5
    assert found.fingerprints["ground_truth"] == whole.fingerprints["ground_truth"]
    assert found.fingerprints["run"] == whole.fingerprints["run"]


TRUTH = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ({"query": [None, "q"], "item": ["a", "a"], "score": [1.0, 1.0]}, "'query' holds nothing"),
        ({"query": ["q"], "item": [None], "score": [1.0]}, "'item' holds nothing"),
        ({"query": ["q"], "item": ["a"], "score": [float("nan")]}, "'score' holds nan at the run"),
        ({"query": ["q"], "item": ["a"], "score": ["high"]}, "'score' holds 'high' at the run"),
        ({"query": ["q"], "score": [1.0]}, "The run has no column for the item"),
        ({"item": ["q"], "score": [1.0]}, "The run has no column for the query"),
        ({"query": ["q"], "item": ["a"]}, "neither a score nor a rank"),
    ],
)  # fmt: skip
def test_bad_rows_get_the_sentences_of_memory(session, run, sentence):
    run = pl.DataFrame(run, schema_overrides={"query": pl.String, "item": pl.String})
    with pytest.raises(InvalidInput, match=sentence) as raised:
        spark.evaluate(frame_of(session, run), frame_of(session, TRUTH), metrics="mrr")
    assert "java" not in str(raised.value).lower()
    assert raised.value.__cause__ is None


def test_nothing_in_common_is_an_error_unless_it_is_asked_for(session):
    run = pl.DataFrame({"query": ["q"], "item": ["doc-a"], "score": [1.0]})
    frames = frame_of(session, run), frame_of(session, TRUTH)
    with pytest.raises(NoCommonIds, match="no item id in common"):
        spark.evaluate(*frames, metrics="mrr")
    found = spark.evaluate(*frames, metrics="mrr", nothing_in_common="zero")
    assert found["mrr"].mean == 0.0


def test_policies_are_enforced(session):
    run = pl.DataFrame({"query": ["q", "x"], "item": ["a", "a"], "score": [1.0, 1.0]})
    frames = frame_of(session, run), frame_of(session, TRUTH)
    with pytest.raises(InvalidInput, match="unknown=error forbids it"):
        spark.evaluate(*frames, metrics="mrr", unknown="error")
    with pytest.raises(InvalidInput, match="ties=input"):
        spark.evaluate(*frames, metrics="mrr", ties="input")
    with pytest.raises(InvalidInput, match="memory has no meaning on Spark"):
        spark.evaluate(*frames, metrics="mrr", memory="2GB")
    with pytest.raises(InvalidInput, match="no column 'land' to slice by"):
        spark.evaluate(*frames, metrics="mrr", tags=["land"])
