"""Whatever a model says, it is read or refused; nothing else happens."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.live.chat import (
    JUDGE,
    Written,
    json_answer,
    read_grade,
    read_written,
    why_rejected,
)
from calipers.live.failures import AskFailed
from calipers.questions.begin.model import INSTRUCTIONS
from calipers.text import normalise

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.5, 2.0]) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
REPLY = st.fixed_dictionaries(
    {}, optional={"grade": JSON, "why": JSON, "question": JSON, "quote": JSON}
)
PLAIN = st.text(max_size=30).filter(lambda text: not {"{", "}"} & set(text))


@given(st.text() | JSON.map(json.dumps) | REPLY.map(json.dumps))
def test_a_reply_is_read_or_refused(text):
    refused = []
    for read in (json_answer, read_grade, read_written):
        try:
            assert read(text) is not None
        except AskFailed as failed:
            refused.append((failed.kind, failed.retry))
    assert set(refused) <= {("malformed", False), ("wrong grade", False)}


@given(REPLY)
def test_a_grade_is_0_1_or_2_and_nothing_else(reply):
    grade = reply.get("grade")
    valid = type(grade) in (int, float) and grade in (0, 1, 2)
    if valid:
        assert read_grade(json.dumps(reply)).grade == grade
    else:
        with pytest.raises(AskFailed, match="wrong grade"):
            read_grade(json.dumps(reply))


@given(st.text(max_size=40), st.integers(0, 30), st.integers(1, 30))
def test_a_quote_that_was_copied_stands_in_its_chunk(chunk, start, length):
    # Cut out of what a reader sees: between a letter and its accent nobody can begin to copy.
    seen = normalise(chunk)
    quote = normalise(seen[start : start + length])
    reason = why_rejected(Written("Who?", quote), chunk)
    assert (reason is None) == (len(quote) >= 8 and quote in seen)


def test_the_examples_in_the_prompts_can_be_read():
    assert read_grade(JUDGE.rpartition("\n")[2]).grade == 0
    example = next(one for one in INSTRUCTIONS.splitlines() if one.startswith('{"question": "'))
    assert read_written(example) == Written("…", "…")
