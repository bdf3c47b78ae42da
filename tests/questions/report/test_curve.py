"""The curve of precision over recall in a report."""

import pytest

import calipers
from calipers.questions.report.curve import recall_curve


def test_the_curve_is_trec_evals() -> None:
    records = [
        {"query": "q", "retrieved": ["a", "x", "b", "y"], "ground_truth": ["a", "b", "c"]},
        {"query": "r", "retrieved": ["x", "a"], "ground_truth": ["a"]},
    ]
    curve = recall_curve(calipers.read(records))
    # By hand: one of three at rank 1, two of three at rank 3; and one at rank 2. A level of 0.8
    # of three is two, as trec_eval rounds.
    first = [1.0] * 5 + [2 / 3] * 4 + [0.0] * 2
    assert curve.precision == pytest.approx([(value + 0.5) / 2 for value in first])
    assert curve.average == pytest.approx(sum(curve.precision) / 11)
    assert str(curve).startswith("At half of the recall, precision is 0.583;")


def test_a_report_draws_it() -> None:
    records = [{"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}]
    page = calipers.report(records).to_html()
    assert "Precision over recall" in page
    nothing = [{"query": "r", "retrieved": ["a"], "ground_truth": []}, *records]
    assert "Precision over recall" in calipers.report(nothing).to_html()
