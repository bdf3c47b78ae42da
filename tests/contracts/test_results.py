"""A result as text is what its command prints, but for names: --explain is .explain() in Python."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.cli import every_command
from calipers.present.terminal import first_line
from tests.command import calipers_command, refused
from tests.reports import records, reversed_records

GRID = """ground-truth = "truth.jsonl"
[grid]
k = 2
[grid.retrievers.one]
search = "found:first"
[grid.retrievers.two]
search = "found:first"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the command and Python are both given."""
    made = tmp_path_factory.mktemp("results")
    old, new = records(12), reversed_records(12)
    new[0] = {**new[0], "retrieved": [], "error": "ValueError: no index"}
    scored = [
        {
            "query": f"q{i}",
            "retrieved": [{"id": "a", "score": 0.8}],
            "ground_truth": ["a"] * (i > 3),
        }
        for i in range(30)
    ]
    called = [{"query": "q", "ground_truth": ["a"], "retrieved": [{"id": "a", "call": 1}]}]
    truth = [{"query": "q", "ground_truth": [{"quote": "the lock"}]}]
    files = {"old": old, "new": new, "scored": scored, "calls": called, "truth": truth}
    for name, rows in files.items():
        made.joinpath(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    made.joinpath("grid.toml").write_text(GRID)
    made.joinpath("found.py").write_text("def first(query, k):\n    return ['a']\n")
    for judge in ("anna", "bo"):
        rows = "".join(f"{q},a,{i % 2 * (judge == 'bo')},{judge}\n" for i, q in enumerate("qrst"))
        made.joinpath(f"{judge}.csv").write_text("query_id,item,grade,judge\n" + rows)
    for source in (old, old, new):
        scores = calipers.evaluate(source)
        calipers.save(scores, "nightly", store=made / "history.db")
    return made


BOTH = {"old": "old.jsonl", "new": "new.jsonl"}
STORE: dict[str, Any] = {"store": "history.db"}
CASES: dict[str, Any] = {
    "eval new.jsonl": lambda: calipers.evaluate("new.jsonl"),
    "eval old.jsonl --level all": lambda: calipers.levels("old.jsonl", at="all"),
    "compare old.jsonl new.jsonl": lambda: calipers.compare(BOTH),
    "sweep old.jsonl": lambda: calipers.sweep("old.jsonl"),
    "sweep --floor scored.jsonl": lambda: calipers.floor("scored.jsonl"),
    "eval --calls calls.jsonl": lambda: calipers.calls("calls.jsonl"),
    "diagnose new.jsonl": lambda: calipers.diagnose("new.jsonl"),
    "diagnose --rules": calipers.rules,
    "misses new.jsonl": lambda: calipers.misses("new.jsonl"),
    "explain q5 --retriever found:first -g scored.jsonl": lambda: calipers.explain(
        "q5", retriever="found:first", ground_truth="scored.jsonl"
    ),
    "gate new.jsonl --require mrr>=0.9": lambda: calipers.gate("new.jsonl", require="mrr>=0.9"),
    "audit old.jsonl": lambda: calipers.audit("old.jsonl"),
    "plan old.jsonl new.jsonl --queries 50": lambda: calipers.plan(BOTH, queries=50),
    "history --store history.db": lambda: calipers.history(**STORE),
    "history show @nightly --store history.db": lambda: calipers.history_show("@nightly", **STORE),
    "history trend nightly --store history.db": lambda: calipers.history_trend("nightly", **STORE),
    "history alarm nightly --store history.db": lambda: calipers.history_alarm("nightly", **STORE),
    "history check --store history.db": lambda: calipers.history_check(**STORE),
    "labels agreement anna.csv bo.csv": lambda: calipers.labels_agreement(["anna.csv", "bo.csv"]),
    "grid grid.toml --dry-run": lambda: calipers.plan_grid("grid.toml"),
    "metrics": calipers.metrics,
    "metrics recall": lambda: calipers.metrics("recall"),
}
NAMES = {
    "--explain": ".explain()",
    "--csv": ".to_polars()",
    "more: -o FILE": "more: .to_polars()",
    "-o FILE writes": "write() writes",
}
"""What has another name in Python; every other option is the keyword."""


def same_words(text: str, printed: str) -> bool:
    """Whether both say the same, up to a command: only a terminal knows what was typed."""
    ours, theirs = (
        " ".join(one.replace("`", "").split()).partition("calipers ")[0].strip()
        for one in (text, in_python(printed))
    )
    assert ours == theirs
    return True


def in_python(printed: str) -> str:
    """What a command prints with the names of Python, word by word: lines may break elsewhere.

    A line that is a command to paste is left out: only the command knows what was typed.
    """
    printed = re.sub(r"(?m)^ *calipers .*\n", "", printed)
    for option, name in NAMES.items():
        printed = printed.replace(option, name)
    parts = printed.split("`")
    parts[::2] = (re.sub(r"(?<![\w-])--(?=[a-z])", "", one) for one in parts[::2])
    return " ".join("`".join(parts).split())


@pytest.mark.parametrize("command", CASES)
def test_a_result_is_the_text_of_its_command(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = CASES[command]()
    printed = calipers_command(*command.split())
    assert (printed.code in (0, 1), printed.err) == (True, "")
    if "calipers " not in printed.out and in_python(printed.out) == " ".join(printed.out.split()):
        assert str(result) == printed.out.rstrip("\n")
    assert same_words(str(result), printed.out)
    quiet = calipers_command(*command.split(), "--quiet")
    assert (quiet.code, quiet.err) == (printed.code, "")
    assert quiet.out.splitlines() == [first_line(result.document())]
    whole = calipers_command(*command.split(), "--explain")
    if "No such option" not in whole.err:
        assert same_words(result.explain(), whole.out)


def test_every_command_that_answers_can_be_asked_for_one_line():
    answering = {
        name: {option for one in command.params for option in one.opts}
        for name, command in every_command().items()
        if name != "init" and any(one.name == "as_json" for one in command.params)
    }
    assert len(answering) > 25
    assert [name for name, options in answering.items() if "--quiet" not in options] == []


def test_one_line_is_a_form_of_its_own(folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = refused("eval", "old.jsonl", "--json", "--quiet")
    assert "Both --json and --quiet are given; a result is printed in one form" in said
    assert refused("eval", "nowhere.jsonl", "--quiet")
