"""`calipers seal` and `calipers confirm`: what they print, and how they end."""

import json
from typing import Any

import pytest

from tests.command import calipers_command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A ground truth and two runs, of which the new one is better."""
    monkeypatch.chdir(tmp_path)
    runs = {"gt": None, "old": (1, 3, 5), "new": ()}
    for name, lost in runs.items():
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for i in range(60):
                one: dict[str, Any] = {"id": f"q{i}", "query": f"What is {i}?"}
                if lost is None:
                    one["ground_truth"] = ["a"]
                else:
                    one["retrieved"] = ["b" if i % 6 in lost else "a"]
                file.write(json.dumps(one) + "\n")
    return tmp_path


def test_from_sealing_to_an_answer(folder):
    sealed = calipers_command("seal", "gt.jsonl")
    assert sealed.code == 0, sealed.err
    assert sealed.out.startswith("Sealed 24 of 60 queries (40%); 36 stay open.")
    asked = ("confirm", "old.jsonl", "new.jsonl", "--sealed", "gt.sealed.jsonl")
    found = calipers_command(*asked)
    assert found.code == 0, found.err
    assert found.out.startswith("▲ Confirmed on the 24 sealed queries: new is better than old: ")
    assert "Look 1 of 5; 4 looks left." in found.out
    again = json.loads(calipers_command(*asked, "--json").out)
    assert again["repeated"]
    assert again["left"] == 4


def test_what_is_not_confirmed_fails_where_that_was_asked_for(folder):
    calipers_command("seal", "gt.jsonl", "--looks", "1")
    asked = ("confirm", "new.jsonl", "old.jsonl", "--sealed", "gt.sealed.jsonl")
    found = calipers_command(*asked)
    assert found.code == 0
    assert found.out.startswith("~ Not confirmed on the 24 sealed queries: old may be no better")
    spent = calipers_command(*asked, "-m", "mrr")
    assert spent.code == 2
    assert "1 look of 1 was taken" in spent.err
    assert "About 24 new queries renew it" in spent.err


def test_the_settings_file_names_both_parts(folder):
    calipers_command("seal", "gt.jsonl")
    (folder / "calipers.toml").write_text(
        'ground-truth = "gt.open.jsonl"\nsealed = "gt.sealed.jsonl"\n'
    )
    assert calipers_command("confirm", "old.jsonl", "new.jsonl").code == 0
    assert "36 queries" in calipers_command("eval", "-r", "new.jsonl").out


def test_a_retriever_may_be_asked_and_the_next_command_confirms(folder):
    calipers_command("seal", "gt.jsonl")
    (folder / "found.py").write_text("def search(query, k):\n    return ['a']\n")
    done = calipers_command("retrieve", "found.py:search", "gt.sealed.jsonl", "-o", "run.jsonl")
    assert done.code == 0, done.err
    assert "calipers confirm OLD run.jsonl --sealed gt.sealed.jsonl" in done.out
    asked = ("confirm", "old.jsonl", "run.jsonl", "--sealed", "gt.sealed.jsonl")
    assert calipers_command(*asked).out.startswith("▲ Confirmed")
