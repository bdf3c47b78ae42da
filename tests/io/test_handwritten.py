"""Other common names of the question and its id: what `retrieve` asks, `eval` measures."""

import json

import pytest

from calipers import convert, evaluate
from calipers.errors import InvalidInput
from calipers.retrievers.questions import read_questions

PARTS = {"retrieved": ["a"], "ground_truth": ["a"]}
SPELLINGS = [
    {"id": "q1", "query": "Who?"},
    {"_id": "q1", "query": "Who?"},
    {"_id": "q1", "text": "Who?"},
    {"_id": "q1", "question": "Who?"},
    {"id": "q1", "_id": "other", "query": "Who?", "question": "other", "text": "other"},
]


@pytest.mark.parametrize("names", SPELLINGS)
def test_eval_reads_the_question_and_id_that_retrieve_asks(tmp_path, names):
    record = {**names, **PARTS}
    path = tmp_path / "evals.jsonl"
    path.write_text(json.dumps(record) + "\n")
    asked = read_questions(path)
    assert [(one.id, one.text) for one in asked] == [("q1", "Who?")]
    for data in (path, [record]):
        queries = evaluate(data, metrics="mrr").queries
        assert queries.select("query", "text").rows() == [("q1", "Who?")]


def test_the_id_that_a_database_gave_is_not_that_of_the_question():
    record = {"_id": {"$oid": "65f0"}, "query": "Who?", **PARTS}
    assert evaluate([record], metrics="mrr").queries["query"].to_list() == ["Who?"]


def test_a_record_without_a_question_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text(json.dumps({"query": "Who?", **PARTS}) + "\n" + json.dumps(PARTS) + "\n")
    with pytest.raises(InvalidInput, match=r"missing at .*evals\.jsonl:2 \$: no 'query'"):
        evaluate(path)


def test_what_was_passed_over_is_named_by_convert(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(json.dumps({**one, **PARTS}) for one in SPELLINGS[-1:]))
    done = convert(path, tmp_path / "out.jsonl")
    assert done.unread == {"question": 1, "text": 1, "_id": 1}
    path.write_text("\n".join(json.dumps({**one, **PARTS}) for one in SPELLINGS[2:3]))
    assert convert(path, tmp_path / "out.jsonl").unread == {}
