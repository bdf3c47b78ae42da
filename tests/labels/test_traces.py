"""Questions out of traces: each once, masked first; and labels out of clicks."""

import json
import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.io.records.records import Record, Result
from calipers.labels.traces import Mask, sample_traces
from tests.command import calipers_command
from tests.io.formats.expect import FIXTURES


def record(query, *ids, **tags):
    return Record(query, retrieved=[Result(id=one) for one in ids], tags=tags or None)


QUESTIONS = ["Who?", "who?", " Who? ", "When?", "Where is it?"]


@given(
    st.lists(st.tuples(st.sampled_from(QUESTIONS), st.lists(st.sampled_from("abc"))), min_size=1),
    st.integers(1, 4),
)
def test_each_question_once_and_as_many_as_asked_for(made, n):
    records = [("file", record(query, *ids)) for query, ids in made]
    every = sample_traces(records)
    keys = {query.strip().lower() for query, _ in made}
    assert (every.traces, every.unique, len(every.questions)) == (len(made), len(keys), len(keys))
    assert sum(one.asked for one in every.questions) == len(made)
    some = sample_traces(records, n=n)
    assert len(some.questions) == min(n, len(keys))
    assert {one.id for one in some.questions} <= {one.id for one in every.questions}
    assert some == sample_traces(records, n=n)


def test_what_is_masked_is_masked_everywhere_and_first():
    result = Result(id="a", text="ben@example.org wrote")
    tags: dict[str, Any] = {"user": "cy@example.org"}
    one = Record("Mail to ann@example.org", retrieved=[result], tags=tags)
    other = Record("Mail to bob@example.org", retrieved=[Result(id="a")])
    found = sample_traces([("f", one), ("f", other)], ["email"])
    assert (found.unique, found.masked) == (1, 4)
    assert "example.org" not in json.dumps([q.record() for q in found.questions])


@pytest.mark.parametrize(
    "name", ["langsmith.jsonl", "langfuse.jsonl", "openinference.jsonl", "otlp.json"]
)
def test_every_form_of_traces_is_read(name):
    found = calipers.labels_traces(FIXTURES / name)
    assert "What is the GIL?" in [one.query for one in found.questions]
    first = next(one for one in found.questions if one.query == "What is the GIL?")
    assert first.retrieved[0]["id"] == "c1"


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
    done = calipers_command(
        "labels", "draft", *flags, "--mask", "email", "-n", "5", "-o", str(output)
    )
    assert done.code == 0, done.err
    assert "2 of 2 different questions, from 4 askings" in done.out
    drafted = calipers_command("labels", "draft", str(output), "-o", str(label))
    assert drafted.code == 0, drafted.err
    assert "global interpreter lock" in label.read_text()


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


@given(st.emails(), st.text(max_size=20))
def test_no_address_survives(address, around):
    if address.isascii() and all(c.isalnum() or c in "@.-_+" for c in address):
        masked = Mask(["email"])(f"{around} {address} {around}")
        assert address not in masked


@pytest.mark.parametrize(
    ("name", "text", "masked"),
    [
        ("phone", "call +49 (0)30 1234-567 now", "call [phone] now"),
        ("phone", "in 2024 there were 12 of 300", "in 2024 there were 12 of 300"),
        ("iban", "to DE89 3704 0044 0532 0130 00 please", "to [iban] please"),
        ("ip", "from 10.0.0.17?", "from [ip]?"),
        ("url", "see https://a.example/x?y=1 there", "see [url] there"),
        ("K-[0-9]{4}", "customer K-1174", "customer [masked]"),
    ],
)
def test_what_is_known_is_masked(name, text, masked):
    assert Mask([name])(text) == masked


@pytest.mark.parametrize("bad", ["(", "a*"])
def test_a_pattern_that_cannot_be_meant_gets_a_sentence(bad):
    with pytest.raises(InvalidInput, match="to mask"):
        Mask([bad])
