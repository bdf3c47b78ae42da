"""From runs to rows that somebody can judge."""

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers import draft
from calipers.errors import InvalidInput
from calipers.io.records.label_files import read_labels
from calipers.labels.draft import pool_runs, shuffled, without_judged
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import Label
from tests.command import calipers_command, refused

QUESTIONS = [{"id": "q1", "query": "Who?"}, {"id": "q2", "query": "When?"}]
FIRST = {"q1": ["a", "b", "c"], "q2": ["a"]}
SECOND = {"q1": ["b", "d"], "q3": ["a"]}
RUN = st.dictionaries(
    st.sampled_from("pqr"), st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True)
)


@pytest.fixture
def files(tmp_path):
    for name, run in (("first", FIRST), ("second", SECOND)):
        records = [
            {
                "query": query,
                "retrieved": [{"id": item, "text": f"{item}\x1b[31m"} for item in items],
            }
            for query, items in run.items()
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    lines = "".join(json.dumps(one) + "\n" for one in QUESTIONS)
    (tmp_path / "questions.jsonl").write_text(lines)
    return tmp_path


def test_every_pair_once_in_the_order_of_the_questions():
    found = draft([FIRST, SECOND], questions=QUESTIONS, k=2)
    assert [row.query_id for row in found.rows] == ["q1"] * 3 + ["q2"]
    assert {row.item for row in found.rows[:3]} == {"a", "b", "d"}
    assert {row.query for row in found.rows} == {"Who?", "When?"}
    assert (found.queries, found.unknown, found.silent) == (2, 1, ())
    assert all((row.grade, row.judge, row.note) == (None,) * 3 for row in found.rows)


def test_the_seed_decides_the_order():
    many = {"q1": [f"d{i}" for i in range(20)]}
    orders = [
        [row.item for row in draft(many, questions=QUESTIONS, k=20, seed=seed).rows]
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != many["q1"]


def test_questions_without_results_are_named():
    found = draft({"q1": ["a"]}, questions=QUESTIONS)
    assert found.silent == ("q2",)


def test_what_is_judged_is_left_out():
    found = draft([FIRST, SECOND], questions=QUESTIONS, k=2, ground_truth={"q1": {"a": 0, "b": 1}})
    assert [row.item for row in found.rows] == ["d", "a"]
    assert found.judged == 2


def test_texts_from_the_corpus():
    corpus = [{"id": "a", "text": "A lock.", "document": "gil"}, {"id": "b", "text": "B"}]
    found = draft({"q1": ["a", "x"]}, questions=QUESTIONS, corpus=corpus)
    known = {row.item: (row.text, row.document) for row in found.rows}
    assert known == {"a": ("A lock.", "gil"), "x": (None, None)}
    assert found.without_text == 1


def test_runs_that_know_their_questions_need_no_file():
    run = [{"id": "q1", "query": "Who?", "retrieved": ["a"]}]
    assert draft(run).rows[0].query == "Who?"
    assert draft({"Who is it?": ["a"]}).rows[0].query == "Who is it?"
    with pytest.raises(InvalidInput, match="text of the question 'q1' is not known"):
        draft({"q1": ["a"]})


def test_bad_use():
    with pytest.raises(InvalidInput, match="k is 0"):
        draft(FIRST, questions=QUESTIONS, k=0)
    with pytest.raises(InvalidInput, match="No run is given"):
        draft([], questions=QUESTIONS)
    with pytest.raises(InvalidInput, match="nothing to judge: the questions are 'x'"):
        draft(FIRST, questions={"x": "Why?"})
    with pytest.raises(InvalidInput, match="holds no results"):
        draft([[{"query": "q", "ground_truth": ["a"]}]], questions=QUESTIONS)


def test_the_command(files):
    output = files / "label.csv"
    arguments = ["draft", files / "first.jsonl", files / "second.jsonl"]
    asked = ["--questions", files / "questions.jsonl"]
    printed = calipers_command(*arguments, *asked, "-k", "2", "-o", output)
    assert printed.code == 0, printed.err
    assert "4 pairs to label for 2 questions: the first 2 results of 2 runs" in printed.out
    assert "1 query of the runs" in printed.out
    rows = [label for _, label in read_labels(output)]
    assert rows == list(
        draft([str(p) for p in arguments[1:]], questions=files / "questions.jsonl", k=2).rows
    )
    shown = output.read_text(encoding="utf-8-sig")
    for word in ("rank", "score", "first", "second"):
        assert word not in shown
    found = calipers_command(*arguments, *asked, "-o", files / "label.jsonl", "--json")
    assert json.loads(found.out)["rows"] == 5


def test_nothing_left_is_no_error_and_no_file(files):
    (files / "truth.json").write_text('{"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 0}}')
    printed = calipers_command(
        "draft",
        files / "first.jsonl",
        "--questions",
        files / "questions.jsonl",
        "-g",
        files / "truth.json",
        "-o",
        files / "label.csv",
    )
    assert printed.code == 0
    assert "Nothing is left to label; 4 pairs judged before left out" in printed.out
    assert not (files / "label.csv").exists()


def test_a_bad_output_is_refused_before_any_work(files):
    assert "'.txt'" in refused("draft", files / "missing.jsonl", "-o", files / "label.txt")


def frame(run, **columns):
    rows = [(q, rank, item) for q, items in run.items() for rank, item in enumerate(items, 1)]
    return pl.DataFrame(
        rows, schema={"query": pl.String, "rank": pl.Int64, "item": pl.String}, orient="row"
    )


def truth(*targets):
    return GroundTruth.from_targets(pl.DataFrame(targets))


@given(st.lists(RUN, min_size=1, max_size=4), st.integers(1, 5))
@settings(max_examples=100, deadline=None)
def test_the_pool_is_the_union_of_the_first_k(runs, k):
    pool = pool_runs(map(frame, runs), k)
    found = {query: [one.item for one in items] for query, items in pool.items.items()}
    for query in {query for run in runs for query in run}:
        union = {item for run in runs for item in run.get(query, [])[:k]}
        assert sorted(found.get(query, [])) == sorted(union)


@given(st.lists(RUN, min_size=1, max_size=4), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_order_depends_on_nothing_but_seed_and_item(runs, seed):
    there, back = pool_runs(map(frame, runs), 9), pool_runs(map(frame, reversed(runs)), 9)
    for query, items in there.items.items():
        assert shuffled(items, seed) == shuffled(back.items[query], seed)
        # Another run puts its items in between and moves no other.
        kept = [one for one in shuffled(items, seed) if one.item != "a"]
        assert kept == shuffled([one for one in items if one.item != "a"], seed)


def test_rank_does_not_show_in_the_order():
    items = [Label("q", item=f"d{rank}") for rank in range(50)]
    places = [shuffled(items, seed).index(items[0]) for seed in range(200)]
    assert 18 < sum(places) / len(places) < 31  # The middle is 24.5.


def test_what_one_run_knows_completes_the_other():
    ids = pl.DataFrame({"query": ["q"], "rank": [1], "item": ["a"]})
    whole = ids.with_columns(text=pl.lit("A lock."), document=pl.lit("gil"))
    for frames in ([ids, whole], [whole, ids]):
        assert pool_runs(frames, 1).items["q"] == [
            Label("q", item="a", text="A lock.", document="gil")
        ]


def test_without_ids_the_text_tells_items_apart():
    texts = pl.DataFrame({"query": ["q"] * 3, "rank": [1, 2, 3], "text": ["x  y", "x\ny", "z"]})
    assert [one.text for one in pool_runs([texts], 3).items["q"]] == ["x  y", "z"]
    named = pl.DataFrame({"query": ["q"], "rank": [1], "item": ["a"], "text": ["x y"]})
    for frames in ([texts, named], [named, texts]):
        found = pool_runs(frames, 3).items["q"]
        assert {one.item for one in found} == {"a", None}
        assert len(found) == 2


def test_two_ids_with_one_text_are_two_items():
    rows = pl.DataFrame({"query": ["q"] * 2, "rank": [1, 2], "item": ["a", "b"], "text": ["x"] * 2})
    assert [one.item for one in pool_runs([rows], 2).items["q"]] == ["a", "b"]


def test_whatever_a_ground_truth_recognises_is_left_out():
    items = {
        "q": [
            Label("q", item="a"),
            Label("q", item="b", text="It is\na lock."),
            Label("q", item="c", text="Else", document="d", start=10, end=20),
            Label("q", item="d", text="Else", document="d", start=12, end=20),
        ]
    }
    by_id = truth({"query": "q", "item": "a", "grade": 0.0})
    by_quote = truth({"query": "q", "quote": "is a lock"})
    by_span = truth({"query": "q", "document": "d", "start": 11, "end": 19})
    other = truth({"query": "p", "item": "a"}, {"query": "p", "item": "b"})
    for ground_truth, gone in ((by_id, "a"), (by_quote, "b"), (by_span, "c"), (other, "")):
        left, count = without_judged(items, ground_truth)
        assert [one.item for one in left["q"]] == [i for i in "abcd" if i != gone]
        assert count == len(gone)
