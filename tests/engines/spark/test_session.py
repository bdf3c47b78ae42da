"""What Spark is given: columns, policies, and rows that are wrong."""

from typing import Any

import polars as pl
import pytest

import calipers
from calipers import spark
from calipers.errors import InvalidInput
from tests.engines.spark_frames import FILTERS, every_other, frame_of

pytestmark = FILTERS

TRUTH = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1.0]})


BAD_ROWS = [
    ({"query": [None, "q"], "item": ["a", "a"], "score": [1.0, 1.0]}, "'query' holds nothing"),
    ({"query": ["q"], "item": [None], "score": [1.0]}, "'item' holds nothing"),
    ({"query": ["q"], "item": ["a"], "score": [float("nan")]}, "'score' holds nan at the run"),
    ({"query": ["q"], "item": ["a"], "score": ["high"]}, "'score' holds 'high' at the run"),
    ({"query": ["q"], "score": [1.0]}, "The run has no column for the item"),
    ({"item": ["q"], "score": [1.0]}, "The run has no column for the query"),
    ({"query": ["q"], "item": ["a"]}, "neither a score nor a rank"),
]


@pytest.mark.parametrize(("run", "sentence"), every_other(BAD_ROWS))
def test_bad_rows_get_the_sentences_of_memory(session, run, sentence):
    run = pl.DataFrame(run, schema_overrides={"query": pl.String, "item": pl.String})
    with pytest.raises(InvalidInput, match=sentence) as raised:
        spark.evaluate(frame_of(session, run), frame_of(session, TRUTH), metrics="mrr")
    assert "java" not in str(raised.value).lower()
    assert raised.value.__cause__ is None


BAD_GROUND_TRUTHS = [
    ({"query": ["q", None], "item": ["a", "b"]}, "'query' holds nothing at the ground truth"),
    ({"query": ["q", None], "item": ["a", None]}, "A query of the ground truth has no id"),
    ({"query": ["q"], "item": ["a"], "grade": [float("nan")]}, "'grade' holds nan at the gro"),
    ({"query": ["q"], "item": [None], "grade": [1.0]}, "'item' holds nothing at the ground"),
    ({"query": ["q"], "item": ["a"], "grade": ["good"]}, "'grade' holds 'good' at the ground"),
    ({"query": ["q"], "grade": [1.0]}, "The ground truth has no column for the item"),
    ({"query": ["q"], "document": ["d"], "start": ["x"], "end": [3]}, "'start' holds 'x' at"),
    ({"query": ["q", "q"], "item": ["a", "a"], "grade": [1.0, 2.0]}, "two different grades"),
]


@pytest.mark.parametrize(("truth", "sentence"), every_other(BAD_GROUND_TRUTHS))
def test_bad_ground_truths_get_the_sentences_of_memory(session, truth, sentence):
    truth = pl.DataFrame(truth, schema_overrides={"query": pl.String, "item": pl.String})
    run = {
        "query": ["q"],
        "item": ["a"],
        "document": ["d"],
        "start": [0],
        "end": [1],
        "score": [1.0],
    }
    frames = frame_of(session, pl.DataFrame(run)), frame_of(session, truth)
    with pytest.raises(InvalidInput, match=sentence) as raised:
        spark.evaluate(*frames, metrics="mrr")
    assert "java" not in str(raised.value).lower()


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


def test_whole_numbers_that_became_decimals_are_ids_and_nan_is_nothing(session):
    run = pl.DataFrame({"query": [7.0, 8.0], "item": ["a", "b"], "score": [1.0, 1.0]})
    truth = pl.DataFrame({"query": [7, 8], "item": ["a", "a"]})
    found = spark.evaluate(frame_of(session, run), frame_of(session, truth), metrics="mrr")
    assert found["mrr"].mean == 0.5
    broken = run.with_columns(query=pl.Series([7.0, float("nan")]))
    with pytest.raises(InvalidInput, match="'query' holds nothing at the run"):
        spark.evaluate(frame_of(session, broken), frame_of(session, truth), metrics="mrr")


def test_columns_are_named_as_for_files(session):
    truth = pl.DataFrame({"person": ["q"], "thing": ["a"], "worth": [2.0]})
    run = pl.DataFrame({"person": ["q"], "thing": ["a"], "score": [1.0]})
    frames = frame_of(session, run), frame_of(session, truth)
    columns = {"query": "person", "item": "thing", "grade": "worth"}
    found = spark.evaluate(*frames, metrics="dcg@1", columns=columns)
    assert found["dcg@1"].mean == 2.0
    with pytest.raises(InvalidInput, match="There is no column 'wroth' to take as grade"):
        spark.evaluate(*frames, metrics="mrr", columns={**columns, "grade": "wroth"})


RESULTS = pl.DataFrame({"query": ["q", "q"], "item": ["b", "a"], "score": [2.0, 1.0]})
UNREAD = [
    ({"query": ["q", "q"], "item": ["a", "b"], "worth": [0, 1]}, "'worth' .* is not understood"),
    ({"query": ["q"], "expected_ids": ["a;b"]}, "several ids in a cell of 'expected_ids': 'a;b'"),
    ({"query": [], "item": []}, "the names of columns and no rows"),
]


@pytest.mark.parametrize(("truth", "sentence"), every_other(UNREAD))
def test_targets_that_a_file_would_be_asked_about_are_refused(session, truth, sentence):
    kinds = {"query": pl.String, "item": pl.String}
    judged = frame_of(session, pl.DataFrame(truth, schema_overrides=kinds))
    with pytest.raises(InvalidInput, match=sentence):
        spark.evaluate(frame_of(session, RESULTS), judged, metrics="mrr")


def test_columns_mean_what_they_mean_in_files(session):
    beir = pl.DataFrame({"query-id": ["q", "q"], "corpus-id": ["a", "b"], "score": [2, 0]})
    far = RESULTS.rename({"score": "distance"}).select("distance", "item", "query")
    cases: list[tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]] = [
        (RESULTS, beir, {}),
        (far, TRUTH, {}),
        (far, TRUTH, {"columns": {"score": "distance"}}),
    ]
    for run, truth, how in cases:
        here = calipers.evaluate(ground_truth=truth, run=run, metrics="mrr,dcg@2", **how)
        frames = frame_of(session, run), frame_of(session, truth)
        there = spark.evaluate(*frames, metrics="mrr,dcg@2", **how)
        assert there.summaries == dict(here.summaries), how
        kept = calipers.evaluate(run=frames[0], ground_truth=frames[1], metrics="mrr,dcg@2", **how)
        assert kept.summaries == here.summaries, how


def test_runs_in_which_nobody_can_tell_what_comes_first_are_refused(session):
    rows = {"query": ["q", "q"], "item": ["a", "b"], "rank": [1, 1]}
    judged = frame_of(session, TRUTH)
    with pytest.raises(InvalidInput, match="Two results of the query 'q' have the rank 1"):
        spark.evaluate(frame_of(session, pl.DataFrame(rows)), judged, metrics="mrr")
    called = frame_of(session, pl.DataFrame({**rows, "call": [1, 2]}))
    with pytest.raises(InvalidInput, match=r"The run has calls of the retriever \('call'\)"):
        spark.evaluate(called, judged, metrics="mrr")
    with pytest.raises(InvalidInput, match=r"The run is a DataFrame, and calipers\.spark takes"):
        spark.evaluate(RESULTS, judged, metrics="mrr")
    with pytest.raises(InvalidInput, match="number of partitions is 0"):
        spark.evaluate(frame_of(session, RESULTS), judged, metrics="mrr", partitions=0)
