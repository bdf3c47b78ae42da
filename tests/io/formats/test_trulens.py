from tests.io.formats.expect import FIXTURES, targets


def test_expected_scores_are_grades():
    assert targets(FIXTURES / "trulens.jsonl") == [
        {"query": "What is the GIL?", "grade": 2.0, "quote": "global interpreter lock"},
        {"query": "What is the GIL?", "grade": 0.0, "quote": "Threads share memory."},
        {"query": "What is a list?", "quote": "A list is a sequence."},
    ]


def test_chunks_may_be_plain_texts():
    rows = [{"query": "q", "query_id": 3, "expected_chunks": ["a"]}]
    assert targets(rows) == [{"query": "3", "quote": "a"}]
