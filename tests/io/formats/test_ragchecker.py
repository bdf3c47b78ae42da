import json

from tests.io.formats.expect import FIXTURES, results, texts

EXPECTED = [
    {"query": "1", "item": "d1", "text": "The global interpreter lock is a mutex."},
    {"query": "1", "item": "d2", "text": "Threads share memory."},
]


def test_results_under_their_key():
    path = FIXTURES / "ragchecker.json"
    assert results(path) == EXPECTED
    assert texts(path) == {"1": "What is the GIL?", "2": "What is a list?"}


def test_results_as_a_bare_list():
    assert results(json.loads((FIXTURES / "ragchecker.json").read_text())["results"]) == EXPECTED
