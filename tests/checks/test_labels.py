import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_the_same_grade_twice_is_no_contradiction():
    rows = [{"query": q, "item": "x", "grade": 1.0} for q in "ab"]
    assert labels.contradictions(truth(rows, {"a": "What?", "b": "what"})).count == 0


@given(st.lists(st.integers(-2, 5), min_size=1))
def test_steps_of_the_scale_that_nobody_used(grades):
    rows = [{"query": "q", "item": str(n), "grade": float(g)} for n, g in enumerate(grades)]
    found = labels.unused_grades(truth(rows))
    unused = set(range(min(grades), max(grades) + 1)) - set(grades)
    assert found.count == len(unused)
    assert all(str(grade) in str(found.detail) for grade in unused)


@pytest.mark.parametrize("grades", [[0.5, 3.0], [0.0, 1e9]])
def test_measurements_are_no_scale(grades):
    rows = [{"query": "q", "item": str(g), "grade": g} for g in grades]
    assert labels.unused_grades(truth(rows)).count == 0


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_the_ceiling_of_precision_is_that_of_a_perfect_retriever(counts):
    rows = [
        {"query": f"q{n}", "item": str(item), "grade": 1.0}
        for n, count in enumerate(counts)
        for item in range(count)
    ]
    found = labels.single_targets(truth(rows))
    assert (found.count, found.of) == (counts.count(1), len(counts))
    for k in labels.CEILING_AT:
        perfect = sum(min(count, k) for count in counts) / (k * len(counts))
        assert f"{perfect:.3f} @{k}" in str(found.detail)


def test_short_quotes_are_warned_about_and_empty_ones_refused():
    found = labels.short_quotes(truth([{"query": "q", "quote": " C \n++ "}]))
    assert (found.count, found.severity) == (1, "warning")
    assert labels.short_quotes(truth([{"query": "q", "quote": "a whole sentence"}])).count == 0
    with pytest.raises(InvalidInput, match="empty"):
        labels.short_quotes(truth([{"query": "q", "quote": " \u200b"}]))


def test_repeated_judgements_are_counted():
    rows = [{"query": "q", "item": "x", "grade": 1.0}] * 3
    found = labels.repeated_targets(truth(rows))
    assert (found.count, found.of) == (2, 3)
