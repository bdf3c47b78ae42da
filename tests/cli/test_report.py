"""Pages and charts from the command line."""

import json

import pytest

from tests.command import calipers_command, refused
from tests.reports import records, reversed_records


@pytest.fixture
def evals(tmp_path):
    path = tmp_path / "hybrid.json"
    path.write_text(json.dumps(records()))
    return path


def test_eval_writes_the_page_and_the_short_form_beside_its_table(evals, tmp_path):
    page, short = tmp_path / "report.html", tmp_path / "short.txt"
    printed = calipers_command("eval", evals, "--html", page, "--markdown", short)
    assert printed.code == 0
    plain = calipers_command("eval", evals)
    assert printed.out == plain.out
    assert f"Written to {page}" in printed.err
    assert page.read_text().startswith("<!doctype html>")
    assert short.read_text().startswith("## Finds half of what it should")
    # Where nothing can be written nothing is read either.
    assert "is a folder" in refused("eval", "no-such-file.json", "--markdown", tmp_path)
    said = refused("sweep", "no-such-file.json", "--chart", tmp_path / "a.bmp")
    assert "'.bmp'; a chart is written as .svg" in said


def test_compare_writes_a_page(evals, tmp_path):
    second = tmp_path / "reversed.json"
    second.write_text(json.dumps(reversed_records()))
    page = tmp_path / "report.html"
    printed = calipers_command("compare", evals, second, "--html", page, "--against", "reversed")
    assert printed.code == 0, printed.err
    assert printed.out == calipers_command("compare", evals, second, "--against", "reversed").out
    assert "hybrid − reversed" in page.read_text()


@pytest.mark.parametrize(
    ("words", "shows"),
    [
        (("eval", "-m", "recall@3,mrr"), "recall"),
        (("eval", "--by", "type"), "type"),
        (("sweep",), "recall"),
        (("misses",), "should be found"),
        (("compare", "again=reversed.json"), "again"),
    ],
    ids=str,
)
def test_one_chart_alone_of_each_answer(evals, tmp_path, monkeypatch, words, shows):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reversed.json").write_text(json.dumps(reversed_records()))
    asked = (words[0], evals, *words[1:])
    printed = calipers_command(*asked, "--chart", "chart.svg")
    assert (printed.code, printed.err) == (0, "Written to chart.svg\n")
    assert printed.out == calipers_command(*asked).out
    assert shows in (tmp_path / "chart.svg").read_text()
