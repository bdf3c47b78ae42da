"""Thirty labels: would somebody ask it, and is the target right?"""

import io
import json

import pytest

from calipers.questions.begin.check import made_questions, waiting
from tests.command import calipers_command


def record(number, **tags):
    return {
        "id": f"headings-{number}",
        "query": f"Keep part {number} warm",
        "tags": {"source": "headings", "file": "a.md", "line": number, **tags},
        "ground_truth": [{"quote": f"Part {number} stays warm while its lid is closed."}],
    }


@pytest.fixture
def questions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(record(n)) + "\n" for n in range(8)))
    return path


def sample(monkeypatch, keys, *options):
    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    return calipers_command("labels", "sample", "questions.jsonl", *options)


def checked(path):
    return [one["tags"].get("checked") for one in made_questions(path)]


def test_one_key_each_and_every_answer_is_kept(questions, monkeypatch):
    stopped = sample(monkeypatch, "yxn", "-n", "4")
    assert stopped.code == 0, stopped.err
    assert sorted(filter(None, checked(questions))) == ["nobody asks", "yes"]
    assert "2 are left; the same command goes on." in stopped.out
    done = sample(monkeypatch, "wy", "-n", "4")
    assert "2 of 4 questions are fit: 1 nobody would ask, 1 with the wrong target." in done.out
    assert "calipers eval -g questions.jsonl --where checked=yes" in done.out
    assert checked(questions).count(None) == 4
    run = [
        {"query": one["id"], "retrieved": [{"text": one["ground_truth"][0]["quote"]}]}
        for one in made_questions(questions)
    ]
    questions.with_name("run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in run))
    scored = calipers_command(
        "eval", "-g", "questions.jsonl", "-r", "run.jsonl", "--where", "checked=yes"
    )
    assert "2 queries" in scored.out, scored.err


def test_what_is_unfit_leaves_the_set_by_a_command(questions, monkeypatch):
    sample(monkeypatch, "ynw", "-n", "3")
    done = calipers_command("labels", "sample", "questions.jsonl", "--drop")
    assert (done.code, done.out) == (
        0, "Moved 2 questions from questions.jsonl to dropped.jsonl; 6 are left.\n"
    )  # fmt: skip
    assert len(made_questions(questions)) == 6
    lines = questions.with_name("dropped.jsonl").read_text().splitlines()
    assert {json.loads(one)["reason"] for one in lines} == {"nobody asks", "wrong target"}
    again = calipers_command("labels", "sample", "questions.jsonl", "--drop")
    assert again.code == 2
    assert "there is nothing to drop" in again.err


def test_the_draw_is_random_and_the_same_for_a_seed():
    records = [record(n) for n in range(40)]
    first = waiting(records, 10, 0)
    assert first == waiting(records, 10, 0) != waiting(records, 10, 1)
    assert first != sorted(first)
    records[first[0]]["tags"]["checked"] = "yes"
    assert waiting(records, 10, 0) == first[1:]


def test_other_files_are_no_made_questions(tmp_path):
    for text in ("", "[1]\n", '{"query": "a", "ground_truth": ["b"]}\n', "\x00"):
        (tmp_path / "a.jsonl").write_text(text)
        assert made_questions(tmp_path / "a.jsonl") is None
