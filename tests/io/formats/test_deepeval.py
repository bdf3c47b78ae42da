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
