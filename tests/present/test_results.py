"""Every result is a text, one line at a prompt, a page in a notebook, a table where it has rows.

What it is beside its command is in tests/contracts/test_results.py.
"""

import html
import re
import sys
from inspect import signature

import pytest
from rich.cells import cell_len

import calipers
from calipers.errors import MissingExtra
from calipers.model.document import Picture, Table
from calipers.model.result import HasRows, ShowsItself
from calipers.operations import OPERATIONS
from calipers.present.markdown import as_markdown
from calipers.version import pip_install
from tests.present.results import MAKERS, hostile, made

OWN_LINE = {"Scores", "LiveRun"}
"""Their line at a prompt says what is in them, not what the command says first."""


def test_the_result_of_every_operation_is_made_here():
    for one in OPERATIONS.values():
        for kind in str(signature(one.function).return_annotation).split("|"):
            assert kind.strip("' ").rpartition(".")[2] in MAKERS, one
    assert {kind.__name__ for kind in _kinds(ShowsItself)} <= {*MAKERS, "EvaluationAnswer"}


def _kinds(kind):
    for one in kind.__subclasses__():
        yield from [one] * ("shown_by" in vars(one))
        yield from _kinds(one)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_result_is_a_text(kind, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    result = made(kind)
    assert (type(result).__name__, isinstance(result, ShowsItself)) == (kind, True)
    text, whole, line = str(result), result.explain(), repr(result)
    assert text.splitlines()[0].strip()
    assert len(whole) >= len(text) - len(".explain()") - len("1 more note: ")
    assert not re.search(r"(?<![\w-])--[a-z]", re.sub("`[^`]*`|calipers .*", "", text + whole))
    assert line.startswith(f"<{kind}")
    assert "\n" not in line
    assert len(line) <= 200
    sentence = result.document().sentence
    assert sentence.endswith((".", "!")), sentence
    assert max(map(cell_len, text.splitlines())) <= 80 or "calipers " in text
    written = html.unescape(as_markdown(result.document()).replace("\\", ""))
    assert re.sub(r"\W+", " ", sentence).strip() in re.sub(r"\W+", " ", written)
    if kind not in OWN_LINE:
        words = re.escape(line.removeprefix(f"<{kind}: ").removesuffix(">")).replace(r"\ ", r"\s+")
        assert re.match(words, text)
    assert capsys.readouterr() == ("", ""), "nothing prints by itself"


@pytest.mark.parametrize("kind", MAKERS)
def test_hostile_text_steers_neither_terminal_nor_page(kind):
    with hostile():
        result = made(kind)
        shown = result._repr_html_()
        assert not re.search(r"[\x1b\u202e]", str(result) + repr(result) + shown)
        assert "<script" not in shown
        assert shown.strip()


@pytest.mark.parametrize("kind", MAKERS)
def test_a_notebook_shows_the_tables_and_the_charts_of_the_document(kind):
    result = made(kind)
    shown, blocks = result._repr_html_(), result.document().blocks
    assert ("<svg" in shown) == any(
        isinstance(one, Picture) and one.draw().panels for one in blocks
    )
    assert shown.count("<table") == sum(isinstance(one, Table) for one in blocks)
    assert shown.count("<table") == shown.count("</table>")
    assert "--explain" not in shown
    # No colour that is lost on a light page or on a dark one.
    assert not re.search(r"(?<![\w-])(color|background): *(black|white|#000|#fff)", shown)


def test_a_notebook_shows_each_result_once(monkeypatch):
    """Where rich believes to be in a notebook it displays whatever is printed, at once."""
    shown = []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *parts: shown.append(parts))
    result = made("Comparison")
    assert (str(result) != "", repr(result) != "", result._repr_html_() != "") == (True,) * 3
    assert shown == []


def test_what_is_kept_back_waits_to_be_opened():
    shown = made("Scores")._repr_html_()
    waiting = shown[shown.rindex("<details>") :]
    assert "more notes</summary>" in waiting
    assert "Each mean with its 95% interval" in waiting


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_are_a_table(kind):
    result = made(kind)
    assert isinstance(result, HasRows) == (result.document().rows is not None)
    if not isinstance(result, HasRows):
        return
    table = result.to_polars()
    # A sample has a row for each look, and nobody has looked yet.
    assert table.height > 0 or kind == "SampleState"
    pandas = pytest.importorskip("pandas", reason="pandas is optional")
    same = result.to_pandas()
    assert isinstance(same, pandas.DataFrame)
    assert (list(same.columns), len(same)) == (table.columns, table.height)


def test_numbers_stay_numbers():
    scores = calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["b", "a"]}, metrics="mrr")
    assert scores.to_polars().select("mean", "low", "n").row(0) == (0.5, None, 1)
    pytest.importorskip("pandas", reason="pandas is optional")
    assert [str(kind) for kind in scores.to_pandas()[["mean", "n"]].dtypes] == ["float64", "int64"]


def test_without_pandas_the_install_command_is_named(monkeypatch):
    scores = calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]})
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=re.escape(pip_install("pandas"))):
        scores.to_pandas()
