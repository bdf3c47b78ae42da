"""Pages, charts and tables in files: what can be written is, and what cannot is said."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.command import calipers_command, refused, typed
from tests.reports import records, reversed_records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evals.json").write_text(json.dumps(records()))
    (tmp_path / "other.json").write_text(json.dumps(reversed_records()))
    return tmp_path


EVAL = {"--per-query": "scores.csv", "--html": "page.html", "--markdown": "short.md"}


@pytest.mark.parametrize("lost", EVAL)
def test_one_of_three_cannot_be_written_and_the_other_two_are(folder, lost):
    places = {**EVAL, lost: f"nowhere/{EVAL[lost]}"}
    asked = [word for pair in places.items() for word in pair]
    printed = calipers_command("eval", "evals.json", *asked, "--save", "nightly", "--store", "h.db")
    assert printed.code == 2
    assert printed.out.startswith("Finds ")
    errors = [line for line in printed.err.splitlines() if line.startswith("Error: ")]
    assert errors == [
        f"Error: The output nowhere/{EVAL[lost]} cannot be written: there is no folder nowhere; "
        "create it."
    ]
    for option, name in EVAL.items():
        assert (folder / name).exists() == (option != lost)
    with closing(sqlite3.connect(folder / "h.db", isolation_level=None)) as history:
        assert history.execute("select count(*) from sqlite_master").fetchone()[0] > 0


def test_a_place_that_fails_while_it_is_written_takes_nothing_with_it(folder, monkeypatch):
    from calipers.errors import WriteFailed
    from calipers.questions.report import show as report

    def fails(*_, **__):
        raise WriteFailed("The output page.html cannot be written: no space left on the device.")

    monkeypatch.setattr(report, "save_html", fails)
    printed = typed("eval evals.json --html page.html --markdown short.md")
    assert printed.code == 2
    assert "no space left" in printed.err
    assert (folder / "short.md").read_text().startswith("## Finds half of what it should")
    assert "recall" in printed.out


def test_where_nothing_asked_for_can_be_written_nothing_is_measured(folder):
    said = refused("eval", "none.json", "--html", "nowhere/a.html", "--markdown", "nowhere/b.md")
    assert "there is no folder nowhere" in said
    assert "folder" in refused("compare", "evals.json", "other.json", "--html", "nowhere/a.html")
    assert "is a folder" in refused("eval", "none.json", "--markdown", folder)
    assert "a chart is written as .svg" in refused("sweep", "none.json", "--chart", "a.bmp")


def test_compare_writes_what_it_can(folder):
    printed = typed("compare evals.json other.json --html nowhere/a.html --per-query all.csv")
    assert printed.code == 2
    assert "there is no folder nowhere" in printed.err
    assert (folder / "all.csv").exists()
    assert "recall@10" in printed.out


def test_a_gate_is_heard_out_although_a_file_is_lost(folder):
    files = ("--junit", "nowhere/junit.xml", "--markdown", "summary.md")
    printed = calipers_command("gate", "evals.json", "--require", "recall@10 >= 0.9", *files)
    assert printed.code == 2
    assert printed.out.startswith("✗ Failed: recall@10 is 0.500 on 30 queries; at least 0.9")
    assert (folder / "summary.md").exists()


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        (("eval", "-m", "recall@3,mrr"), "recall"),
        (("eval", "--by", "type"), "type"),
        (("sweep",), "recall"),
        (("misses",), "should be found"),
        (("compare", "again=other.json", "--against", "again"), "again"),
    ],
    ids=str,
)
def test_a_page_and_one_chart_of_each_answer_stand_beside_the_same_table(folder, words, shows):
    asked = (words[0], "evals.json", *words[1:])
    plain = calipers_command(*asked).out
    for option, name, beginning in (
        ("--chart", "it.svg", "<svg"),
        ("--html", "it.html", "<!doctype html>"),
    ):
        if option == "--html" and words[0] in ("sweep", "misses"):
            continue
        printed = calipers_command(*asked, option, name)
        assert (printed.code, printed.out) == (0, plain)
        assert f"Written to {name}" in printed.err
        page = (folder / name).read_text()
        assert (page.startswith(beginning), shows in page) == (True, True)
