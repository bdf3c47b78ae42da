import pytest

from calipers.errors import InvalidInput
from tests.io.formats.expect import FIXTURES, results, texts


def test_passages_in_order_and_their_numbers_are_not_ids():
    path = FIXTURES / "open_rag_eval.csv"
    assert results(path) == [
        {"query": "q1", "text": "The global interpreter lock is a mutex."},
        {"query": "q1", "text": "Threads share memory,\nand more."},
        {"query": "q2", "text": "A list is a sequence."},
    ]
    assert texts(path) == {"q1": "What is the GIL?", "q2": "What is a list?"}


def test_real_ids_are_kept():
    rows = [{"query_id": 1, "query": "q", "query_run": 1, "passage_id": "p7", "passage": "x"}]
    assert results(rows) == [{"query": "1", "item": "p7", "text": "x"}]


def test_several_runs_in_one_file_are_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("query_id,query,query_run,passage_id,passage\n1,q,1,a,x\n1,q,2,a,x\n")
    with pytest.raises(InvalidInput, match=r"query_run is 1 at .*a\.csv:2 \$ and 2 at .*a\.csv:3"):
        results(path)
