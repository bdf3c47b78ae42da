"""Results that carry no id under a name that is known."""

import json
from typing import Any

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, NoCommonIds
from tests.command import calipers_command, refused

RECORD = {
    "query": "q1",
    "retrieved": [{"ref": "a", "text": "The cat sat."}, {"ref": "b", "text": "No.", "title": "B"}],
    "ground_truth": ["b"],
}


@pytest.fixture
def evals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.jsonl").write_text(json.dumps(RECORD) + "\n")
    (tmp_path / "search.py").write_text(
        "def search(query, k):\n    return [{'ref': 'a', 'body': 'The cat sat.'}]\n"
        "def bare(query, k):\n    return [{'ref': 'a'}]\n"
    )
    return "evals.jsonl"


def test_what_the_results_have_in_place_of_an_id_is_named(evals):
    sentence = refused("eval", evals)
    assert "Say --column item=ref; the results carry no id, only text" in sentence
    with pytest.raises(NoCommonIds, match=r'Say columns={"item": "ref"}'):
        evaluate([RECORD])


def test_an_id_inside_the_payload_is_found_and_read():
    points = [
        {"id": n, "payload": {"chunk_id": name, "text": "Some text."}}
        for n, name in enumerate(("a", "b"), 7)
    ]
    log = [{"query": "q1", "result": {"points": points}, "expected_ids": ["b"]}]
    with pytest.raises(NoCommonIds, match=r'Say columns={"item": "payload.chunk_id"}'):
        evaluate(log)
    said = {"item": "payload.chunk_id"}
    assert evaluate(log, columns=said, metrics="mrr")["mrr"].mean == 0.5


def test_targets_that_name_the_documents_of_results_are_matched_by_document():
    chunks = [{"text": f"Part {n}.", "source": f"{n // 2}.md"} for n in range(4)]
    asked = {"retrieved": chunks, "ground_truth": ["1.md"]}
    log = [{"query": "q1", **asked, "tags": {"kind": "b"}}, {"query": "q2", **asked}]
    result = evaluate(log, metrics="mrr")
    assert result["mrr"].mean == 0.5
    assert any("the targets name documents" in note for note in result.settings["notes"])
    assert evaluate(log, metrics="mrr", where={"kind": "b"})["mrr"].mean == 0.5


def test_the_id_of_results_in_records_is_named_as_a_column(evals):
    printed = calipers_command("eval", evals, "--column", "item=ref", "-m", "mrr", "--as", "csv")
    assert "mrr,0.5" in printed.out, printed
    assert evaluate([RECORD], columns={"item": "ref"}, metrics="mrr")["mrr"].mean == 0.5
    assert "There is no column 'reff' to take as item" in refused(
        "eval", evals, "--column", "item=reff"
    )


@pytest.mark.usefixtures("evals")
def test_a_retriever_is_told_of_its_option():
    sentence = refused("eval", "evals.jsonl", "--retriever", "search.py:search")
    assert "The results carry no id, only text, and" in sentence
    assert "--id '$.NAME'" in sentence
    sentence = refused("retrieve", "search.py:bare", "evals.jsonl", "-o", "out.jsonl")
    assert "neither an id nor a text; found {'ref': 'a'}; say where its id is with --id" in sentence
    printed = calipers_command(
        "retrieve", "search.py:bare", "evals.jsonl", "-o", "out.jsonl", "--id", "$.ref"
    )
    assert printed.code == 0, printed.err


def test_texts_that_are_looked_for_are_still_texts():
    record = {**RECORD, "ground_truth": [{"quote": "A dog barked at night."}]}
    with pytest.raises(NoCommonIds, match="have no text in common"):
        evaluate([record])


def test_plain_texts_are_texts_where_only_quotes_should_be_found() -> None:
    text = "The refund period is thirty days for all orders."
    run = [{"query": "q", "retrieved": ["Travel costs are paid by the office.", text]}]
    truth = [{"query": "q", "ground_truth": [{"quote": "period is thirty days"}]}]
    assert evaluate(ground_truth=truth, run=run, metrics="mrr")["mrr"].mean == 0.5


def test_where_a_result_lacks_a_text_ids_are_compared() -> None:
    run = [{"query": "q", "retrieved": [{"id": "a", "text": "Some text."}, {"id": "b"}]}]
    truth: Any = {"queries": {"q": "q"}, "corpus": {"b": "One."}, "relevant_docs": {"q": ["b"]}}
    assert evaluate(ground_truth=truth, run=run, metrics="mrr")["mrr"].mean == 0.5
    with pytest.raises(InvalidInput) as caught:
        evaluate(ground_truth=truth, run=run, match="quote")
    assert 'match="id"' in str(caught.value)
    assert "span" not in str(caught.value)
