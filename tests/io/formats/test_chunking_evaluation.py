import pytest

from calipers.errors import InvalidInput
from tests.io.formats.expect import FIXTURES, targets


def test_references_are_quotes_with_their_spans():
    assert targets(FIXTURES / "chunking_evaluation.csv") == [
        {
            "query": "What is the GIL?",
            "quote": "global interpreter lock",
            "document": "python",
            "start": 4,
            "end": 27,
        },
        {
            "query": "What is the GIL?",
            "quote": "Threads, too",
            "document": "python",
            "start": 100,
            "end": 112,
        },
        {
            "query": "What, then, is a list?",
            "quote": "A list is a sequence.",
            "document": "lists",
            "start": 50,
            "end": 71,
        },
    ]


def test_references_that_are_not_json_are_named_with_their_line(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text('question,references,corpus_id\nq,"[]",c\nr,oops,c\n')
    with pytest.raises(InvalidInput, match=r"questions\.csv:3 \$\.references: found str"):
        targets(path)
