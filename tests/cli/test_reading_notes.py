"""Every command that reads a table says what it understood, in the same words."""

import json

import pytest

from tests.command import calipers_command

SAID = "query ← Frage, target ← Chunk, grade ← Relevanz; not read: Kommentar."
PAIR = ("-g", "fragen.csv", "-r", "run.jsonl")
COMMANDS = {
    "eval": ("eval", *PAIR),
    "levels": ("eval", *PAIR, "--level", "all"),
    "sweep": ("sweep", *PAIR),
    "diagnose": ("diagnose", *PAIR),
    "misses": ("misses", *PAIR),
    "compare": ("compare", "run.jsonl", "other.jsonl", "-g", "fragen.csv"),
    "gate": ("gate", *PAIR, "--require", "recall@5>=0.1"),
    "audit": ("audit", "fragen.csv"),
    "convert": ("convert", "fragen.csv", "out.jsonl"),
    "baseline": ("gate", "save", *PAIR, "-o", "base.json"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["Frage;Chunk;Relevanz;Kommentar", "How?;a;1;gut", "How?;b;0;", "When?;c;1;"]
    (tmp_path / "fragen.csv").write_text("\n".join(rows) + "\n")
    for name, first in (("run.jsonl", ["a", "b"]), ("other.jsonl", ["b", "a"])):
        lines = ({"query": "How?", "retrieved": first}, {"query": "When?", "retrieved": ["c"]})
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_what_was_understood_is_said(name, here):
    printed = calipers_command(*COMMANDS[name], columns=200)
    assert printed.code == 0, printed.err
    assert SAID in printed.out + printed.err
