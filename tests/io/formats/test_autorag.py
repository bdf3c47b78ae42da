import polars as pl
import pytest

import calipers
from calipers.errors import InvalidInput
from tests.io.formats.expect import FIXTURES, results, targets, texts


def test_alternatives_share_a_group_and_lists_are_all_needed():
    path = FIXTURES / "autorag.jsonl"
    assert targets(path) == [
        {"query": "q1", "item": "d1", "group": "1"},
        {"query": "q1", "item": "d2", "group": "1"},
        {"query": "q1", "item": "d3"},
        {"query": "q2", "item": "d4"},
    ]
    assert list(texts(path)) == ["q1", "q2", "q3"]


def test_a_folder_with_its_questions(tmp_path):
    rows = {"qid": ["q1"], "query": ["text"], "retrieval_gt": [[["d1"]]], "generation_gt": [["a"]]}
    pl.DataFrame(rows).write_parquet(tmp_path / "qa.parquet")
    assert targets(tmp_path) == [{"query": "q1", "item": "d1"}]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("d1", [{"query": "q", "item": "d1"}]),
        (
            ["d1", 2],
            [{"query": "q", "item": "d1", "group": "1"}, {"query": "q", "item": "2", "group": "1"}],
        ),
        ([[]], []),
    ],
)
def test_shorter_forms(given, expected):
    assert targets([{"query": "q", "retrieval_gt": given}]) == expected


def test_what_it_retrieved_stands_beside():
    row = {
        "query": "q",
        "retrieval_gt": [["a"]],
        "retrieved_ids": ["a", "b"],
        "retrieved_contents": ["x", "y"],
        "retrieve_scores": [0.5, 0.25],
    }
    assert results([row]) == [
        {"query": "q", "item": "a", "score": 0.5, "text": "x"},
        {"query": "q", "item": "b", "score": 0.25, "text": "y"},
    ]
    with pytest.raises(InvalidInput, match="1 scores for 2 results"):
        results([{**row, "retrieve_scores": [0.5]}])


def test_an_item_that_is_an_alternative_twice_serves_both_lists():
    row = {"query": "q", "retrieval_gt": [["a", "b"], ["a", "c"]]}
    assert len(targets([row])) == 4
    found = calipers.evaluate([{**row, "retrieved_ids": ["a"]}], metrics="recall@1,full_recall@1")
    assert [found["recall@1"].mean, found["full_recall@1"].mean] == [1.0, 1.0]


@pytest.mark.parametrize("given", [7, [["a"], "b"], [[["a"]]], {"a": 1}])
def test_anything_else_is_an_error(given):
    with pytest.raises(InvalidInput, match="a list of lists of ids"):
        targets([{"query": "q", "retrieval_gt": given}])
