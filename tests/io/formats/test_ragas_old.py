import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results, targets

GIL, LIST = "What is the GIL?", "What is a list?"


def test_contexts_of_an_evaluation_are_what_was_retrieved():
    path = FIXTURES / "ragas_old.jsonl"
    assert results(path) == [
        {"query": GIL, "text": "The global interpreter lock is a mutex."},
        {"query": GIL, "text": "Threads share memory."},
    ]
    assert load(path, "both").ground_truth is None


def test_contexts_of_a_test_set_are_what_should_be_found():
    path = FIXTURES / "ragas_test_set.jsonl"
    assert targets(path) == [
        {"query": GIL, "quote": "global interpreter lock"},
        {"query": GIL, "quote": "a mutex"},
        {"query": LIST, "quote": "A list is a sequence."},
    ]
    found = load(path, "both")
    assert found.run is None
    assert found.ground_truth is not None
    assert found.ground_truth.tags["evolution_type"].to_list() == ["simple", "reasoning"]


def test_a_test_set_and_an_evaluation_are_measured_together():
    scores = evaluate(
        ground_truth=FIXTURES / "ragas_test_set.jsonl", run=FIXTURES / "ragas_old.jsonl",
        metrics="recall@1",
    )  # fmt: skip
    assert scores["recall@1"].mean == 0.5


def test_a_test_set_that_pandas_wrote(tmp_path):
    path = tmp_path / "testset.csv"
    path.write_text(
        ",question,contexts,ground_truth,evolution_type,metadata,episode_done\n"
        "0,q,\"['one', 'two']\",an answer,simple,[{'source': 'a.md'}],True\n"
    )
    assert targets(path) == [{"query": "q", "quote": "one"}, {"query": "q", "quote": "two"}]


@pytest.mark.parametrize("answers", [{"ground_truth": "a"}, {"ground_truths": ["a"]}])
def test_an_answer_is_not_taken_for_what_should_be_found(tmp_path, answers):
    path = tmp_path / "old.json"
    path.write_text(json.dumps([{"question": "q", "contexts": ["c"], "answer": "b", **answers}]))
    why = "'ground_truth' of ragas is an answer in words, not what should be found"
    with pytest.raises(InvalidInput, match=f"only results: {why}; give a second file"):
        evaluate(path)
    with pytest.raises(InvalidInput, match=f"The ground truth is missing.*: {why}; give a file"):
        evaluate(ground_truth=path, run=path)


def test_our_own_records_may_have_contexts_too():
    rows = [{"question": "q", "contexts": ["x"], "retrieved": ["a"], "ground_truth": ["a"]}]
    assert targets(rows) == [{"query": "q", "item": "a"}]


def test_contexts_that_are_no_list_are_named_with_their_line(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text('{"question": "q", "contexts": ["c"]}\n{"question": "r", "contexts": [7]}\n')
    with pytest.raises(InvalidInput, match=r"old\.jsonl:2 \$\.contexts\[0\]: found int"):
        results(path)
