"""Scores written in pieces, against the rows of the result."""

import json

import pytest

import calipers
from calipers.questions.evaluate import rule as show
from tests.reports import hostile_records, records

UNANSWERABLE = {"query": "none", "retrieved": ["a"], "ground_truth": []}


@pytest.mark.parametrize(
    "made", [[*records(), UNANSWERABLE], hostile_records(), [{**records()[0], "tags": {}}]]
)
def test_every_row_is_that_of_the_result(made, monkeypatch):
    monkeypatch.setattr(show, "AT_ONCE", 4)
    scores = calipers.evaluate(made, k=3, nothing_in_common="zero")
    pieces = list(show.score_rows(scores))
    assert len(pieces) == (len(scores) + 3) // 4
    written = b'{\n  "a": [\n' + b",\n".join(pieces) + b"\n  ]\n}"
    assert json.loads(written)["a"] == scores.to_dict()["per_query"]
