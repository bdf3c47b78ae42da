"""Another field of a result as its id: the line that is proposed, tried with both files."""

import json
import re

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput, NoCommonIds


def test_a_field_that_only_breaks_the_file_beside_is_not_proposed(tmp_path) -> None:
    truth, run = tmp_path / "truth.json", tmp_path / "run.json"
    rows = [
        {"id": "i1", "input": {"question": "Who?"}, "expected_output": {"relevant_ids": ["p:a"]}},
        {"id": "i2", "input": {"question": "When?"}, "expected_output": {"relevant_ids": ["p:b"]}},
    ]
    truth.write_text(json.dumps(rows))
    results = [{"query": "Who?", "retrieved": [{"id": "a"}]}, {"query": "When?", "retrieved": []}]
    run.write_text(json.dumps(results))
    with pytest.raises(NoCommonIds) as caught:
        evaluate(ground_truth=truth, run=run)
    assert "columns=" not in str(caught.value)
    assert 'map_ids="prefix=p:"' in str(caught.value)
    scores = evaluate(ground_truth=truth, run=run, map_ids="prefix=p:", metrics="recall@1")
    assert scores["recall@1"].mean == 0.5


def test_the_other_id_of_flat_records_is_found() -> None:
    run = [
        {"query": "Who?", "doc_id": 7, "our_key": "FAQ-1", "rank": 1},
        {"query": "Who?", "doc_id": 8, "our_key": "FAQ-2", "rank": 2},
    ]
    truth = [{"query": "Who?", "expected_ids": ["FAQ-2"]}]
    with pytest.raises(InvalidInput, match=re.escape('{"item": "our_key"}')):
        evaluate(ground_truth=truth, run=run)
    columns = {"item": "our_key"}
    scores = evaluate(ground_truth=truth, run=run, columns=columns, metrics="mrr")
    assert scores["mrr"].mean == 0.5


def test_docno_comes_before_the_number_of_pyterrier() -> None:
    run = [{"qid": "q1", "docid": 12, "docno": "FAQ-12", "rank": 0, "score": 0.5, "query": "Who?"}]
    truth = {"q1": {"FAQ-12": 1}}
    assert evaluate(ground_truth=truth, run=run, metrics="recall@1")["recall@1"].mean == 1
