"""Results as a notebook shows them."""

import sys

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.present.notebook import as_html
from tests.reports import records, reversed_records


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


def test_a_plot_shows_itself():
    assert calipers.plot(records())._repr_html_().startswith("<svg")


def test_other_values_are_refused():
    with pytest.raises(InvalidInput, match="int has no looks"):
        as_html(3)
