"""Results as a notebook shows them."""

import sys

import pytest

import calipers
from tests.present.results import MAKERS, hostile
from tests.reports import records, reversed_records

DRAWN = {"Comparison", "Grid", "Misses", "Plot", "Slices", "Sweep", "Trend"}
SENTENCES = {"Plot", "QueryPlan", "Report", "Resolution"}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_result_is_a_table_or_a_chart(kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shown = MAKERS[kind]()._repr_html_()
    assert shown.count("<svg") == (kind in DRAWN)
    assert "<table>" in shown or kind in SENTENCES | {"Alarm", "Diagnosis", "Health"}
    assert shown.count("<table>") == shown.count("</table>")
    assert "&lt;rich" not in shown


@pytest.mark.parametrize("kind", ["Comparison", "Diff", "Misses", "Scores", "Slices", "Sweep"])
def test_text_from_a_corpus_becomes_no_markup(kind, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with hostile():
        shown = MAKERS[kind]()._repr_html_()
    assert "<script" not in shown
    assert not set("\x1b\u202e") & set(shown)


def test_scores_show_their_table_and_what_was_counted():
    scores = calipers.evaluate(records(), metrics="recall@10,mrr")
    shown = scores._repr_html_()
    assert f"{scores['recall@10'].mean:.3f}" in shown
    assert "<th>@10</th>" in shown
    assert "30 queries" in shown


def test_a_comparison_shows_its_differences_as_table_and_chart():
    compared = calipers.compare({"<b>old": records(), "new": reversed_records()})
    shown = compared._repr_html_()
    assert "&lt;b&gt;old (baseline)" in shown
    assert "<b>" not in shown
    assert shown.count("<svg") == 1


def test_without_the_library_for_charts_the_table_remains(monkeypatch):
    compared = calipers.compare({"old": records(), "new": reversed_records()})
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = compared._repr_html_()
    assert "<table>" in shown
    assert "pip install" in shown
    assert "<svg" not in shown
