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
    assert short.read_text().startswith("## hybrid finds half of what it should")


def test_eval_refuses_places_before_any_work(tmp_path):
    said = refused("eval", "no-such-file.json", "--html", tmp_path / "no" / "a.html")
    assert "there is no folder" in said
    said = refused("eval", "no-such-file.json", "--markdown", tmp_path)
    assert "is a folder" in said


def test_a_corpus_tells_more_of_the_misses(evals, tmp_path):
    corpus = tmp_path / "chunks.jsonl"
    chunks = [one for record in records() for one in record["retrieved"]]
    corpus.write_text("".join(json.dumps(one) + "\n" for one in chunks))
    short = tmp_path / "short.md"
    calipers_command("eval", evals, "--markdown", short, "--corpus", corpus)
    assert "not in the corpus" in short.read_text()


def test_compare_writes_a_page(evals, tmp_path):
    second = tmp_path / "reversed.json"
    second.write_text(json.dumps(reversed_records()))
    page = tmp_path / "report.html"
    printed = calipers_command("compare", evals, second, "--html", page, "--against", "reversed")
    assert printed.code == 0, printed.err
    assert printed.out == calipers_command("compare", evals, second, "--against", "reversed").out
    assert "Differences from reversed" in page.read_text()


def test_plot_writes_one_chart(evals, tmp_path):
    for ending, first in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".json", b"{")):
        target = tmp_path / f"recall{ending}"
        printed = calipers_command("plot", evals, "-m", "recall", "-o", target)
        assert (printed.code, printed.out) == (0, "")
        assert target.read_bytes().startswith(first)
    second = tmp_path / "reversed.json"
    second.write_text(json.dumps(reversed_records()))
    target = tmp_path / "differences.svg"
    assert calipers_command("plot", evals, f"again={second}", "-o", target).code == 0
    assert "again" in target.read_text()


def test_plot_refuses_what_it_cannot_draw(evals, tmp_path):
    assert "a chart can be written to" in refused("plot", evals, "-o", tmp_path / "a.bmp")
    said = refused("plot", evals, "--chart", "differences", "-o", tmp_path / "a.svg")
    assert "two systems or more" in said
