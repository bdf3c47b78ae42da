from typing import Any

import polars as pl
import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.tables.usual_names import renaming

RUN = [("q1", "d1", 9.5), ("q1", "d2", 8.0), ("q2", "d3", 1.0)]


def run_frame():
    return pl.DataFrame(RUN, schema=["query", "item", "score"], orient="row")


def ranking(value, role="run"):
    run = load(value, role).run
    assert run is not None
    return run.frame.select("query", "item").rows()


def judgements(value, role="ground_truth"):
    truth = load(value, role).ground_truth
    assert truth is not None
    return truth.targets.select("query", "item", "grade").rows()


RANKED = [("q1", "d1"), ("q1", "d2"), ("q2", "d3")]


@pytest.mark.parametrize(
    "convert",
    [lambda f: f, lambda f: f.lazy(), lambda f: f.to_pandas(), lambda f: f.to_arrow()],
    ids=["polars", "lazy", "pandas", "arrow"],
)
def test_frames_in_memory(convert):
    assert ranking(convert(run_frame())) == RANKED


def test_a_table_without_scores_is_what_the_caller_says(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("query,item\nq1,b\nq1,a\n")
    assert ranking(path) == [("q1", "b"), ("q1", "a")]
    assert judgements(path) == [("q1", "b", 1.0), ("q1", "a", 1.0)]
    with pytest.raises(InvalidInput, match="is a ground truth, questions with ids"):
        load(path, "both")


def test_results_and_grades_in_one_table():
    frame = pl.DataFrame(
        {"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0], "grade": [None, 3]}
    )
    assert ranking(frame, "both") == [("q", "a"), ("q", "b")]
    assert judgements(frame, "both") == [("q", "b", 3.0)]


def test_the_text_of_a_query_beside_its_id():
    frame = pl.DataFrame(
        {"qid": [1, 2], "query": ["one?", "two?"], "docid": ["a", "b"], "rel": [1, 2]}
    )
    truth = load(frame, "ground_truth").ground_truth
    assert truth is not None
    assert truth.queries.rows() == [("1", "one?"), ("2", "two?")]
    assert renaming(["query", "question_id"]) == {"query": "query_text", "question_id": "query"}
    assert renaming(["query", "query_text"]) == {"query": "query", "query_text": "query_text"}


def test_quotes_spans_and_groups_in_a_long_table():
    targets: list[dict[str, Any]] = [
        {"item": "a", "grade": 1},
        {"quote": "some words", "grade": 2, "group": "x"},
        {"document": "d.md", "start": 3, "end": 9, "grade": 1, "group": "x"},
    ]
    frame = pl.DataFrame([{"query": "q", **one} for one in targets])
    truth = load(frame, "ground_truth").ground_truth
    assert truth is not None
    assert truth.kinds == {"item", "quote", "span"}
    assert truth.targets["group"].to_list() == [None, "x", "x"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"query,item,score\nq,a,1\nq,\xff,1\n", r"a\.csv:3:3 is not valid UTF-8 \(byte 0xff\)"),
        (b"PAR1 not really", r"a\.csv .*cannot be read"),
        (b"ARROW1\0\0 no", r"a\.csv .*cannot be read"),
        (b"\xff\xff\xff\xff no", r"a\.csv .*cannot be read"),
    ],
)
def test_bytes_that_cannot_be_read_are_named(tmp_path, content, said):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        ranking(path)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"query": ["q"], "item": [["a"]], "score": [1.0]}, r"'item' holds List\(String\)"),
        ({"query": ["q"], "item": [b"a"], "score": [1.0]}, "'item' holds Binary"),
        ({"query": ["q"], "item": ["a"], "score": [True]}, "'score' holds Boolean"),
        ({"query": ["q"], "item": ["a"], "rank": [1.5]}, "'rank' holds 1.5"),
        ({"query": ["q"], "item": ["a"], "score": ["x"]}, "'score' holds 'x'"),
        ({"query": ["q"], "item": ["a"], "grade": [float("inf")]}, "'grade' holds inf"),
    ],
)
def test_a_parquet_file_with_the_wrong_types_names_column_and_row(tmp_path, columns, said):
    path = tmp_path / "a.parquet"
    pl.DataFrame(columns).write_parquet(path)
    read = judgements if "grade" in columns else ranking
    with pytest.raises(InvalidInput, match=said) as caught:
        read(path)
    assert "a.parquet, row 1" in str(caught.value)


def test_whole_numbers_that_became_floats_are_ids_again():
    frame = pl.DataFrame({"query": [1.0, 2.0], "item": [10.0, 11.5], "grade": [1, 1]})
    assert judgements(frame) == [("1", "10.0", 1.0), ("2", "11.5", 1.0)]
