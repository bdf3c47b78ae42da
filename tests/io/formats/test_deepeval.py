import json

import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, results, targets

GIL, LIST = "What is the GIL?", "What is a list?"


def test_context_is_the_ground_truth_and_retrieval_context_the_results():
    path = FIXTURES / "deepeval.json"
    assert targets(path) == [
        {"query": GIL, "quote": "global interpreter lock"},
        {"query": LIST, "quote": "A list is a sequence."},
        {"query": LIST, "quote": "Lists can grow."},
    ]
    assert results(path) == [
        {"query": GIL, "text": "The global interpreter lock is a mutex."},
        {"query": GIL, "text": "Threads share memory."},
        {"query": LIST, "text": "A list is a sequence. Lists can grow.", "document": "b.md"},
    ]


def test_the_spelling_of_its_interface():
    path = FIXTURES / "deepeval_camel.json"
    assert targets(path) == [{"query": GIL, "quote": "interpreter lock"}]
    assert results(path) == [{"query": GIL, "text": "The global interpreter lock."}]


def test_a_golden_without_results_is_a_ground_truth():
    assert targets([{"input": "q", "context": ["a"]}]) == [{"query": "q", "quote": "a"}]


HEADER = "input,actual_output,expected_output,retrieval_context,context,name,source_file\n"


def test_its_csv_has_a_bar_between_the_texts_of_a_list(tmp_path):
    path = tmp_path / "goldens.csv"
    path.write_text(
        f"{HEADER}q,,answer,one|two,first|second,n,a.md\n"
        'r,,answer,"deepeval_source=b.md,deepeval_context=three, and four",third,,\n'
    )
    assert targets(path) == [
        {"query": "q", "quote": "first"},
        {"query": "q", "quote": "second"},
        {"query": "r", "quote": "third"},
    ]
    assert results(path) == [
        {"query": "q", "text": "one"},
        {"query": "q", "text": "two"},
        {"query": "r", "text": "three, and four", "document": "b.md"},
    ]


def test_its_json_lines_have_too(tmp_path):
    path = tmp_path / "goldens.jsonl"
    row = {"input": "q", "retrieval_context": "one|two", "context": "first", "name": None}
    empty = {"input": "r", "retrieval_context": "", "context": "second", "name": None}
    path.write_text(f"{json.dumps(row)}\n{json.dumps(empty)}\n")
    assert [one["text"] for one in results(path)] == ["one", "two"]
    assert [one["quote"] for one in targets(path)] == ["first", "second"]


def test_lists_in_cells_are_lists_and_a_footnote_is_a_text(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(f"{HEADER}q,,,\"['a|b', 'c']\",[1] See there,,\nr,,,[],x,,\n")
    assert [one["text"] for one in results(path)] == ["a|b", "c"]
    assert [one["quote"] for one in targets(path)] == ["[1] See there", "x"]


def test_a_context_that_is_a_number_is_the_wrong_type_with_its_place(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"input": "q", "context": ["a"]}\n{"input": "r", "context": 7}\n')
    with pytest.raises(InvalidInput, match=r"cases\.jsonl:2 \$\.context: found int"):
        targets(path)


def test_goldens_that_repeat_another_in_everything_count_once():
    golden = {"input": "Who?", "context": ["A text."], "expected_output": "x"}
    truth = load(
        [golden, {"input": "When?", "context": ["B."]}, golden], "ground_truth"
    ).ground_truth
    assert truth is not None
    assert truth.queries["query"].to_list() == ["Who?", "When?"]
    assert "1 record repeats an earlier one in everything and counts once." in truth.notes
    with pytest.raises(InvalidInput, match=r"same query 'Who\?': ground_truth\[0\] and .*\[1\]"):
        load([golden, {**golden, "context": ["Another."]}], "ground_truth")
