import polars as pl
import pytest

import calipers
from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.command import refused
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


ROW = {"qid": "1", "query": "Who?", "retrieval_gt": [["c1"]]}
LEXICAL = {"retrieved_ids_lexical": ["c2", "c1"], "retrieve_scores_lexical": [2.0, 1.0]}
SEMANTIC = {"retrieved_ids_semantic": ["c1"], "retrieved_contents_semantic": ["It is."]}


def test_results_of_one_kind():
    assert [one["item"] for one in results([{**ROW, **LEXICAL}])] == ["c2", "c1"]
    assert results([{**ROW, **SEMANTIC}]) == [{"query": "1", "item": "c1", "text": "It is."}]


def test_results_of_both_kinds_are_stages_of_the_list_that_was_made_of_them():
    found = load([{**ROW, **LEXICAL, **SEMANTIC, "retrieved_ids": ["c9", "c1"]}], "both").run
    assert found.frame["item"].to_list() == ["c9", "c1"]
    assert {name: run.frame["item"].to_list() for name, run in found.stages.items()} == {
        "lexical": ["c2", "c1"],
        "semantic": ["c1"],
    }


def test_two_kinds_without_one_list_are_not_guessed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame([{**ROW, **LEXICAL, **SEMANTIC}]).write_parquet("best.parquet")
    assert "two lists of results at best.parquet, row 1" in refused("eval", "best.parquet")
    for kind, mrr in (("lexical", 0.5), ("semantic", 1.0)):
        said = {"retrieved": f"retrieved_ids_{kind}"}
        assert evaluate("best.parquet", columns=said, metrics="mrr")["mrr"].mean == mrr
