"""The demo's questions hold on this Python; tests/docs/test_demo_page.py runs it to its end."""

import json
from pathlib import Path

import pytest

from calipers.text import normalise

DEMO = Path(__file__).parents[2] / "examples" / "demo"


def questions():
    return [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()]


def test_about_forty_questions_of_three_types():
    types = [question["tags"]["type"] for question in questions()]
    assert len(types) >= 40
    assert {kind: types.count(kind) >= 10 for kind in set(types)} == {
        "fact": True,
        "how-to": True,
        "multi-hop": True,
    }


def test_multi_hop_questions_need_more_than_one_quote():
    for question in questions():
        if question["tags"]["type"] == "multi-hop":
            assert len(question["ground_truth"]) >= 2, question["id"]


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_every_quote_stands_in_the_language_reference_of_this_python(question):
    topics = pytest.importorskip(
        "pydoc_data.topics", reason="this Python came without its language reference"
    )
    texts = [normalise(text) for text in topics.topics.values()]
    for target in question["ground_truth"]:
        assert any(normalise(target["quote"]) in text for text in texts), target["quote"]
