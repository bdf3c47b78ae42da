"""An editor and mypy see every keyword of the public operations."""

import re

import pytest
from mypy import api

GOOD = """
pair: calipers.Matched = calipers.read("evals.jsonl", match="quote", like="trec_eval", ties="trec")
scores: calipers.Scores = calipers.evaluate(pair, metrics=["recall@10", "mrr"], k=5)
calipers.evaluate(ground_truth={"q": ["a"]}, run={"q": ["a"]}, missing="exclude", rel=2)
calipers.sweep(pair, tokens=4000, price=2.5)
calipers.diagnose("evals.jsonl", k=10, store="history.db")
calipers.misses(pair, k=10, corpus="chunks.jsonl")
calipers.bounds(pair, metrics="recall@10")
calipers.compare({"old": pair, "new": "run.jsonl"}, "truth.jsonl", unanswerable="zero")
verdict: calipers.Verdict = calipers.gate(pair, require=["recall@10 >= 0.8"])
report: calipers.Report = calipers.report(pair, name="bm25")
calipers.sweep(pair).save_chart("k.svg")
"""

BAD = """
pair = calipers.read("evals.jsonl")
calipers.evaluate(pair, metric="mrr")  # error: [call-arg]
calipers.evaluate(pair, missing="skip")  # error: [arg-type]
calipers.evaluate(pair, ties=3)  # error: [arg-type]
calipers.read("evals.jsonl", mach="id")  # error: [call-arg]
calipers.sweep(pair, budget=4000)  # error: [call-arg]
calipers.misses(pair, k="10")  # error: [arg-type]
calipers.diagnose(pair, threshold={})  # error: [call-arg]
calipers.gate(pair, requires="recall@10 >= 0.8")  # error: [call-arg]
calipers.compare({"old": pair}, run="run.jsonl")  # error: [call-arg]
calipers.report(pair, html="x.html")  # error: [call-arg]
calipers.evaluate(pair)["mrr"].median.hex  # error: [union-attr]
calipers.evalute(pair)  # error: [attr-defined]
"""

EXPECTED = re.compile(r"# error: \[([\w-]+)\]")
FOUND = re.compile(r"(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The errors of mypy by file and line, as in a user's project."""
    folder = tmp_path_factory.mktemp("typing")
    for name, source in (("good", GOOD), ("bad", BAD)):
        (folder / f"{name}.py").write_text(f"import calipers{source}")
    options = ["--strict", "--follow-imports=silent", "--no-error-summary", "--config-file="]
    cache = ["--cache-dir", str(folder / "cache")]
    printed, problems, _ = api.run([*options, *cache, *map(str, folder.glob("*.py"))])
    assert not problems, problems
    lines = [FOUND.search(line) for line in printed.splitlines() if "error:" in line]
    assert all(lines), printed
    return {name: {int(m[2]): m[3] for m in lines if m[1] == name} for name in ("good", "bad")}


@pytest.mark.parametrize(("name", "source"), [("good", GOOD), ("bad", BAD)])
def test_mypy_marks_the_mistakes_and_nothing_else(found, name, source):
    expected = {
        number: wanted[1]
        for number, line in enumerate(source.splitlines(), 1)
        if (wanted := EXPECTED.search(line))
    }
    assert expected == found[name]
