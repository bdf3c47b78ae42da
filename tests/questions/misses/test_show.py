"""Misses on a terminal: one line each, and no empty line too many."""

import io

import pytest
from rich.console import Console

import calipers
from calipers.questions.misses.show import print_misses

LONG = "a question that is longer than the terminal is wide, and then some words more"


def printed(records, *, k, explain=False):
    written = io.StringIO()
    print_misses(calipers.misses(records, k=k), Console(file=written, width=40), explain=explain)
    return written.getvalue()


@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("k", [1, 2])
def test_parts_have_one_empty_line_between_them(k, explain):
    records = [{"id": "q", "query": LONG, "retrieved": ["x", "a"], "ground_truth": ["a"]}]
    text = printed(records, k=k, explain=explain)
    assert "\n\n\n" not in text
    assert ("Nothing was missed" in text) == (k == 2)
    assert not text.startswith("\n")
    assert not text.endswith("\n\n")


def test_what_is_longer_than_a_line_is_cut():
    records = [
        {
            "id": "q",
            "query": LONG,
            "ground_truth": ["a"],
            "retrieved": [{"id": "x", "text": LONG}, {"id": "a", "text": LONG}],
        }
    ]
    lines = printed(records, k=1).splitlines()
    cut = [line for line in lines if "a question that is" in line]
    assert len(cut) == 3
    assert all(len(line) == 40 and line.endswith("…") for line in cut)
