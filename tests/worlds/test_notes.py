"""Notes of readers: every number is a fact, the facts are true, and files keep them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.io.records.kept_notes import KeptSentence, with_facts
from calipers.io.records.results import read_result
from calipers.model.fact import Fact, facts_of
from tests.command import typed
from tests.worlds.check import numbers_of

RESULTS = "query,item,rank\n"
JUDGED = "query,item,grade\n"

NOTES: dict[str, tuple[Mapping[str, str], str, str, dict[str, Any]]] = {
    "gaps": (
        {"run.csv": f"{RESULTS}q1,a,1\nq1,b,7\nq2,a,1\nq2,c,3\nq3,a,1\n"},
        "eval run.csv -g truth.csv",
        "The ranks of 2 queries have gaps",
        {"count": 2, "text": "gaps"},
    ),
    "merged cells": (
        {"gold.csv": "question,doc_id\nq1,a\n,b\n,c\nq2,d\n"},
        "eval run.csv -g gold.csv",
        "2 rows have no question and belong to the one above",
        {"count": 2, "text": "merged cells"},
    ),
    "without targets": (
        {"gold.csv": "question,doc_id\nq1,a\nq2,\nq3,\n"},
        "eval run.csv -g gold.csv",
        "2 questions have nothing that should be found, such as 'q2'.",
        {"count": 2, "text": "without targets"},
    ),
    "rated": (
        {"gold.csv": f"{JUDGED}q1,a,1\nq1,b,5\nq2,a,3\n"},
        "eval run.csv -g gold.csv",
        "those with 1, too; --rel 3 counts from 3 on.",
        {"value": 1.0, "text": "lowest grade"},
    ),
    "not read": (
        {
            "gold.csv": "question,doc_id,a1,a2,a3,a4,a5,a6,a7,a8\n"
            "q1,a,by x y,by z w,by m,in u,on it,in v,by a u,by e\nq2,b,,,,,,,,\n"
        },
        "eval run.csv -g gold.csv",
        "not read: a1, a2, a3",
        {"count": 3, "text": "not read"},
    ),
    "copies": (
        {
            "gold.jsonl": "".join(
                json.dumps({"id": f"q{at}", "query": text, "ground_truth": ["a"]}) + "\n"
                for at, text in enumerate(["Who?", "Why?", "Who?", "Who?"], 1)
            ),
        },
        "compare run.csv other.csv -g gold.jsonl --anyway",
        "2 queries have the text of another",
        {"count": 2, "of": 4, "text": "copies"},
    ),
}


def _written(folder: Path, files: Mapping[str, str]) -> None:
    plain = {
        "truth.csv": f"{JUDGED}q1,a,1\nq2,a,1\nq3,a,1\n",
        "other.csv": f"{RESULTS}q1,a,1\nq2,a,1\nq3,a,1\n",
        "run.csv": f"{RESULTS}q1,a,1\nq2,b,1\nq3,a,1\n",
    }
    for name, text in {**plain, **files}.items():
        (folder / name).write_text(text, "utf-8")


@pytest.mark.parametrize("name", NOTES)
def test_numbers_of_a_readers_note_are_facts_and_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, line, words, truth = NOTES[name]
    monkeypatch.chdir(tmp_path)
    _written(tmp_path, files)
    done = typed(f"{line} --missing exclude --json")
    assert done.code == 0, done.err
    sentences = json.loads(done.out)["sentences"]
    for sentence in sentences:
        assert list(numbers_of(sentence)) == []
    facts = [fact for one in sentences if words in one["text"] for fact in one["facts"]]
    assert any(truth.items() <= fact.items() for fact in facts), sentences


@pytest.mark.parametrize("kept", ["a result", "the history"])
def test_what_is_saved_keeps_the_facts_of_its_notes(
    kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _written(tmp_path, NOTES["gaps"][0])
    if kept == "a result":
        Path("saved.json").write_text(typed("eval run.csv -g truth.csv --json").out, "utf-8")
        read = read_result("saved.json")
    else:
        scores = calipers.evaluate("run.csv", ground_truth="truth.csv")
        calipers.save(scores, "nightly", store="history.db")
        read = calipers.history_show("nightly", store="history.db").scores
    facts = [fact for note in read.recorded.notes for fact in facts_of(note)]
    assert Fact(about="count", count=2, text="gaps") in facts


def test_facts_of_a_later_version_leave_the_text() -> None:
    kept = [KeptSentence("1 moon.", [{"about": "moons", "count": 1}])]
    notes = with_facts({"notes": ["1 moon.", 5]}, kept)["notes"]
    assert notes == ["1 moon.", 5]
    assert facts_of(notes[0]) == ()
