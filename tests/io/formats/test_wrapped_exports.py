"""Answers and experiments in further wraps: read at once, with the value that is meant."""

import json
from typing import Any

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, command_line
from calipers.io.load import load

WHO = "Who pays for it?"
TEXTS = {name: f"Section {name} says who pays for the case {name}." for name in "abc"}
CHAT = [{"role": "system", "content": "Help."}, {"role": "user", "content": WHO}]
FOUND = [{"id": name, "text": TEXTS[name]} for name in "ba"]

AT_ONCE = {
    "input": {"input": WHO, "results": FOUND, "expected_ids": ["a"]},
    "dify": {
        "query": {"content": WHO},
        "records": [{"segment": {"id": name, "content": TEXTS[name]}} for name in "ba"],
        "expected_ids": ["a"],
    },
    "rank_llm": {
        "query": {"text": WHO, "qid": "q7"},
        "candidates": [{"docid": name, "doc": {"contents": TEXTS[name]}} for name in "ba"],
        "expected_ids": ["a"],
    },
    "databricks": {
        "request": {"messages": CHAT},
        "retrieved_context": [{"doc_uri": name} for name in "ba"],
        "expected_retrieved_context": [{"doc_uri": "a"}],
    },
    "messages": {"messages": CHAT, "retrieved": ["b", "a"], "expected_ids": ["a"]},
    "snowflake": {
        "query": WHO,
        "results": [{"CHUNK_ID": name, "CHUNK": TEXTS[name]} for name in "ba"],
        "expected_ids": ["a"],
    },
    "kendra": {
        "question": WHO,
        "response": {"ResultItems": [{"chunkId": name} for name in "ba"]},
        "expected_ids": ["a"],
    },
    "langchain": {
        "question": WHO,
        "documents": [{"lc": 1, "id": ["langchain"], "kwargs": {"id": name}} for name in "ba"],
        "expected_ids": ["a"],
    },
    "redis": {
        "query": WHO,
        "attributes": [],
        "results": [{"id": name, "extra_attributes": {}} for name in "ba"],
        "expected_ids": ["a"],
    },
    "bedrock": {
        "question": WHO,
        "retrievalResults": [{"content": {"text": TEXTS[name]}} for name in "ba"],
        "expected_passages": [TEXTS["a"]],
    },
    "weave": {
        "raw_data_row": {"question": WHO, "expected_ids": ["a"]},
        "evaluations": [{"trials": [{"model_output": {"documents": FOUND}}]}],
    },
    "lotte": {"query": WHO, "answer_pids": ["a"], "retrieved": ["b", "a"]},
    "training": {"query": WHO, "pos": [TEXTS["a"]], "neg": [TEXTS["c"]], "retrieved": FOUND},
    "judged": {"query": WHO, "results": [{"id": n, "relevance": n == "a"} for n in "ba"]},
}


@pytest.mark.parametrize("name", AT_ONCE)
@pytest.mark.parametrize("from_file", [True, False])
def test_a_wrapped_record_is_read_at_once(name, from_file, tmp_path) -> None:
    records = [AT_ONCE[name]]
    other = json.dumps(records[0]).replace(WHO, "Who pays for it now?").replace("q7", "q8")
    records += [json.loads(other)]
    given = records
    if from_file:
        given = tmp_path / "export.json"
        given.write_text(json.dumps(records))
    assert evaluate(given, metrics="hit_rate@2,hit_rate@1").to_dict()["summaries"][0]["mean"] == 1
    assert evaluate(given, metrics="hit_rate@1")["hit_rate@1"].mean == 0
    assert load(given, "both").run.frame.height == 4


def test_the_id_beside_a_question_in_an_object_is_its_id() -> None:
    run = load([AT_ONCE["rank_llm"]], "run").run
    assert run.queries["query"].to_list() == ["q7"]
    assert run.queries["text"].to_list() == [WHO]


def test_a_call_of_weave_is_no_span() -> None:
    call = {"op_name": "retrieve", "attributes": {}, "inputs": {"question": WHO}, "output": FOUND}
    assert load([call], "run").run.frame["item"].to_list() == ["b", "a"]


def test_an_export_in_memory_is_read_as_its_file(tmp_path) -> None:
    attributes = [
        {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
        {"key": "input.value", "value": {"stringValue": WHO}},
        {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "a"}},
    ]
    spans = [{"spans": [{"name": "retrieve", "attributes": attributes}]}]
    columns = {"queries": [WHO, "When?"], "ids": [["a", "b"], ["c"]], "embeddings": None}
    for value in ({"resourceSpans": [{"scopeSpans": spans}]}, columns):
        path = tmp_path / "export.json"
        path.write_text(json.dumps(value))
        of_file, of_value = (load(one, "run").run.frame for one in (path, value))
        assert of_file.equals(of_value)


@pytest.mark.parametrize("swap", [False, True])
def test_columns_of_lists_take_the_names_that_the_user_says(tmp_path, swap) -> None:
    whole: dict[str, Any] = {
        "questions": [WHO, "When?"],
        "runs": [["b", "a"], ["c"]],
        "qrels": [["a"], ["c"]],
    }
    path = tmp_path / "columns.json"
    path.write_text(json.dumps(whole))
    said = {"ground_truth": "qrels", "retrieved": "runs"}
    if swap:
        said = {"ground_truth": "runs", "retrieved": "qrels"}
    with pytest.raises(InvalidInput) as caught, command_line():
        evaluate(path)
    line = " ".join(f"--column {ours}={theirs}" for ours, theirs in said.items())
    assert line in str(caught.value)
    assert evaluate(path, columns=said, metrics="mrr")["mrr"].mean == (1 if swap else 0.75)


def test_two_stages_of_numeric_ids_are_asked_about() -> None:
    row = {"query": WHO, "retrieved": [904, 17, 35], "reranked": [17, 904, 35]}
    with pytest.raises(InvalidInput, match="lists results twice"):
        evaluate([{**row, "ground_truth": [17]}])


@pytest.mark.parametrize("asked", ["query", "question"])
def test_keywords_beside_a_record_are_no_tags(asked) -> None:
    row = {asked: WHO, "retrieved": ["b", "a"], "ground_truth": ["a"], "tags": ["easy", "v2"]}
    assert evaluate([row], metrics="mrr")["mrr"].mean == 0.5


def test_columns_that_are_said_are_not_exchanged_twice() -> None:
    whole: dict[str, Any] = {
        "query": [WHO, "When?"],
        "retrieved": [["a"], ["c"]],
        "ground_truth": [["b", "a"], ["c"]],
    }
    said = {"ground_truth": "retrieved", "retrieved": "ground_truth"}
    assert evaluate(whole, columns=said, metrics="mrr")["mrr"].mean == 0.75


def test_people_who_disagree_about_a_record_are_named() -> None:
    fields = {"query": WHO, "doc_id": "a"}
    said = [{"value": word, "user_id": "u", "status": "submitted"} for word in ("yes", "no")]
    with pytest.raises(InvalidInput, match=r"disagree on 'rel' at .*\[0\]: 'yes', 'no'"):
        load([{"fields": fields, "responses": {"rel": said}}], "ground_truth")
    rated = [{"values": {"rel": {"value": stars}}, "status": "submitted"} for stars in (1, 2)]
    rated += [{"values": {"rel": {"value": 0}}, "status": "draft"}]
    truth = load([{"fields": fields, "responses": rated}], "ground_truth").ground_truth
    assert truth.targets["grade"].to_list() == [1.5]
    with pytest.raises(InvalidInput, match="no status here, so drafts"):
        load([{"fields": fields, "responses": {"rel": [{"value": "yes"}]}}], "ground_truth")


def test_a_list_of_what_was_asked_is_never_proposed_as_targets() -> None:
    rows = [
        {
            "question": asked,
            "search_query": [asked],
            "data": [{"file_id": name, "content": [{"type": "text", "text": TEXTS[name]}]}],
            "expected_file_ids": [name],
        }
        for asked, name in ((WHO, "a"), ("When?", "b"))
    ]
    with pytest.raises(InvalidInput) as caught:
        evaluate(rows)
    assert "search_query" not in str(caught.value)
    columns = {"ground_truth": "expected_file_ids", "retrieved": "data", "item": "file_id"}
    assert json.dumps(columns) in str(caught.value)
    assert evaluate(rows, columns=columns, metrics="recall@1")["recall@1"].mean == 1


def test_a_list_of_numbers_under_relevant_holds_ids() -> None:
    table: Any = {"columns": ["query", "results", "relevant"], "data": [[WHO, [40, 41], [41, 42]]]}
    assert evaluate(table, metrics="recall@2")["recall@2"].mean == 0.5


def test_giskard_quotes_each_document_of_its_reference() -> None:
    context = f"Document 3: {TEXTS['a']}\n\nDocument 7: {TEXTS['b']}"
    rows = [{"question": WHO, "reference_context": context, "conversation_history": []}]
    truth = load(rows, "ground_truth").ground_truth
    assert truth.targets["quote"].to_list() == [TEXTS["a"], TEXTS["b"]]


def test_a_total_with_counts_is_no_question() -> None:
    rows = [
        {"query": WHO, "retrieved": ["a"], "expected_ids": ["a"]},
        {"query": "Total", "retrieved": 1, "expected_ids": 1},
    ]
    with pytest.raises(InvalidInput, match="sums up"):
        evaluate(rows)


ASKED = {"Who pays?": (["x", "a"], ["a"]), "When?": (["c", "d"], ["c", "e"])}
BY_QUESTION = {
    "haystack": lambda ids: {
        "retriever": {"documents": [{"id": name, "content": "It is so."} for name in ids]},
        "llm": {"replies": ["It is."]},
    },
    "solr": lambda ids: {
        "responseHeader": {"status": 0, "params": {"q": "who", "rows": "10"}},
        "response": {"numFound": 2, "start": 0, "docs": [{"id": name} for name in ids]},
    },
    "elasticsearch": lambda ids: {
        "took": 1,
        "timed_out": False,
        "hits": {"total": {"value": 2}, "hits": [{"_id": name, "_score": 1.0} for name in ids]},
    },
    "meilisearch": lambda ids: {"hits": [{"id": name} for name in ids], "query": "who"},
    "vertex": lambda ids: {"results": [{"id": name, "document": {"id": name}} for name in ids]},
}


@pytest.mark.parametrize("engine", BY_QUESTION)
@pytest.mark.parametrize("inside", [False, True])
def test_answers_in_an_object_are_known_by_their_questions(engine, inside, tmp_path) -> None:
    answers: dict[str, Any] = {q: BY_QUESTION[engine](ids) for q, (ids, _) in ASKED.items()}
    given: dict[str, Any] = {"ground_truth": {q: wanted for q, (_, wanted) in ASKED.items()}}
    if inside:
        given = {}
        answers = {q: {**answers[q], "expected_ids": wanted} for q, (_, wanted) in ASKED.items()}
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(answers))
    scores = evaluate(**given, **({"data": path} if inside else {"run": path}), metrics="mrr")
    assert scores["mrr"].mean == 0.75


@pytest.mark.parametrize("wrap", ["results", "responses", "runs"])
def test_answers_without_questions_in_a_list_are_called_so(wrap) -> None:
    answer = BY_QUESTION["elasticsearch"](["a"])
    with pytest.raises(InvalidInput, match="without their questions"):
        evaluate(ground_truth={WHO: ["a"]}, run={wrap: [answer, answer]})


def test_an_answer_in_columns_needs_the_questions_beside_it() -> None:
    answer: dict[str, Any] = {
        "ids": [["a", "b"], ["c", "d"]],
        "distances": [[0.1, 0.2], [0.1, 0.3]],
    }
    truth = {"Who?": ["b"], "Where?": ["c"]}
    with pytest.raises(InvalidInput, match=r"without what was asked.*in the same order"):
        evaluate(ground_truth=truth, run=answer)
    scores = evaluate(ground_truth=truth, run={"query": [*truth], **answer}, metrics="mrr")
    assert scores["mrr"].mean == 0.75
