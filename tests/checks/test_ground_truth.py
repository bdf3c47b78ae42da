import polars as pl
import pytest

from calipers.checks import ground_truth as checks
from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth


def truth(texts, targets=()):
    return GroundTruth.from_targets(
        pl.DataFrame(
            list(targets),
            schema={"query": pl.String, "item": pl.String, "grade": pl.Float64},
            orient="row",
        ),
        queries=pl.DataFrame({"query": list(texts), "text": list(texts.values())}),
    )


def test_queries_without_a_relevant_target_are_counted():
    asked = truth({"a": "one", "b": "two", "c": "three"}, [("a", "x", 1.0), ("b", "x", 0.0)])
    found = checks.without_ground_truth(asked)
    assert (found.count, found.of, found.severity) == (2, 3, "warning")
    assert [example.query for example in found.examples] == ["b", "c"]
    assert checks.without_ground_truth(truth({"a": "one"})).severity == "error"


def test_the_same_question_under_two_ids():
    found = checks.duplicates(
        truth({"a": "What is the GIL?", "b": "what  is the gil", "c": "Why?", "d": None})
    )
    assert (found.count, found.of) == (2, 4)
    assert "'b'" in str(found.examples[0].detail)
    # Questions of signs alone are told apart.
    assert checks.duplicates(truth({"a": "?!", "b": "!!"})).count == 0


def test_almost_the_same_question():
    asked = {
        "a": "How do I sort a list of dictionaries?",
        "b": "How do I sort a list of dictionary?",
        "c": "How do I sort a list of dictionaries",
        "d": "What is a decorator?",
    }
    found, different = checks.near_duplicates(truth(asked))
    assert found.count == 1
    assert (found.examples[0].query, found.severity) == ("a", "info")
    assert different == 16 / 6  # "c" asks what "a" asks


def test_an_empty_quote_is_refused():
    empty = pl.DataFrame([{"query": "q", "quote": " \u200b"}])
    with pytest.raises(InvalidInput, match="empty"):
        checks.with_plain_quotes(GroundTruth.from_targets(empty))


def test_near_duplicates_are_counted_beyond_their_examples():
    letters = "abcdefghijklmnop"
    asked = {
        f"{letter}{n}": f"How do I {letter * 12} a list of {letter * 9}{'s' * n}?"
        for letter in letters
        for n in range(2)
    }
    found, _ = checks.near_duplicates(truth(asked))
    assert found.count == len(letters)
    assert len(found.examples) < found.count
