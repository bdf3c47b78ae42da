import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize("at_once", [1, 1000])
def test_only_those_with_a_common_relevant_target_count_once(at_once, monkeypatch):
    monkeypatch.setattr(checks, "_PAIRS_AT_ONCE", at_once)
    asked = {f"q{n}": f"How do I sort a list of dictionaries number {n}?" for n in range(5)}
    targets = [("q0", "x", 1.0), ("q1", "x", 1.0), ("q1", "y", 2.0), ("q2", "y", 1.0)]
    targets += [("q3", "x", 0.0), ("q4", "z", 1.0)]
    found, different = checks.near_duplicates(truth(asked, targets))
    assert found.count == 10
    assert found.severity == "warning"
    assert different == 25 / (9 + 1 + 1)  # q0, q1 and q2 are one cluster


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


@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14),
)
def test_clusters_are_linked_as_one_by_one(cluster, pairs):
    pairs = [(one % len(cluster), other % len(cluster)) for one, other in pairs]
    naive = list(cluster)
    for one, other in pairs:
        old, new = naive[other], naive[one]
        naive = [new if label == old else label for label in naive]
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    together = checks.linked(np.array(cluster), ends[:, 0], ends[:, 1]).tolist()
    n = range(len(cluster))
    assert [[together[a] == together[b] for a in n] for b in n] == [
        [naive[a] == naive[b] for a in n] for b in n
    ]
