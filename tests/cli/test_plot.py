"""calipers plot with live retrievers and with a settings file."""

import importlib
import json
from pathlib import Path

import pytest

import calipers
from calipers.errors import InvalidInput
from tests.command import calipers_command, refused

SEARCH = """
def first(query, k):
    asked.append(k)
    return [query[-1], *"xyz"]

def second(query, k):
    return [*"xyz", query[-1]]

asked = []
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("plotted.py").write_text(SEARCH)
    rows = "".join(f"question about {name},{name}\n" for name in "abcdefgh")
    Path("questions.csv").write_text(f"question,chunk_id\n{rows}")


def drawn(*arguments):
    printed = calipers_command("plot", *arguments, "-o", "chart.json")
    assert (printed.code, printed.out) == (0, ""), printed.err
    return json.loads(Path("chart.json").read_text())


def means(spec):
    return {row["metric"]: row["mean"] for row in spec["data"]["values"] if row["k"] == 1}


def test_one_retriever_is_asked_and_drawn_over_k():
    spec = drawn("questions.csv", "--retriever", "plotted:first", "-m", "recall", "-k", "1,2")
    assert means(spec) == {"recall": 1.0}
    by_name = drawn("-g", "questions.csv", "--retriever", "it=plotted:second", "-m", "recall")
    assert means(by_name) == {"recall": 0.0}


def test_several_retrievers_are_compared():
    two = ("--retriever", "old=plotted:second", "--retriever", "new=plotted:first")
    spec = drawn("questions.csv", *two, "-m", "mrr")
    assert "old" in json.dumps(spec)
    Path("calipers.toml").write_text('ground-truth = "questions.csv"\n')
    assert drawn(*two, "-m", "mrr") == spec
    assert calipers_command("retrieve", "plotted:second", "questions.csv", "-o", "old.jsonl").out
    one = ("old.jsonl", "--retriever", "new=plotted:first", "-g", "questions.csv", "-m", "mrr")
    assert drawn(*one) == spec


def test_the_settings_file_says_what_is_drawn():
    Path("calipers.toml").write_text(
        'ground-truth = "questions.csv"\nretriever = "plotted:first"\nmetrics = "mrr@2"\nk = 2\n'
    )
    # Metrics at every k are not those of the file, which are measured at one.
    assert means(drawn())["precision"] == 1.0
    slices = drawn("--chart", "slices", "--by", "length")
    assert "mrr@2" in json.dumps(slices)


def test_as_many_results_are_asked_for_as_are_drawn():
    calipers.plot("questions.csv", retriever="plotted:first", metrics="recall", k=[1, 40])
    plotted = importlib.import_module("plotted")

    assert set(plotted.asked) == {80}


def test_one_and_several_do_not_mix():
    with pytest.raises(InvalidInput, match="Several systems are given together with one run"):
        calipers.plot("questions.csv", retrievers={"a": "plotted:first", "b": "plotted:second"})
    said = refused(
        "plot",
        "questions.csv",
        "--retriever",
        "a=plotted:first",
        "--retriever",
        "a=plotted:second",
        "-o",
        "chart.svg",
    )
    assert "Two retrievers are called 'a'" in said
    same = (
        "plot",
        "questions.csv",
        "--retriever",
        "a=plotted:first",
        "--retriever",
        "b=plotted:first",
        "-o",
        "chart.json",
    )
    # Two that answer alike are an answer too.
    assert calipers_command(*same).code == 0
