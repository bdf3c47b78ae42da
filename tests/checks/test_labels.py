import polars as pl
import pytest

from calipers.checks import ground_truth as labels
from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth


def truth(rows, texts=None):
    return GroundTruth.from_targets(
        pl.DataFrame(rows),
        queries=pl.DataFrame({"query": list(texts), "text": list(texts.values())})
        if texts
        else None,
    )


def test_one_target_with_two_grades_under_two_ids_of_a_question():
    rows = [
        {"query": "a", "item": "x", "grade": 1.0},
        {"query": "b", "item": "x", "grade": 3.0},
        {"query": "b", "item": "y", "grade": 1.0},
    ]
    found = labels.contradictions(truth(rows, {"a": "What?", "b": "what"}))
    assert (found.count, found.severity) == (1, "error")
    assert found.examples[0].detail == "graded 1 (query 'a') and 3 (query 'b')"


def test_one_quote_in_two_spellings_with_two_grades():
    rows = [
        {"query": "a", "quote": "a lock", "grade": 1.0},
        {"query": "a", "quote": "a\nlock", "grade": 2.0},
        {"query": "a", "quote": "a  lock", "grade": 2.0},
    ]
    assert labels.contradictions(truth(rows)).count == 1


def test_an_empty_quote_is_refused():
    with pytest.raises(InvalidInput, match="empty"):
        labels.contradictions(truth([{"query": "q", "quote": " \u200b"}]))
