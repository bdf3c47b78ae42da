"""Files of tools: what every fixture holds, further shapes of each tool, and what is refused.

``tests/data/formats_read.json`` says what should be read of each fixture.
"""

import json
from typing import Any

import polars as pl
import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.formats.elastic import wording
from calipers.io.load import load
from tests.command import refused
from tests.contracts.test_readers import ROLES
from tests.io.formats.expect import FIXTURES, put, results, targets, texts

READ = json.loads((FIXTURES.parent / "formats_read.json").read_text())
TABLES = FIXTURES.parent / "tables"
GIL, LIST = "What is the GIL?", "What is a list?"


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_a_fixture_holds_what_it_says(name):
    path, role = FIXTURES / name, ROLES.get(name.split(".")[0], "both")
    found, meant = load(path, role), READ[name]
    assert (found.ground_truth is None, found.run is None) == (
        "targets" not in meant,
        "results" not in meant,
    )
    if found.ground_truth is not None:
        assert targets(path, role) == meant["targets"]
        assert role != "both" or texts(path, role) == meant["texts"]
        tags = {tag: values.to_list() for tag, values in found.ground_truth.tags.items()}
        assert tags == meant.get("tags", {})
    if found.run is not None:
        assert results(path, role) == meant["results"]
    if "asked" in meant:
        asked = found.run.queries.select("query", "latency_ms", "error").rows()
        assert [list(one) for one in asked] == meant["asked"]


def held(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows]


ROW = {"query": "q", "retrieval_gt": [["a"]]}
LEXICAL = {"retrieved_ids_lexical": ["c2", "c1"], "retrieve_scores_lexical": [2.0, 1.0]}
SEMANTIC = {"retrieved_ids_semantic": ["c1"], "retrieved_contents_semantic": ["It is."]}
WHOLE = json.loads((FIXTURES / "opensearch_judgements.json").read_text())
MEANT = held(READ["opensearch_judgements.json"]["targets"])
NODES = json.loads((FIXTURES / "llama_index.json").read_text())
PAIRED = {"reference_contexts": ["one text"], "reference_context_ids": ["c1", 7]}
TARGETS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "autorag: alternatives": (
        [{**ROW, "retrieval_gt": ["d1", 2]}],
        [("q", "d1", "1"), ("q", "2", "1")],
    ),
    "llama_index: a dictionary": (NODES, held(READ["llama_index.json"]["targets"])),
    "opensearch: in memory": (WHOLE, MEANT),
    "quepid: ratings": (
        TABLES / "quepid_ratings.json",
        [("star wars", 3.0, "d1"), ("star wars", 0.0, "d2"), ("star trek", "d9")],
    ),
    "quepid: what was judged of an export": (
        TABLES / "quepid_export.csv",
        [("star wars", 3.0, "d1"), ("star trek", 0.0, "d9"), ("star trek", 2.0, "d8")],
    ),
    "langsmith: documents": (
        [
            {
                "inputs": {"asked": "q"},
                "outputs": {"documents": [{"page_content": "A.", "metadata": {"source": "b"}}]},
            }
        ],
        [("q", "A.", "b")],
    ),
}
RESULTS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "autorag: ids, texts and scores": (
        [
            {
                **ROW,
                "retrieved_ids": ["a", "b"],
                "retrieved_contents": ["x", "y"],
                "retrieve_scores": [0.5, 0.25],
            }
        ],
        [("q", "a", 0.5, "x"), ("q", "b", 0.25, "y")],
    ),
    "autorag: lexical": ([{**ROW, **LEXICAL}], [("q", "c2", 2.0), ("q", "c1", 1.0)]),
    "autorag: semantic": ([{**ROW, **SEMANTIC}], [("q", "c1", "It is.")]),
    "quepid: positions of an export": (
        TABLES / "quepid_export.csv",
        [
            ("star wars", "d1", "A New Hope"),
            ("star wars", "d2", "The Clone Wars"),
            ("star trek", "d9", "The Motion Picture"),
        ],
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_of_other_shapes(name):
    value, meant = TARGETS[name]
    assert held(targets(value)) == meant


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_other_shapes(name):
    value, meant = RESULTS[name]
    assert held(results(value)) == meant


def test_a_folder_of_autorag_with_its_questions(tmp_path):
    rows = {"qid": ["q1"], "query": ["text"], "retrieval_gt": [[["d1"]]], "generation_gt": [["a"]]}
    pl.DataFrame(rows).write_parquet(tmp_path / "qa.parquet")
    assert targets(tmp_path) == [{"query": "q1", "item": "d1"}]


def test_an_item_that_is_an_alternative_twice_serves_both_lists():
    row = {"query": "q", "retrieval_gt": [["a", "b"], ["a", "c"]]}
    assert len(targets([row])) == 4
    found = evaluate([{**row, "retrieved_ids": ["a"]}], metrics="recall@1,full_recall@1")
    assert [found["recall@1"].mean, found["full_recall@1"].mean] == [1.0, 1.0]


def test_results_of_both_kinds_are_stages_of_the_list_that_was_made_of_them(tmp_path, monkeypatch):
    found = load([{**ROW, **LEXICAL, **SEMANTIC, "retrieved_ids": ["c9", "c1"]}], "both").run
    assert found.frame["item"].to_list() == ["c9", "c1"]
    assert {name: run.frame["item"].to_list() for name, run in found.stages.items()} == {
        "lexical": ["c2", "c1"],
        "semantic": ["c1"],
    }
    monkeypatch.chdir(tmp_path)
    row = {**ROW, "retrieval_gt": [["c1"]], **LEXICAL, **SEMANTIC}
    pl.DataFrame([row]).write_parquet("best.parquet")
    assert "two lists of results at best.parquet, row 1" in refused("eval", "best.parquet")
    for kind, mrr in (("lexical", 0.5), ("semantic", 1.0)):
        said = {"retrieved": f"retrieved_ids_{kind}"}
        assert evaluate("best.parquet", columns=said, metrics="mrr")["mrr"].mean == mrr


def test_a_quepid_book_that_pools_several_searches_and_a_snapshot(tmp_path):
    book = json.loads((FIXTURES / "quepid_book.json").read_text())
    pooled = [*book, {"query_text": "star trek", "doc_id": "d8", "position": 1, "judgements": []}]
    for rows in (pooled, [{**book[0], "position": None}, *book[1:]]):
        assert load(rows, "both").run is None
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title"
    path = put(tmp_path, "snapshot.csv", f"{header}\nMay,2026-05-01,8,star wars,d1,1,A\n")
    assert [one["item"] for one in results(path)] == ["d1"]
    assert load(path, "both").ground_truth is None
    export = evaluate(TABLES / "quepid_export.csv", metrics="recall@5,judged@2")
    assert export["recall@5"].mean == 0.5


def test_a_dataset_saved_to_disk_with_one_split(tmp_path):
    rows = [{"user_input": "q", "retrieved_contexts": ["a", "b"], "reference_contexts": ["b"]}]
    folder = tmp_path / "train"
    folder.mkdir()
    pl.DataFrame(rows).write_ipc_stream(folder / "data-00000-of-00001.arrow")
    put(folder, "state.json", {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]})
    put(tmp_path, "dataset_dict.json", {"splits": ["train"]})
    assert targets(tmp_path) == targets(folder) == [{"query": "q", "quote": "b"}]
    assert [row["text"] for row in results(tmp_path)] == ["a", "b"]


def test_of_references_that_cannot_be_paired_the_kind_of_the_results_is_taken():
    by_id = [{"user_input": "a", "retrieved_context_ids": ["c1"], **PAIRED}]
    assert load(by_id, "both").ground_truth.kinds == {"item"}
    by_text = [{"user_input": q, "retrieved_contexts": ["one text"], **PAIRED} for q in "ab"]
    assert load(by_text, "both").ground_truth.kinds == {"quote"}


@pytest.mark.parametrize("answers", [{"ground_truth": "a"}, {"ground_truths": ["a"]}])
def test_an_answer_is_not_taken_for_what_should_be_found(tmp_path, answers):
    path = put(tmp_path, "a.json", [{"question": "q", "contexts": ["c"], "answer": "b", **answers}])
    why = "'ground_truth' of ragas is an answer in words, not what should be found"
    ways: list[dict[str, Any]] = [{"data": path}, {"ground_truth": path, "run": path}]
    for given in ways:
        with pytest.raises(
            InvalidInput, match=rf"only results \(.*\): {why}; give one with .*ground_truth="
        ):
            evaluate(**given)
    examples = [{"inputs": {"question": "Who?"}, "outputs": {"answer": "Nobody."}}]
    with pytest.raises(InvalidInput, match="an answer is not what a retriever returns"):
        evaluate(ground_truth=put(tmp_path, "b.json", examples), run={"Who?": ["a"]})


@pytest.mark.parametrize(
    ("truth", "run", "metric", "value"),
    [
        ("ragas_test_set.jsonl", "ragas_old.jsonl", "recall@1", 0.5),
        ("langsmith_examples.jsonl", "langsmith.jsonl", "recall@5", 0.5),
    ],
)
def test_two_files_of_a_tool_are_measured_together(truth, run, metric, value):
    scores = evaluate(ground_truth=FIXTURES / truth, run=FIXTURES / run, metrics=metric)
    assert scores[metric].mean == value


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"query": {"match": {"title": "red"}}}, "red"),
        ({"query": {"match": {"title": {"query": "red", "operator": "and"}}}}, "red"),
        ({"query": {"multi_match": {"query": "red", "fields": ["a", "b"]}}}, "red"),
        ({"query": {"bool": {"must": [{"match": {"a": "red"}}, {"match": {"b": "blue"}}]}}}, None),
        ({"query": {"match_all": {}}}, None),
        (None, None),
    ],
)
def test_the_wording_is_known_where_there_is_one(body, text):
    assert wording(body) == text
