"""The demo's questions hold on this Python; tests/docs/test_demo_page.py runs it to its end."""

import json
from pathlib import Path

import pytest

from calipers.text import normalise

DEMO = Path(__file__).parents[2] / "examples" / "demo"


def questions():
    return [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("question", questions(), ids=lambda question: question["id"])
def test_every_quote_stands_in_the_language_reference_of_this_python(question):
    topics = pytest.importorskip(
        "pydoc_data.topics", reason="this Python came without its language reference"
    )
    texts = [normalise(text) for text in topics.topics.values()]
    for target in question["ground_truth"]:
        assert any(normalise(target["quote"]) in text for text in texts), target["quote"]
