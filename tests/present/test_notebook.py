"""Results as a notebook shows them."""

import re

import pytest

import calipers
from calipers.model.result import HasRows
from tests.present.results import MAKERS, made
from tests.reports import records, reversed_records

DRAWN = {"Comparison", "Grid", "Misses", "Scores", "Shown", "Slices", "Sweep", "Trend"}
SENTENCES = {
    *("Alarm", "Baseline", "Diagnosis", "Draft", "Evaluation", "Health", "PoolList", "Pruned"),
    *("Resolution", "SampleState", "TracedQuestions", "WrittenQuestions"),
}
"""They are a few sentences, although they have rows."""


@pytest.mark.parametrize("kind", MAKERS)
def test_every_result_is_a_table_or_a_chart(kind):
    result = made(kind)
    shown = result._repr_html_()
    assert shown.count("<svg") == (kind in DRAWN)
    assert "<table" in shown or kind in SENTENCES or not isinstance(result, HasRows)
    assert shown.count("<table") == shown.count("</table>")
    assert "&lt;rich" not in shown
    assert "--explain" not in shown
    # No colour that is lost on a light page or on a dark one.
    assert not re.search(r"(?<![\w-])(color|background): *(black|white|#000|#fff)", shown)


def test_a_notebook_shows_each_result_once(monkeypatch):
    """Where rich believes to be in a notebook it displays whatever is printed, at once."""
    shown = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *parts: shown.append(parts))
    for kind in ("Comparison", "Diagnosis", "Misses", "Scores", "Sweep", "Verdict"):
        result = made(kind)
        assert (str(result) != "", repr(result) != "", result._repr_html_() != "") == (True,) * 3
    assert shown == []


def test_what_is_kept_back_waits_to_be_opened():
    shown = calipers.evaluate(records(), metrics="recall@10")._repr_html_()
    waiting = shown[shown.rindex("<details>") :]
    assert "more notes</small></summary>" in waiting
    assert "Each mean with its 95% interval" in waiting


def test_scores_show_their_table_and_what_was_counted():
    scores = calipers.evaluate(records(), metrics="recall@10,mrr")
    shown = scores._repr_html_()
    assert f"{scores['recall@10'].mean:.3f}" in shown
    assert ">@10</th>" in shown
    assert "30 queries" in shown


def test_a_comparison_shows_its_differences_as_table_and_chart():
    compared = calipers.compare({"<b>old": records(), "new": reversed_records()})
    shown = compared._repr_html_()
    assert "&lt;b&gt;old (baseline)" in shown
    assert "<b>" not in shown
    assert shown.count("<svg") == 1
