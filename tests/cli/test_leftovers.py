"""What is refused leaves nothing behind, and what is asked of a retriever can be measured."""

import json
from pathlib import Path

import pytest

from tests.command import calipers_command, refused

RETRIEVERS = """
def raises(query, k):
    raise RuntimeError("no")


def backwards(query, k):
    return [{"document": "d", "start": 5, "end": 2}]


def far(query, k):
    return [{"document": "d", "start": 0, "end": 10**20}]


def staged(query, k):
    return {"hits": ["a"], "candidates": [{"document": "d", "start": 5, "end": 2}]}


def numbered(query, k):
    return {"hits": ["a"], "candidates": [1.5]}


def right(query, k):
    return {"hits": ["a"], "candidates": ["a", "b"]}
"""
STAGES = ("--results", "$.hits[*]", "--stage", "candidates=$.candidates[*]")
REFUSED = (
    ("eval", "bad.jsonl", "--save", "n", "--store", "new.db"),
    ("eval", "no.jsonl", "--save", "n", "--store", "new.db"),
    ("history", "copy", "exp.db", "--store", "no.db"),
    ("history", "copy", "exp.db", "--store", "e.jsonl"),
    ("history", "copy", "new.db", "--store", "no.db"),
    ("history", "--store", "new.db"),
    ("labels", "export", "--list", "--store", "new.db"),
    ("retrieve", "own.py:raises", "e.jsonl", "-o", "r.jsonl"),
    ("retrieve", "own.py:missing", "e.jsonl", "-o", "r.jsonl"),
    ("retrieve", "own.py:backwards", "e.jsonl", "-o", "r.jsonl"),
    ("retrieve", "own.py:far", "e.jsonl", "-o", "r.jsonl"),
    ("labels", "draft", "bad.jsonl", "-o", "d.csv"),
    ("misses", "bad.jsonl", "-k", "2", "-o", "m.csv"),
    ("gate", "save", "bad.jsonl", "-o", "b.json"),
    ("labels", "export", "bad.jsonl", "e.jsonl", "-o", "a.jsonl"),
    ("eval", "e.jsonl", "--html", "page.html", "--per-query", "scores.xyz"),
    ("eval", "e.jsonl", "--json", "--html", "-"),
    ("eval", "e.jsonl", "--html", "-", "--markdown", "/dev/stdout"),
    ("convert", "e.jsonl", "-", "--json"),
    ("history", "copy", "-", "--store", "no.db"),
    ("history", "--html", "-", "--store", "no.db"),
    ("labels", "draft", "e.jsonl", "-o", "e.jsonl"),
    ("misses", "e.jsonl", "-o", "./e.jsonl"),
    ("eval", "e.jsonl", "--html", "e.jsonl"),
    ("audit", "table.md"),
    ("fuse", "=e.jsonl", "b=bad.jsonl"),
    ("fuse", "e.jsonl", "bad.jsonl", "-o", "out.parquet"),
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    row = {"query": "q", "retrieved": ["a"], "ground_truth": ["a"]}
    (tmp_path / "e.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "bad.jsonl").write_text('{"query": "q", "retrieved": [null]}\n')
    (tmp_path / "own.py").write_text(RETRIEVERS)
    (tmp_path / "table.md").write_text("| query | item |\n|:---|---|\n| q | a |\n")
    return tmp_path


@pytest.mark.parametrize("command", REFUSED, ids=" ".join)
def test_a_refusal_leaves_nothing_behind(command: tuple[str, ...], folder: Path) -> None:
    before, kept = sorted(folder.iterdir()), (folder / "e.jsonl").read_bytes()
    assert refused(*command)
    assert (folder / "e.jsonl").read_bytes() == kept
    assert [one for one in sorted(folder.iterdir()) if one.name != "__pycache__"] == before


@pytest.mark.parametrize("search", ["staged", "numbered", "right"])
def test_what_retrieve_keeps_eval_can_read(search: str, folder: Path) -> None:
    kept = calipers_command("retrieve", f"own.py:{search}", "e.jsonl", "-o", "r.jsonl", *STAGES)
    assert kept.code == (0 if search == "right" else 2), kept.err
    assert (folder / "r.jsonl").exists() == (kept.code == 0)
    if kept.code == 0:
        assert calipers_command("eval", "-r", "r.jsonl", "-g", "e.jsonl").code == 0
