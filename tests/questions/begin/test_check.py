"""Thirty labels: would somebody ask it, and is the target right?"""

import io
import json
import re
from collections import Counter

import pytest

import calipers
from calipers.errors import InvalidInput
from calipers.questions.begin.check import made_questions
from tests.command import calipers_command

RUN = ("-g", "questions.jsonl", "-r", "run.jsonl")


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
    records = [record(n) for n in range(8)]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    run = [
        {"query": one["id"], "retrieved": [{"text": one["ground_truth"][0]["quote"]}]}
        for one in records
    ]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in run))
    return path


def sample(monkeypatch, keys, *options):
    monkeypatch.setattr("sys.stdin", io.StringIO(keys))
    return calipers_command("labels", "sample", "questions.jsonl", *options)


def checked(path):
    return [one["tags"].get("checked") for one in made_questions(path)]


def test_one_key_each_and_every_answer_is_kept(questions, monkeypatch):
    stopped = sample(monkeypatch, "yyxn", "-n", "4")
    assert stopped.code == 0, stopped.err
    assert Counter(checked(questions)) == {"yes": 1, "nobody asks": 1, "drawn": 2, None: 4}
    assert "2 are left; the same command goes on." in stopped.out
    unready = calipers_command("eval", *RUN, "--corrected-by", "questions.jsonl")
    assert unready.code == 2
    said = " ".join(unready.err.split())
    assert (
        "`calipers labels sample questions.jsonl`: 2 of 4 drawn questions are not checked" in said
    )
    done = sample(monkeypatch, "ynyy", "-n", "4")
    assert "2 of 4 checked questions are fit: 1 nobody would ask, 1 with the wrong" in done.out
    assert "calipers eval --corrected-by questions.jsonl" in done.out
    assert "calipers labels sample questions.jsonl --drop" in " ".join(done.out.split())


def test_the_corrected_number_is_that_of_the_fit_questions(questions):
    names = [one["id"] for one in calipers.labels_check(questions, most=6).waiting]
    says = ["yes", "nobody asks", "yes", "yes", "wrong target", "yes"]
    answers = dict(zip(names, says, strict=True))
    found = calipers.labels_check(questions, most=6, answers=answers)
    assert (found.drawn, found.fit, found.left) == (6, 4, 0)
    fit = [name for name, said in answers.items() if said == "yes"]
    texts = {one["id"]: one["ground_truth"][0]["quote"] for one in made_questions(questions)}
    # Word matching misses one that is fit, and both that are not.
    run = {name: [text] for name, text in texts.items() if name in fit[1:] or name not in names}
    asked = {"ground_truth": questions, "run": [
        {"query": name, "retrieved": [{"text": run.get(name, ["-"])[0]}]} for name in texts
    ]}  # fmt: skip
    one = calipers.corrected(**asked, people=questions, metrics="recall@1")["recall@1"]
    assert (one.value, one.people, one.machine, one.sampled) == (0.75, 0.75, 5 / 8, 4)
    alone = calipers.evaluate(**asked, metrics="recall@1", where={"checked": "yes"})
    assert one.interval.low == pytest.approx(alone["recall@1"].interval.low)
    # What is dropped changes nothing: the others are still a random part of those that are fit.
    left = calipers.labels_check(questions, drop=True)
    assert (left.dropped, left.questions) == (2, 6)
    again = calipers.corrected(**asked, people=questions, metrics="recall@1")["recall@1"]
    assert again.interval == one.interval


def test_too_few_fit_questions_ask_for_more_by_a_command_that_works(questions, monkeypatch):
    sample(monkeypatch, "yynn", "-n", "3")
    refused = calipers_command("eval", *RUN, "--corrected-by", "questions.jsonl")
    said = " ".join(refused.err.split())
    assert "1 of 3 are fit, and at least 2 must be" in said
    command = re.search(r"`calipers ([^`]*)`", said)[1]
    monkeypatch.setattr("sys.stdin", io.StringIO("y" * 20))
    assert calipers_command(*command.split()).code == 0
    assert calipers_command("eval", *RUN, "--corrected-by", "questions.jsonl").code == 0


def test_questions_that_people_add_are_kept_and_neither_drawn_nor_corrected(questions, monkeypatch):
    answers = dict.fromkeys(
        (one["id"] for one in calipers.labels_check(questions, most=4).waiting), "yes"
    )
    calipers.labels_check(questions, most=4, answers=answers)
    before = calipers_command("eval", *RUN, "--corrected-by", "questions.jsonl", "--json")
    own = {"id": "own", "query": "What is it?", "ground_truth": [{"quote": "It is not there."}]}
    with questions.open("a") as file:
        file.write(json.dumps(own) + "\n")
    again = sample(monkeypatch, "xx", "-n", "4")
    assert again.code == 0, again.err
    assert "4 of 4 checked questions are fit" in again.out
    assert json.loads(questions.read_text().splitlines()[-1]) == own
    after = calipers_command("eval", *RUN, "--corrected-by", "questions.jsonl", "--json")
    assert json.loads(after.out)["corrected"] == json.loads(before.out)["corrected"]
    sample(monkeypatch, "n", "-n", "5")
    assert calipers_command("labels", "sample", "questions.jsonl", "--drop").code == 0
    assert json.loads(questions.read_text().splitlines()[-1]) == own


def test_the_corrected_number_of_another_folder_names_its_settings(questions, monkeypatch):
    (questions.parent / "out").mkdir()
    moved = questions.rename(questions.parent / "out" / "questions.jsonl")
    (moved.parent / "calipers.toml").write_text(
        'ground-truth = "questions.jsonl"\nrun = "../run.jsonl"\n'
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("y" * 20))
    done = calipers_command("labels", "sample", "out/questions.jsonl", "-n", "3")
    assert done.code == 0, done.err
    command = re.search(r"The corrected number: calipers (.*)", done.out)[1]
    assert calipers_command(*command.split()).code == 0, command


def test_what_is_unfit_leaves_the_set_by_a_command(questions, monkeypatch):
    sample(monkeypatch, "yynyn", "-n", "3")
    done = calipers_command("labels", "sample", "questions.jsonl", "--drop")
    assert done.code == 0
    assert done.out.startswith("Moved 2 questions to dropped.jsonl; 6 stay.\n")
    assert len(made_questions(questions)) == 6
    lines = questions.with_name("dropped.jsonl").read_text().splitlines()
    assert {json.loads(one)["reason"] for one in lines} == {"nobody asks", "wrong target"}
    again = calipers_command("labels", "sample", "questions.jsonl", "--drop")
    assert again.code == 2
    assert "there is nothing to drop" in again.err


def test_the_draw_is_random_and_the_same_for_a_seed(questions):
    before = questions.read_bytes()
    drawn = []
    for seed in (0, 0, 1):
        questions.write_bytes(before)
        found = calipers.labels_check(questions, most=4, seed=seed)
        drawn.append([one["id"] for one in found.waiting])
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != sorted(drawn[0])
    others = [one["id"] for one in made_questions(questions) if one["id"] not in drawn[2]]
    for name, said in ((drawn[2][0], "maybe"), (others[0], "yes"), ("none", "yes")):
        # Nobody chooses what is checked.
        with pytest.raises(InvalidInput, match="give the id of a question that was drawn"):
            calipers.labels_check(questions, most=4, seed=1, answers={name: said})


def test_other_files_are_no_made_questions(tmp_path):
    for text in ("", "[1]\n", '{"query": "a", "ground_truth": ["b"]}\n', "\x00"):
        (tmp_path / "a.jsonl").write_text(text)
        assert made_questions(tmp_path / "a.jsonl") is None
