import json
from types import SimpleNamespace

import pytest

from calipers.errors import InvalidInput
from tests.io.formats.expect import FIXTURES, targets, texts

EXPECTED = [
    {"query": "q1", "item": "n1", "quote": "The global interpreter lock is a mutex."},
    {"query": "q2", "item": "n2", "quote": "A list is a sequence."},
    {"query": "q2", "item": "n3"},
]


def test_nodes_with_their_texts():
    path = FIXTURES / "llama_index.json"
    assert targets(path) == EXPECTED
    assert texts(path) == {
        "q1": "What is the GIL?",
        "q2": "What is a list?",
        "q3": "Is there an answer?",
    }


def test_the_set_as_a_dictionary_and_as_an_object():
    whole = json.loads((FIXTURES / "llama_index.json").read_text())
    assert targets(whole) == EXPECTED
    assert targets(SimpleNamespace(**whole)) == EXPECTED


def test_relevant_nodes_of_a_query_that_is_not_there():
    with pytest.raises(InvalidInput, match=r"data \$\.relevant_docs: no 'q9' in 'queries'"):
        targets({"queries": {"q1": "text"}, "corpus": {}, "relevant_docs": {"q9": ["n"]}})


def test_a_node_named_twice_is_one_target():
    whole = {"queries": {"q": "t"}, "relevant_docs": {"q": ["n", "n", 1]}}
    assert targets(whole) == [{"query": "q", "item": "n"}, {"query": "q", "item": "1"}]
