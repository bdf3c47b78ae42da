"""From runs to rows that somebody can judge."""

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers import labels_draft
from calipers.errors import InvalidInput, WriteFailed
from calipers.io.records.label_files import read_labels
from calipers.labels.draft import check_unfilled, with_targets
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from calipers.model.run import Run
from tests.command import calipers_command, refused
from tests.questions.samples import write_lines

QUESTIONS = [{"id": "q1", "query": "Who?"}, {"id": "q2", "query": "When?"}]
FIRST = {"q1": ["a", "b", "c"], "q2": ["a"]}
SECOND = {"q1": ["b", "d"], "q3": ["a"]}
ITEMS = st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("abcd")), unique=True)


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


@given(ITEMS, ITEMS.filter(bool), st.sampled_from([{"p": "P?", "q": "Q?"}, {"p": "P?"}]))
def test_everything_returned_and_everything_expected_is_there_once(rows, targets, asked):
    truth = GroundTruth.from_targets(pl.DataFrame(targets, schema=["query", "item"], orient="row"))
    rows = [one for one in rows if one[0] in asked]
    given_rows = [Label(query, item=item) for query, item in rows]
    found = with_targets(given_rows, truth, [], asked, seed=3)
    expected = {one for one in targets if one[0] in asked}
    assert sorted((one.query_id, one.item) for one in found) == sorted({*rows, *expected})
    # Question by question, and where a target comes from does not show in its place.
    assert [one.query_id for one in found] == sorted(one.query_id for one in found)
    more = [*given_rows, *(Label(query, item=item) for query, item in expected)]
    other = with_targets(more, truth, [], asked, seed=3)
    assert [one.pair for one in found] == [one.pair for one in other]


def test_texts_come_from_wherever_a_run_knows_them():
    names = ("query", "rank", "item", "text", "document", "start", "end")
    rows = [("q", 1, "c1", "Door.", "d", 0, 5), ("q", 2, "c2", "0123456789", "d", 100, 110)]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    targets: list[dict[str, Any]] = [
        {"item": "c1"},
        {"quote": "a sentence"},
        {"document": "d", "start": 102, "end": 105},
        {"document": "d", "start": 500, "end": 510},
    ]
    truth = GroundTruth.from_targets(pl.DataFrame([{"query": "r", **one} for one in targets]))
    run = Run.from_frame(frame, order="rank", name="one")
    found = with_targets([], truth, [run], {"r": "R?"}, seed=0)
    # The last span stands in no chunk, so there is nothing to read.
    assert {one.text for one in found} == {"Door.", "a sentence", "234"}
    assert {one.query for one in found} == {"R?"}


def test_a_target_that_no_run_returns_can_be_put_right(tmp_path):
    quotes = ("a sentence", "another way to say it", "gone")
    targets = [{"quote": one, "group": "g"} for one in quotes[:2]]
    truth = [{"query": "q ?", "ground_truth": [*targets, {"quote": quotes[2]}]}]
    run = [{"query": "q ?", "retrieved": [{"id": "c", "text": "Here is a sentence."}]}]
    desk = calipers.labels_pool(
        "again", {"one": run}, ground_truth=truth, again=True, store=str(tmp_path / "h.db")
    )
    before = desk.truth().ground_truth
    at = {one.label.text: one.position for one in desk.items}
    assert set(at) == {"Here is a sentence.", "a sentence", "another way to say it", "gone"}
    desk.give("me", at["gone"], 0)
    desk.give("me", at["another way to say it"], 3)
    after = desk.truth().ground_truth
    assert after.fingerprint != before.fingerprint
    rows = {row["quote"]: row for row in after.targets.iter_rows(named=True)}
    assert [rows[quote]["grade"] for quote in quotes] == [1, 3, 0]
    # Two ways to say it are still two ways to say the same.
    assert rows["a sentence"]["group"] == rows["another way to say it"]["group"] is not None


def test_a_file_that_cannot_be_read_as_labels_is_not_written_over(tmp_path):
    path = tmp_path / "label.csv"
    path.write_bytes(b"\xef\xbb\xbf" * 2 + b"query,item,grade\nq,a,1\n")
    before = path.read_bytes()
    with pytest.raises(WriteFailed, match="is there, and cannot be read as labels; name another"):
        check_unfilled(str(path))
    assert path.read_bytes() == before
