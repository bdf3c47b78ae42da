"""From runs to rows that somebody can judge."""

import json
from typing import Any

import pytest

from calipers import labels_draft
from calipers.errors import InvalidInput, WriteFailed
from calipers.io.records.label_files import read_labels
from calipers.labels.draft import check_unfilled
from tests.command import calipers_command, refused
from tests.questions.samples import write_lines

QUESTIONS = [{"id": "q1", "query": "Who?"}, {"id": "q2", "query": "When?"}]
FIRST = {"q1": ["a", "b", "c"], "q2": ["a"]}
SECOND = {"q1": ["b", "d"], "q3": ["a"]}


@pytest.fixture
def files(tmp_path):
    for name, run in (("first", FIRST), ("second", SECOND)):
        found = {q: [{"id": i, "text": f"{i}\x1b[31m"} for i in items] for q, items in run.items()}
        records = [{"query": query, "retrieved": results} for query, results in found.items()]
        write_lines(tmp_path / f"{name}.jsonl", records)
    write_lines(tmp_path / "questions.jsonl", QUESTIONS)
    return tmp_path


def test_every_pair_once_in_the_order_of_the_questions():
    found = labels_draft([FIRST, SECOND], questions=QUESTIONS, k=2)
    assert [row.query_id for row in found.rows] == ["q1"] * 3 + ["q2"]
    assert {row.item for row in found.rows[:3]} == {"a", "b", "d"}
    assert {row.query for row in found.rows} == {"Who?", "When?"}
    assert (found.queries, found.unknown, found.silent) == (2, 1, ())
    assert labels_draft({"q1": ["a"]}, questions=QUESTIONS).silent == ("q2",)
    assert all((row.grade, row.judge, row.note) == (None,) * 3 for row in found.rows)


def test_the_seed_decides_the_order():
    many = {"q1": [f"d{i}" for i in range(20)]}
    orders = [
        [row.item for row in labels_draft(many, questions=QUESTIONS, k=20, seed=seed).rows]
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != many["q1"]


def test_what_is_judged_is_left_out():
    found = labels_draft(
        [FIRST, SECOND], questions=QUESTIONS, k=2, ground_truth={"q1": {"a": 0, "b": 1}}
    )
    assert [row.item for row in found.rows] == ["d", "a"]
    assert found.judged == 2


def test_texts_and_titles_come_from_the_corpus_beside_the_texts_of_the_runs():
    corpus: list[dict[str, Any]] = [{"id": "a", "text": "A lock.", "document": "gil"}]
    found = labels_draft({"q1": ["a", "x"]}, questions=QUESTIONS, corpus=corpus)
    known = {row.item: (row.text, row.document) for row in found.rows}
    assert known == {"a": ("A lock.", "gil"), "x": (None, None)}
    assert found.without_text == 1
    results: list[Any] = [{"id": one, "text": f"My {one}"} for one in "abcd"]
    results[3]["title"] = "Its own"
    run = [{"query": "Who?", "retrieved": results}]
    corpus = [
        {"id": "a", "text": "A", "metadata": {"Title": "Locks"}},
        {"id": "b", "text": "B", "heading": ["no", "title"]},
    ]
    titled = {row.item: (row.title, row.text) for row in labels_draft(run, corpus=corpus).rows}
    titles = {"a": "Locks", "b": None, "c": None, "d": "Its own"}
    assert titled == {one: (title, f"My {one}") for one, title in titles.items()}


def test_runs_that_know_their_questions_need_no_file():
    run = [{"id": "q1", "query": "Who?", "retrieved": ["a"]}]
    assert labels_draft(run).rows[0].query == "Who?"
    assert labels_draft({"Who is it?": ["a"]}).rows[0].query == "Who is it?"
    with pytest.raises(InvalidInput, match="text of the question 'q1' is not known"):
        labels_draft({"q1": ["a"]})


@pytest.mark.parametrize(
    ("runs", "settings", "sentence"),
    [
        (FIRST, {"k": 0}, "k is 0"),
        ([], {}, "No run is given"),
        (FIRST, {"questions": {"x": "Why?"}}, "nothing to judge: the questions are 'x'"),
        ([[{"query": "q", "ground_truth": ["a"]}]], {}, "holds no results"),
    ],
)
def test_bad_use(runs, settings, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        labels_draft(runs, **{"questions": QUESTIONS, **settings})


def test_the_command(files):
    output = files / "label.csv"
    arguments = ["labels", "draft", files / "first.jsonl", files / "second.jsonl"]
    asked = ["--questions", files / "questions.jsonl"]
    printed = calipers_command(*arguments, *asked, "-k", "2", "-o", output)
    assert printed.code == 0, printed.err
    assert "4 pairs to label for 2 questions: the first 2 results of 2 runs" in printed.out
    assert "1 query of the runs" in printed.out
    rows = [label for _, label in read_labels(output)]
    assert rows == list(
        labels_draft([str(p) for p in arguments[2:]], questions=files / "questions.jsonl", k=2).rows
    )
    shown = output.read_text(encoding="utf-8-sig")
    for word in ("rank", "score", "first", "second"):
        assert word not in shown
    found = calipers_command(*arguments, *asked, "-o", files / "label.jsonl", "--json")
    assert json.loads(found.out)["rows"] == 5


def test_nothing_left_is_no_error_and_no_file_and_a_bad_output_is_refused_first(files):
    (files / "truth.json").write_text('{"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 0}}')
    asked = ["--questions", files / "questions.jsonl", "-g", files / "truth.json"]
    output = files / "label.csv"
    printed = calipers_command("labels", "draft", files / "first.jsonl", *asked, "-o", output)
    assert printed.code == 0
    assert printed.out.startswith("Nothing is left to label, so nothing is written.")
    assert "4 pairs judged before left out." in printed.out
    assert not output.exists()
    odd = files / "label.txt"
    assert "'.txt'" in refused("labels", "draft", files / "missing.jsonl", "-o", odd)


def test_a_file_that_cannot_be_read_as_labels_is_not_written_over(tmp_path):
    path = tmp_path / "label.csv"
    path.write_bytes(b"\xef\xbb\xbf" * 2 + b"query,item,grade\nq,a,1\n")
    before = path.read_bytes()
    with pytest.raises(WriteFailed, match="is there, and cannot be read as labels; name another"):
        check_unfilled(str(path))
    assert path.read_bytes() == before
