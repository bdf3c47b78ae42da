"""Slices of many queries at once, against the rules for one."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.slicing import UNTAGGED, asked, has_questions, labels_of, length_of

# Every kind of blank that Python splits at, and two characters that look like one and are none.
BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
TEXT = st.text(st.sampled_from(BLANKS + "\u200b\ufeffaé漢"), max_size=30)


@given(st.lists(st.tuples(TEXT, st.none() | TEXT), min_size=1, max_size=8))
def test_lengths_are_those_of_each_question(rows):
    queries = pl.DataFrame(rows, schema={"query": pl.String, "text": pl.String}, orient="row")
    questions = [asked(query, text) for query, text in rows]
    expected = [UNTAGGED if text is None else length_of(text) for text in questions]
    assert labels_of(queries, {}, "length").to_list() == expected
    assert has_questions(queries) == any(questions)
