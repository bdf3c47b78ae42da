import json

import pandas as pd
import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.load import load

ROWS = [
    {"question": "How?", "contexts": ["one", "two"], "answer": "x"},
    {"question": "When?", "contexts": ["three"], "answer": "y"},
]


LONG = {
    "run": pd.DataFrame({"query": ["q", "q", "r"], "item": list("abc"), "score": [3.0, 2.0, 1.0]}),
    "ground_truth": pd.DataFrame({"query": ["q", "r"], "item": ["b", "c"], "grade": [1, 2]}),
}
ORIENTS = ["columns", "split", "records", "index", "table"]


@pytest.mark.parametrize("orient", ORIENTS)
def test_long_tables_of_pandas_are_read_however_they_are_written(orient, tmp_path):
    paths = {}
    for role, frame in LONG.items():
        paths[role] = tmp_path / f"{role}.json"
        frame.to_json(paths[role], orient=orient)
    scores = evaluate(paths["run"], ground_truth=paths["ground_truth"], metrics="mrr")
    assert scores.per_query["mrr"].to_list() == [0.5, 1.0]


@pytest.mark.parametrize("orient", ["index", "columns"])
def test_labels_of_rows_that_are_no_numbers_are_ids(orient, tmp_path):
    path = tmp_path / "data.json"
    rows = [
        {"question": "How?", "retrieved": ["a", "b"]},
        {"question": "When?", "retrieved": ["c"]},
    ]
    pd.DataFrame(rows, index=["q1", "q2"]).to_json(path, orient=orient)
    run = load(path, "run").run
    assert run is not None
    assert run.frame.select("query", "item").rows() == [("q1", "a"), ("q1", "b"), ("q2", "c")]


def test_rows_without_names_are_named_for_what_they_are(tmp_path):
    path = tmp_path / "data.json"
    pd.DataFrame(ROWS).to_json(path, orient="values")
    with pytest.raises(UnreadableFile, match=r"list of lists.*orient='records'"):
        load(path, "run")


def test_a_mapping_of_queries_may_have_an_item_called_query():
    value = {"q1": {"query": 1.0, "b": 2.0}, "q2": {"query": 1.0, "b": 2.0}}
    assert evaluate(value, ground_truth=value, metrics="recall@2")["recall@2"].mean == 1


@pytest.mark.parametrize("orient", ORIENTS)
def test_what_pandas_writes_is_a_table(orient, tmp_path):
    path = tmp_path / "data.json"
    pd.DataFrame(ROWS).to_json(path, orient=orient)
    run = load(path, "run").run
    assert run is not None
    assert run.frame.select("query", "text").rows() == [
        ("How?", "one"),
        ("How?", "two"),
        ("When?", "three"),
    ]


@pytest.mark.parametrize("where", ["file", "memory"])
def test_columns_of_one_object_are_no_queries(where, tmp_path):
    value = {"question": ["How?", "When?"], "expected_ids": [["a", "b"], ["c"]]}
    path = tmp_path / "data.json"
    path.write_text(json.dumps(value))
    truth = load(value if where == "memory" else path, "ground_truth").ground_truth
    assert truth is not None
    assert truth.targets.select("query", "item").rows() == [
        ("How?", "a"),
        ("How?", "b"),
        ("When?", "c"),
    ]


def test_columns_of_different_length_are_refused():
    value = {"question": ["How?", "When?"], "chunk_id": ["a"]}
    with pytest.raises(InvalidInput, match="different length: question has 2, chunk_id has 1"):
        load(value, "ground_truth")


def test_a_mapping_of_queries_stays_one():
    value = {"q1": ["a", "b"], "q2": ["c", "d"]}
    assert evaluate(value, ground_truth=value, metrics="recall@2")["recall@2"].mean == 1


def test_flat_records_are_a_table(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps([{"query": "q", "item": "a", "score": 1.0}]))
    run = load(path, "run").run
    assert run is not None
    assert run.frame["item"].to_list() == ["a"]
    assert load([{"query": "q", "item": "a", "grade": 1}], "both").ground_truth is not None


def test_the_parquet_of_ranx(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1, 2]}).to_parquet(path)
    run, truth = load(path, "run").run, load(path, "ground_truth").ground_truth
    assert run is not None
    assert truth is not None
    assert run.frame["item"].to_list() == ["b", "a"]
    assert truth.targets["grade"].to_list() == [1.0, 2.0]
    with pytest.raises(InvalidInput, match="could be two forms: ranx"):
        load(path, "both")
