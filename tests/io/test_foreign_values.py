"""Values of numpy and pandas where they do not belong: our errors, in our sentences."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import calipers
from calipers.errors import InvalidInput, RetrieverFailed

TRUTH: dict[str, Any] = {"q": ["a"]}


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"query": ["q", "r"], "ground_truth": [["a"], ["b"]], **columns})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: calipers.evaluate(frame(retrieved=[["a"], 3])), "in its column 'retrieved'"),
        (lambda: calipers.evaluate(frame(retrieved=[["a"], {"x": 1}])), "column 'retrieved'"),
        (lambda: calipers.evaluate(frame(retrieved=[["a"], object()])), "column 'retrieved'"),
        (lambda: calipers.evaluate(frame(item=[1 + 2j, 3j])), "in its column 'item'"),
        (lambda: calipers.evaluate(ground_truth=TRUTH, run=pd.Series({"q": "a"})), "run['q'] is"),
        (
            lambda: calipers.evaluate([{"query": "q", "retrieved": np.int64(1), **TRUTH}]),
            "data[0].retrieved: np.int64(1) is no list of results",
        ),
        (
            lambda: calipers.evaluate(
                [{"query": "q", "retrieved": ["a"], "ground_truth": np.float64(1)}]
            ),
            "data[0].ground_truth: found float",
        ),
        (
            lambda: calipers.evaluate(
                [{"query": "q", "retrieved": np.array(1), "ground_truth": ["a"]}]
            ),
            "a ndarray that holds no list of results",
        ),
        (
            lambda: calipers.evaluate(
                run={"q": {"_shards": {"total": 3, "failed": 1}, "hits": {"hits": [{"_id": "a"}]}}},
                ground_truth=TRUTH,
            ),
            "The answer at run['q'].retrieved lacks results: 1 of 3 shards failed; ask again.",
        ),
        (lambda: calipers.recall_at_k(np.array(1), ["a"], k=1), "retrieved is not a list"),
        (lambda: calipers.recall_at_k(np.int64(1), ["a"], k=1), "retrieved is not a list"),  # type: ignore[arg-type]
        (lambda: calipers.Run.from_frame(pd.Series(["a"])), "The results are a Series"),
        (lambda: calipers.GroundTruth.from_targets(frame()), "The targets are a DataFrame"),
        (
            lambda: calipers.evaluate(ground_truth=TRUTH, run=TRUTH).save_chart(np.int64(1)),  # type: ignore[arg-type]
            "A chart is written to a path",
        ),
    ],
)
def test_a_value_that_does_not_belong_gets_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        call()
    assert words in str(refused.value)


def test_a_table_that_a_retriever_returns_is_its_rows() -> None:
    table = pd.DataFrame({"id": ["a", "b"], "score": [2.0, 1.0]})
    for answer in (table, calipers.evaluate(ground_truth=TRUTH, run=TRUTH).to_polars()[:0]):
        try:
            run = calipers.retrieve(lambda query, k, answer=answer: answer, ["q"])
        except RetrieverFailed as nothing:
            assert "no result" in str(nothing)  # noqa: PT017 - the table without rows
        else:
            assert run.frame["item"].to_list() == ["a", "b"]


def test_an_array_without_a_dimension_is_a_bad_answer() -> None:
    one: Any = {"q": np.array("a")}
    assert (
        calipers.evaluate(run=one, ground_truth={"q": ["a"]}, metrics="recall@1")["recall@1"].mean
        == 1
    )
    with pytest.raises(RetrieverFailed, match=r"bad answer: .* a ndarray that holds no list"):
        calipers.retrieve(lambda query, k: np.array(3), ["q"])


def test_methods_of_results_refuse_what_they_do_not_know() -> None:
    records = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]
    with pytest.raises(InvalidInput, match="rbo and overlap"):
        calipers.diff(records, records).mean("changed")
