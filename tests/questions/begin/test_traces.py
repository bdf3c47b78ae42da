"""Questions out of traces, each once; and labels out of clicks."""

import json
import os
import random
import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.io.formats.traces import RetrieverCall
from calipers.io.formats.ubi import Behaviour, Search
from calipers.questions.begin.traces import grades_by_clicks, sample_traces
from tests.command import calipers_command
from tests.io.formats.expect import FIXTURES


def call(query, *ids):
    return RetrieverCall(query, tuple({"id": one} for one in ids))


QUESTIONS = ["Who?", "who?", " Who? ", "When?", "Where is it?"]


@given(
    st.lists(st.tuples(st.sampled_from(QUESTIONS), st.lists(st.sampled_from("abc"))), min_size=1),
    st.integers(1, 4),
)
def test_each_question_once_and_as_many_as_asked_for(made, n):
    records = [("file", call(query, *ids)) for query, ids in made]
    every = sample_traces(records)
    keys = {query.strip().lower() for query, _ in made}
    assert (every.traces, every.unique, len(every.questions)) == (len(made), len(keys), len(keys))
    assert sum(one.asked for one in every.questions) == len(made)
    some = sample_traces(records, n=n)
    assert len(some.questions) == min(n, len(keys))
    assert {one.id for one in some.questions} <= {one.id for one in every.questions}
    assert some == sample_traces(records, n=n)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of Unix")
def test_a_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "otlp.json")
    content = (FIXTURES / "otlp.json").read_bytes()
    writing = threading.Thread(target=(tmp_path / "otlp.json").write_bytes, args=(content,))
    writing.start()
    found = calipers.labels_traces(tmp_path / "otlp.json")
    writing.join()
    assert found.to_dict() == calipers.labels_traces(FIXTURES / "otlp.json").to_dict()


def test_from_traces_to_a_file_to_label(tmp_path):
    output, label = tmp_path / "questions.jsonl", tmp_path / "label.csv"
    files = (FIXTURES / "langsmith.jsonl", FIXTURES / "langfuse.jsonl")
    flags = [part for one in files for part in ("--from-traces", one)]
    done = calipers_command("labels", "draft", *flags, "-n", "5", "-o", str(output))
    assert done.code == 0, done.err
    assert "2 of 2 different questions, from 4 askings" in done.out
    drafted = calipers_command("labels", "draft", str(output), "-o", str(label))
    assert drafted.code == 0, drafted.err
    assert "global interpreter lock" in label.read_text()


def test_a_file_without_a_retrieval_is_passed_over(tmp_path):
    quiet = tmp_path / "quiet.jsonl"
    quiet.write_text(json.dumps({"name": "llm", "attributes": {"input.value": "Who?"}}) + "\n")
    found = calipers.labels_traces([quiet, FIXTURES / "langsmith.jsonl"])
    alone = calipers.labels_traces(FIXTURES / "langsmith.jsonl")
    assert found.questions == alone.questions
    assert found.notes == (f"{quiet} has no retrieval span and was passed over.",)
    with pytest.raises(InvalidInput, match="no retrieval span among the one span of"):
        calipers.labels_traces([quiet])


def test_other_files_are_refused_with_what_is_allowed(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text('{"query": "q", "retrieved": ["a"]}\n')
    with pytest.raises(InvalidInput, match="is no part of a trace; give an export"):
        calipers.labels_traces(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match="it is not JSON"):
        calipers.labels_traces(path)
    with pytest.raises(InvalidInput, match="of at least 1"):
        calipers.labels_traces(FIXTURES / "langsmith.jsonl", n=0)


def search(number, question, *hits):
    return {"query_id": f"s{number}", "user_query": question, "query_response_hit_ids": [*hits]}


def event(number, item, action="click"):
    about = {"object": {"object_id": item}, "position": {"ordinal": 1}}
    return {"action_name": action, "query_id": f"s{number}", "event_attributes": about}


def write(path, rows):
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


QUERIES = [
    *(search(i, "reset password", "a", "b", "c") for i in range(8)),
    *(search(i, "Reset  password", "b", "a", "c") for i in range(8, 10)),
    *(search(i, "opening hours", "d", "e") for i in range(10, 14)),
    search(14, "jobs"),
    search(15, "  "),
]
EVENTS = [
    *(event(i, "a") for i in (0, 0, 1, 2)),
    *(event(i, "b") for i in (3, 4, 5, 6, 8, 9)),
    event(10, "d"),
    event(11, "nowhere"),
    *(event(i, "c", "impression") for i in range(10)),
]


def test_questions_have_their_frequency_results_and_labels_by_clicks(tmp_path):
    files = write(tmp_path / "q.jsonl", QUERIES), write(tmp_path / "e.jsonl", EVENTS)
    output = tmp_path / "questions.jsonl"
    flags = [part for file in files for part in ("--from-traces", file)]
    said = calipers_command("labels", "draft", *flags, "-o", output, columns=200)
    assert said.out.startswith("3 of 3 different questions, from 15 askings.")
    assert "Clicks are biased" in said.out
    assert "About thirty labels by people correct them" in said.out
    first, second, third = map(json.loads, output.read_text().splitlines())
    assert first["tags"]["asked"] == "10"
    assert first["tags"]["source"] == "clicks"
    assert first["tags"]["judged_by"] == "machine:clicks"
    assert [one["id"] for one in first["retrieved"]] == ["a", "b", "c"]
    # Of the places of "a" more was to be expected; "c" stood where nobody clicks.
    assert first["ground_truth"] == {"a": 1.0, "b": 2.0}
    assert second["ground_truth"] == {"d": 1.0, "e": 0.0}
    assert third["ground_truth"] == {}
    scores = calipers.evaluate(output, metrics="recall@3", weight_by="asked")
    assert scores["recall@3"].n == 2


def naive(found, question):
    """Clicks over expected clicks, as plainly as it can be said."""
    ranks = [(search, rank) for search in found.searches for rank in range(len(search.hits))]
    clicked = {(s.id, item) for s in found.searches for item in found.clicked.get(s.id, ())}
    rates = {}
    for at in {rank for _, rank in ranks}:
        there = [(s.id, s.hits[at]) in clicked for s, rank in ranks if rank == at]
        rates[at] = sum(there) / len(there)
    grades = {}
    for item in {item for s in found.searches if s.question == question for item in s.hits}:
        places = [(s, r) for s, r in ranks if s.question == question and s.hits[r] == item]
        clicks = sum((s.id, item) in clicked for s, _ in places)
        ratio = (clicks + 1) / (sum(rates[r] for _, r in places) + 1)
        if clicks or sum(rates[r] for _, r in places) >= 1:
            grades[item] = 0 if not clicks else 3 if ratio >= 2 else 2 if ratio >= 1 else 1
    return grades


@pytest.mark.parametrize("seed", range(5))
def test_grades_are_clicks_over_expected_clicks(seed):
    draw = random.Random(seed)
    searches = tuple(
        Search(f"s{i}", draw.choice("xyz"), tuple(draw.sample("abcde", draw.randint(0, 4))))
        for i in range(60)
    )
    chances = dict(zip("abcde", (0.8, 0.5, 0.3, 0.1, 0.0), strict=True))
    clicked = {
        one.id: frozenset(
            item for rank, item in enumerate(one.hits) if draw.random() < chances[item] / (rank + 1)
        )
        for one in searches
    }
    found = Behaviour(searches, clicked, Counter())
    for question, grades in grades_by_clicks(found, str).items():
        assert grades == naive(found, question)


@pytest.mark.parametrize("form", ["dump", "answer"])
def test_exports_of_an_index_are_opened(form, tmp_path):
    held = [
        {"_index": "ubi_queries", "_id": str(i), "_source": one} for i, one in enumerate(QUERIES)
    ]
    path = tmp_path / "export.json"
    if form == "dump":
        write(path, held)
    else:
        path.write_text(json.dumps({"took": 1, "hits": {"total": 16, "hits": held}}))
    found = calipers.labels_traces([path, write(tmp_path / "e.jsonl", EVENTS)])
    assert [one.asked for one in found.questions] == [10, 4, 1]
    assert found.questions[0].ground_truth == {"a": 1.0, "b": 2.0}


def test_events_without_clicks_or_without_searches_say_so(tmp_path):
    queries = write(tmp_path / "q.jsonl", QUERIES)
    views = write(tmp_path / "e.jsonl", EVENTS[-10:])
    found = calipers.labels_traces([queries, views])
    assert "No event is a click" in found.notes[0]
    assert "impression (10)" in found.notes[0]
    assert found.questions[0].ground_truth is None
    with pytest.raises(InvalidInput, match="events without the searches"):
        calipers.labels_traces(views)
