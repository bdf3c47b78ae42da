"""Measures that few tools have, against values that others published or printed."""

import math

import polars as pl
import pytest

import calipers
from calipers.model.ground_truth import GroundTruth

SUBTOPICS = [("a", "A"), ("b", "B"), ("b", "D"), ("c", "C")]
"""Of the example in pyndeval's description, which wraps TREC's ndeval; so are the values."""


def test_the_example_of_ndeval():
    rows = [("0", item, topic) for topic, item in SUBTOPICS]
    truth = GroundTruth.from_targets(
        pl.DataFrame(rows, schema=["query", "item", "group"], orient="row")
    )
    scores = calipers.evaluate(
        {"0": ["A", "D", "E", "B"]}, ground_truth=truth, metrics="alpha_ndcg@5,10,20,st_recall@5"
    )
    # Printed with four digits, the rest cut off.
    assert [math.floor(scores[name].mean * 1e4) / 1e4 for name in scores] == [
        0.7868,
        0.7868,
        0.7868,
        0.6666,
    ]


GAINS = [2, 0, 4, 0, 1]
CWL_EVAL = {
    "nerr8@5": 0.5,
    "nerr8@2": 0.3333333333333333,
    "nerr9@5": 0.4705882352941176,
    "nerr10": 0.4878706199460916,
    "nerr11": 0.46391752577319584,
    "inst": 0.3657791019227539,
    "inst(t=3)": 0.20695540358041753,
}
"""What cwl-eval 1.0.12 computes of these gains over 4, to a depth of 1,000."""


@pytest.mark.parametrize("name", CWL_EVAL)
def test_the_values_of_cwl_eval(name):
    truth = dict(zip("abcde", GAINS, strict=True))
    found = calipers.evaluate({"q": list("abcde")}, ground_truth={"q": truth}, metrics=name)
    # inst goes on for ever here, and up to rank 1,000 there.
    within = 1e-3 if name.startswith("inst") else 1e-12
    assert found[name].mean == pytest.approx(CWL_EVAL[name], abs=within)


def test_inst_of_one_result_that_is_all_one_looks_for():
    """After it rank i weighs 1 / i², and the sum of all these is pi² / 6."""
    found = calipers.evaluate({"q": ["a"]}, ground_truth={"q": ["a"]}, metrics="inst")
    assert found["inst"].mean == pytest.approx(6 / math.pi**2, abs=1e-14)


def test_normalised_err_is_not_nearly_err():
    """nERR of NTCIR divides by the best ranking: grades 1 and 3 in the wrong order."""
    truth, highest = {"q": {"a": 1, "b": 3}}, 2**3
    first, second = 1 / highest, 7 / highest
    reached = first + (1 - first) * second / 2
    best = second + (1 - second) * first / 2
    found = calipers.evaluate({"q": ["a", "b"]}, ground_truth=truth, metrics="nERR")
    assert found["nerr"].mean == pytest.approx(reached / best)
