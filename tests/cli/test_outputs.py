"""Pages and tables in files: what can be written is, and what cannot is said."""

import json

import pytest

from tests.command import calipers_command, refused, typed
from tests.reports import records, reversed_records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.json").write_text(json.dumps(records()))
    (tmp_path / "other.json").write_text(json.dumps(reversed_records()))
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("eval none.json --html page.html --markdown nowhere/b.md", "there is no folder nowhere"),
        ("eval none.json --per-query nowhere/s.csv --save nightly", "there is no folder nowhere"),
        ("compare a.json b.json --html nowhere/a.html --per-query all.csv", "no folder nowhere"),
        ("gate none.json --require mrr>=0 --markdown nowhere/s.md", "nowhere"),
        ("eval none.json --markdown .", "is a folder"),
    ],
)
def test_where_something_cannot_be_written_nothing_is_measured(folder, asked, said):
    before = sorted(folder.iterdir())
    assert said in refused(*asked.split())
    assert sorted(folder.iterdir()) == before


def test_a_place_that_fails_while_it_is_written_takes_nothing_with_it(folder, monkeypatch):
    from calipers.errors import WriteFailed
    from calipers.questions.report import show as report

    def fails(*_, **__):
        raise WriteFailed("The output page.html cannot be written: no space left on the device.")

    monkeypatch.setattr(report, "save_html", fails)
    printed = typed("eval evals.json --html page.html --save kept --store h.db")
    assert printed.code == 2
    assert "no space left" in printed.err
    assert "recall" in printed.out
    assert "kept" in typed("history --store h.db").out


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        (("eval", "-m", "recall@3,mrr"), "recall"),
        (("eval", "--by", "type"), "type"),
        (("sweep",), "recall"),
        (("compare", "again=other.json", "--against", "again"), "again"),
    ],
    ids=str,
)
def test_a_page_of_each_answer_stands_beside_the_same_table(folder, words, shows):
    asked = (words[0], "evals.json", *words[1:])
    plain = calipers_command(*asked).out
    printed = calipers_command(*asked, "--html", "it.html")
    assert (printed.code, printed.out) == (0, plain)
    assert "Written to it.html" in printed.err
    page = (folder / "it.html").read_text()
    assert (page.startswith("<!doctype html>"), shows in page) == (True, True)
