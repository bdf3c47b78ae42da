"""Exports of other tools: parts found by names and values, tried before they count."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import calipers
from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import put, results, targets

GIL = "What is the GIL?"


def mrr(data, **settings) -> float:
    return evaluate(data, metrics="mrr", **settings)["mrr"].mean


def test_reference_outputs_are_wanted_and_outputs_came_back() -> None:
    """Swapped, recall would be 0.333 without a warning."""
    rows = [
        {"inputs.question": GIL, "reference_outputs.doc_ids": ["a"], "outputs.doc_ids": ["x", "a"]},
        {"inputs.question": "Who?", "reference_outputs.doc_ids": ["b"], "outputs.doc_ids": ["b"]},
    ]
    assert mrr(rows) == 0.75
    nested = [
        {
            "inputs": {"question": row["inputs.question"]},
            "reference_outputs": {"doc_ids": row["reference_outputs.doc_ids"]},
            "outputs": {"doc_ids": row["outputs.doc_ids"]},
        }
        for row in rows
    ]
    assert mrr(nested) == 0.75
    note = load(nested, "both").ground_truth.notes[0]
    assert note.startswith("query ← inputs.question, results ← outputs.doc_ids, targets ←")
    assert note.endswith(f'"{GIL}": should find a; returned x, a.')


@pytest.mark.parametrize("wanted", ["expected_retrieved_context", "expected_docs", "gold_sources"])
@pytest.mark.parametrize("returned", ["retrieved_context", "actual_docs", "outputs.sources"])
def test_what_is_expected_is_wanted_in_any_order_of_fields(wanted, returned) -> None:
    row = {"question": GIL, wanted: ["a"], returned: ["x", "a"]}
    assert mrr([row]) == mrr([dict(reversed(row.items()))]) == 0.5


def test_an_experiment_in_a_table_of_structs_is_the_same() -> None:
    rows = [
        {"inputs": {"q": GIL}, "outputs": {"ids": ["x", "a"]}, "reference_outputs": {"ids": ["a"]}},
        {"inputs": {"q": "Who?"}, "outputs": {"ids": ["b"]}, "reference_outputs": {"ids": ["b"]}},
    ]
    frame = pl.DataFrame(rows)
    as_text = [{key: json.dumps(value) for key, value in row.items()} for row in rows]
    assert mrr(rows) == mrr(frame) == mrr(frame.to_pandas()) == mrr(as_text) == 0.75


def test_one_answer_alone_is_one_record(tmp_path) -> None:
    answer = {"query": GIL, "hits": {"hits": [{"_id": "x"}, {"_id": "a"}]}, "relevant": ["a"]}
    assert mrr(put(tmp_path, "one.json", answer)) == 0.5


def test_records_inside_of_other_objects_are_found(tmp_path) -> None:
    row = {"vars": {"query": GIL, "gold": ["a"]}, "response": {"output": {"docs": ["x", "a"]}}}
    path = put(tmp_path, "promptfoo.json", {"evalId": 1, "results": {"results": [row, row | {}]}})
    with pytest.raises(InvalidInput, match=r"Two records .* \$\.results\.results\[0\] and"):
        mrr(path)
    assert mrr(put(tmp_path, "one.json", {"results": {"results": [row]}})) == 0.5


@pytest.mark.parametrize("columns", [["question", "retrieved_ids", "expected_ids"]])
def test_columns_and_rows_are_records(columns, tmp_path) -> None:
    table = {"columns": columns, "index": [0], "data": [[GIL, ["x", "a"], ["a"]]]}
    assert mrr(put(tmp_path, "wandb.json", table)) == 0.5


def test_records_by_number_are_records(tmp_path) -> None:
    rows = {"0": {"question": GIL, "retrieved_ids": ["x", "a"], "expected_ids": ["a"]}}
    assert mrr(put(tmp_path, "index.json", rows)) == 0.5
    assert results({"0": {"a": 0.5}}, "run") == [{"query": "0", "item": "a", "score": 0.5}]


def test_facts_and_answers_are_not_what_should_be_found() -> None:
    """An evaluation of Databricks: facts that the answer should hold stand beside the context."""
    row = {
        "request": GIL,
        "expected_facts": ["It is a lock."],
        "expected_output": ["It is a lock, they say."],
        "retrieved_context": [{"doc_uri": "x", "content": "One."}, {"doc_uri": "a"}],
        "expected_retrieved_context": [{"doc_uri": "a"}],
    }
    assert targets([row]) == [{"query": GIL, "item": "a"}]
    nested = {
        "inputs": {"question": GIL},
        "outputs": {"retrieved_context": row["retrieved_context"]},
        "expectations": {
            "expected_retrieved_context": [{"doc_uri": "a"}],
            "expected_facts": ["F."],
        },
    }
    assert mrr([nested]) == 0.5


def test_targets_that_meet_the_results_come_first() -> None:
    row = {"query": GIL, "gold_authors": ["Bo"], "expected_docs": ["a"], "matches": ["x", "a"]}
    assert mrr([row]) == 0.5


def test_vespa_leaves_the_list_out_where_nothing_was_found() -> None:
    empty = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}
    full = {**empty, "children": [{"id": "a", "relevance": 0.4, "fields": {}}]}
    rows = [
        {"question": GIL, "root": empty, "expected": ["a"]},
        {"question": "Who?", "root": full, "expected": ["a"]},
    ]
    assert mrr(rows) == mrr(rows[::-1]) == 0.5


def test_one_part_alone_is_left_to_those_who_propose_the_other() -> None:
    row = {"question": GIL, "citations": ["x", "a"], "expected_ids": ["a"]}
    with pytest.raises(InvalidInput, match='"retrieved": "citations"'):
        mrr([row])


def test_the_id_of_a_question_counts_where_the_question_stands_beside_it() -> None:
    row = {"query_id": "q1", "query": GIL, "matches": [{"id": "x"}, {"id": "a"}]}
    run = evaluate(run=[row], ground_truth={"q1": ["a"]}, metrics="mrr")
    assert run["mrr"].mean == 0.5
    without_text = {"query_id": "q1", "matches": [{"id": "x"}, {"id": "a"}]}
    assert results([without_text], "run")[0] == {"query": "q1", "item": "x"}


def test_two_lists_of_results_are_refused_with_a_line_for_each() -> None:
    row = {"query": GIL, "matches": ["x", "a"], "documents": ["a", "x"], "expected_ids": ["a"]}
    with pytest.raises(InvalidInput) as refusal:
        load([row], "both")
    for name, value in (("matches", 0.5), ("documents", 1.0)):
        assert f'columns={{"retrieved": "{name}"}}' in str(refusal.value)
        assert mrr([row], columns={"retrieved": name}) == value


def test_the_user_says_one_part_and_the_other_is_found() -> None:
    row = {
        "inputs": {"question": GIL},
        "outputs": {"first": ["x", "a"], "second": ["a", "x"]},
        "reference_outputs": {"ids": ["a"]},
    }
    with pytest.raises(InvalidInput, match="list results twice"):
        load([row], "both")
    assert mrr([row], columns={"retrieved": "outputs.first"}) == 0.5
    assert mrr([row], columns={"retrieved": "outputs.second"}) == 1.0


def test_ids_beside_their_texts_are_one_list() -> None:
    row = {"query": GIL, "ids": [["x", "a"]], "documents": [["The x.", "The a."]]}
    assert [one["item"] for one in results([row], "run")] == ["x", "a"]


def test_the_outputs_of_a_dataset_are_what_should_be_found() -> None:
    example = {"inputs": {"question": GIL}, "outputs": {"expected_ids": ["a"], "answer": "A lock."}}
    assert targets([example]) == [{"query": GIL, "item": "a"}]


@pytest.mark.parametrize(
    "row",
    [
        {"query": GIL, "scores": [0.5, 0.2], "expected_ids": ["a"]},
        {"query": GIL, "outputs": {"answer": "A lock."}, "expected_ids": ["a"]},
        {"query": GIL, "usage": {"tokens": 5}, "expected_ids": ["a"]},
    ],
)
def test_what_is_no_list_of_results_is_none(row) -> None:
    with pytest.raises(InvalidInput, match="has no results, only a ground truth"):
        mrr([row])


def test_predictions_of_several_splits_are_refused_by_name(tmp_path) -> None:
    scores = {"q1": {"a": 0.5}}
    path = put(tmp_path, "mteb.json", {"default": {"test": scores, "dev": scores}})
    with pytest.raises(InvalidInput, match=r"several splits: default\.test, default\.dev"):
        load(path, "run")
    alone = put(tmp_path, "one.json", {"a/model": {"default": {"test": scores}}})
    assert results(alone, "run") == [{"query": "q1", "item": "a", "score": 0.5}]
    with pytest.raises(InvalidInput, match="which are results; give it as --run"):
        load(alone, "both")


def test_rankings_below_the_name_of_a_system_are_read_and_several_are_named(tmp_path) -> None:
    ranking = {"q1": ["a", "b"], "q2": ["c"], "q3": []}
    alone = put(tmp_path, "one.json", {"bm25": ranking})
    assert [row["item"] for row in results(alone, "run")] == ["a", "b", "c"]
    with pytest.raises(InvalidInput, match="the rankings of bm25, which are results"):
        load(alone, "both")
    path = put(tmp_path, "two.json", {"bm25": ranking, "dense": ranking})
    with pytest.raises(InvalidInput, match="the results of several systems: bm25, dense"):
        load(path, "run")


@pytest.mark.parametrize("name", ["results", "hits", "chunks", "retrieved_ids"])
def test_an_id_beside_a_list_of_results_is_that_of_the_question(tmp_path, name):
    run = put(tmp_path, "run.jsonl", [{"id": "q1", name: ["x", "a"]}])
    relevant = {"q1": ["a"], "q2": ["b"]}
    records = [{"id": query, "relevant": ids} for query, ids in relevant.items()]
    truth = put(tmp_path, "truth.jsonl", records)
    result = evaluate(run=run, ground_truth=truth, metrics="mrr")
    assert result["mrr"].mean == 0.25


ASKED = {"how to reset": ["a", "b"], "where is it": ["d"]}
TRUTH = {"how to reset": ["b"], "where is it": ["d"]}


def neighbours(named: bool) -> list[dict[str, Any]]:
    """Rows of a vector search in BigQuery, the worst first."""
    return [
        {
            "query": {"question": query, "embedding": [0.1]} if named else query,
            "base": {"id": item, "content": f"Text of {item}."},
            "distance": 0.1 * rank,
        }
        for query, items in ASKED.items()
        for rank, item in reversed([*enumerate(items, 1)])
    ]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet"])
@pytest.mark.parametrize("named", [True, False])
def test_rows_of_a_vector_search_in_bigquery(named: bool, ending: str, tmp_path: Path) -> None:
    rows = neighbours(named)
    path = tmp_path / f"rows{ending}"
    if ending == ".parquet":
        pl.DataFrame(rows).write_parquet(path)
    elif ending == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = calipers.evaluate(ground_truth=TRUTH, run=path, metrics="mrr")
    assert scores["mrr"].mean == 0.75
    assert "the smallest comes first" in " ".join(scores.settings["notes"])


def test_an_answer_of_rank_eval_is_results_that_were_judged() -> None:
    def hit(name: str, rating: int | None) -> dict[str, Any]:
        return {"hit": {"_index": "kb", "_id": name, "_score": 1.0}, "rating": rating}

    details = {
        "how to reset": {"metric_score": 0.5, "hits": [hit("a", None), hit("b", 1)]},
        "where is it": {"metric_score": 0.0, "hits": [hit("d", 0)]},
    }
    answer: Any = {"metric_score": 0.25, "details": details, "failures": {}}
    scores = calipers.evaluate(answer)
    assert scores["mrr"].mean == 0.25
    assert {metric.kind for metric in scores.metrics} == {"precision", "hit_rate", "mrr"}
    by_truth = calipers.evaluate(ground_truth=TRUTH, run=answer, metrics="recall@2")
    assert by_truth["recall@2"].mean == 1.0


ANSWER = {"took": 3, "hits": {"total": {"value": 1}, "hits": [{"_id": "a", "_score": 1.0}]}}


@pytest.mark.parametrize("answer", [ANSWER, {"took": 1, "responses": [ANSWER, ANSWER]}, [ANSWER]])
@pytest.mark.parametrize("role", ["both", "run"])
def test_answers_without_their_questions_are_called_that(answer: Any, role: str) -> None:
    given = {"data": answer} if role == "both" else {"run": answer, "ground_truth": TRUTH}
    with pytest.raises(InvalidInput, match=r'without (its|their) question.*"query": "…"'):
        calipers.evaluate(**given)
    beside = [{"query": query, "response": ANSWER} for query in TRUTH]
    wanted = {query: ["a"] for query in TRUTH}
    scores = calipers.evaluate(ground_truth=wanted, run=beside, metrics="recall@1")
    assert scores["recall@1"].mean == 1.0


def test_an_id_in_each_row_is_proposed_in_json_as_in_a_table(tmp_path: Path) -> None:
    rows = [
        {"query_text": query, "id": item, "distance": 0.1 * rank}
        for query, items in ASKED.items()
        for rank, item in enumerate(items, 1)
    ]
    with pytest.raises(InvalidInput, match='"item": "id", "distance": "distance"'):
        calipers.evaluate(ground_truth=TRUTH, run=rows)
    said = {"item": "id", "distance": "distance"}
    scores = calipers.evaluate(ground_truth=TRUTH, run=rows, columns=said, metrics="mrr")
    assert scores["mrr"].mean == 0.75


def test_an_object_with_a_record_under_each_question() -> None:
    records = {
        "Who?": {"retrieved": ["x", "a"], "relevant": ["a"]},
        "Where?": {"retrieved": ["b"], "relevant": ["b"]},
    }
    assert mrr(records) == 0.75


def test_names_that_nobody_knows_are_proposed_with_both_parts() -> None:
    rows = [
        {"q": "Who is it?", "pred": ["x", "a"], "gt": ["a"]},
        {"q": GIL, "pred": ["b"], "gt": ["b"]},
    ]
    said = {"query": "q", "item": "gt", "retrieved": "pred"}
    with pytest.raises(InvalidInput) as caught:
        mrr(rows)
    assert json.dumps(said) in str(caught.value).splitlines()[0]
    assert mrr(rows, columns=said) == 0.75


def test_rows_with_an_id_that_two_questions_share() -> None:
    rows = [
        {"query_text": query, "id": item, "distance": number}
        for query, item, number in (("Who?", "a", 0.2), ("Who?", "x", 0.1), ("Where?", "a", 0.1))
    ]
    truth = {"Who?": ["a"], "Where?": ["a"]}
    with pytest.raises(InvalidInput, match='"item": "id", "distance": "distance"'):
        calipers.evaluate(ground_truth=truth, run=rows)


WHO = "Who signs it?"
HITS = [{"id": "b", "score": "2.5"}, {"id": "a", "score": "1.5"}]
READ_AT_ONCE: dict[str, Any] = {
    "columns": {"question": [WHO], "expected_ids": [["a"]], "retrieved_ids": [["b", "a"]]},
    "by id": {
        name: {"question": f"{WHO} {name}", "relevant": ["a"], "retrieved": ["b", "a"]}
        for name in ("q1", "q2")
    },
    "edges": {"data": {"edges": [{"node": {"question": WHO, "gold_ids": ["a"], "results": HITS}}]}},
    "pairs": [{"query": WHO, "retrieved": HITS, "ground_truth": [["a", 2], ["b", 0]]}],
    "judged": [
        {"question": WHO, "ctxs": [{**HITS[0], "has_answer": False}]}
        | {"ctxs": [{**one, "has_answer": one["id"] == "a"} for one in HITS]}
    ],
    "neighbors": [
        {
            "query": WHO,
            "expected_ids": ["a"],
            "nearestNeighbors": [{"id": "0", "neighbors": HITS}],
        }
    ],
}


@pytest.mark.parametrize("name", READ_AT_ONCE)
def test_records_in_another_shape_are_read_at_once(name, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(READ_AT_ONCE[name]))
    for given in (path, READ_AT_ONCE[name]):
        assert evaluate(given, metrics="mrr")["mrr"].mean == 0.5


READ_WITH_A_LINE: dict[str, dict[str, Any]] = {
    "truth": {"text": WHO, "truth": ["a"], "hits": ["b", "a"]},
    "nested": {"item": {"question": WHO, "files": ["a"]}, "sample": {"hits": ["b", "a"]}},
    "wrapped": {
        "query": {"content": WHO},
        "pieces": [{"piece": {"id": name}} for name in "ba"],
        "expected_ids": ["a"],
    },
    "search": {"search": WHO, "hits": [{"document": one} for one in HITS], "gold": ["a"]},
}


@pytest.mark.parametrize("name", READ_WITH_A_LINE)
@pytest.mark.parametrize("key", [None, "samples"])
def test_records_of_unknown_names_are_read_with_the_first_line(name, key, tmp_path):
    records = [READ_WITH_A_LINE[name], {**READ_WITH_A_LINE[name]}]
    records[1] = json.loads(json.dumps(records[1]).replace(WHO, "Who pays for it now?"))
    path = tmp_path / "export.json"
    path.write_text(json.dumps(records if key is None else {key: records}))
    with pytest.raises(InvalidInput, match="columns=") as caught:
        evaluate(path)
    said = json.loads(str(caught.value).partition("columns=")[2].partition("}")[0] + "}")
    assert evaluate(path, columns=said, metrics="mrr")["mrr"].mean == 0.5


def test_traces_of_mlflow_and_a_span_called_retrieval_are_read():
    named = {"query": WHO}
    spans = [
        {"attributes": {"mlflow.spanType": '"CHAIN"', "mlflow.spanInputs": json.dumps(named)}},
        {
            "attributes": {
                "mlflow.spanType": '"RETRIEVER"',
                "mlflow.spanInputs": json.dumps(named),
                "mlflow.spanOutputs": json.dumps(HITS),
            }
        },
    ]
    span = {"traceId": "t", "type": "SPAN", "name": "retrieval", "startTime": None}
    langfuse = {**span, "input": named, "output": {"documents": HITS}}
    for log in ([{"info": {}, "data": {"spans": spans}}], [langfuse]):
        found = evaluate(ground_truth={WHO: ["a"]}, run=log, metrics="mrr")
        assert found["mrr"].mean == 0.5


def test_three_columns_given_as_a_run_hold_scores(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("q1\tb\t2.5\nq1\ta\t1.5\n")
    assert evaluate(ground_truth={"q1": ["a"]}, run=path, metrics="mrr")["mrr"].mean == 0.5
