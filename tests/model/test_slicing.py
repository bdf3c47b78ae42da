"""Slices of many queries at once, against the rules for one."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.model.slicing import UNTAGGED, has_questions, labels_of

QUESTIONS = [
    # text, language, question_word, form
    ("How do I reset it?", "English", "how", "question"),
    ("Wie setze ich es zurück?", "German", "how", "question"),
    ("Was ist das?", "German", "what", "question"),
    ("Was Caesar a king?", "English", "yes or no", "question"),
    ("Comment réinitialiser le mot de passe ?", "French", "how", "question"),
    ("Qué es la fotosíntesis?", "Spanish", "what", "question"),
    ("Qual é a capital do Brasil?", "Portuguese", "which", "question"),
    ("come si fa la pasta", "Italian", "how", "question"),
    ("waar is het station", "Dutch", "where", "question"),
    ("как сбросить", "Cyrillic script", UNTAGGED, UNTAGGED),
    ("什么是 GIL？", "Chinese", UNTAGGED, "question"),
    ("パスワードを変更", "Japanese", UNTAGGED, UNTAGGED),
    ("reset password", UNTAGGED, UNTAGGED, "keywords"),
    ("ERR-1001 on start", "English", UNTAGGED, "identifier"),
    ("where is get_user_by_id", "English", "where", "identifier"),
    ("Statins lower cholesterol in the blood.", "English", UNTAGGED, "statement"),
    ("JavaScript macros", UNTAGGED, UNTAGGED, "keywords"),
    ("", UNTAGGED, UNTAGGED, UNTAGGED),
    ("?!", UNTAGGED, UNTAGGED, UNTAGGED),
    (None, UNTAGGED, UNTAGGED, UNTAGGED),
]


@pytest.mark.parametrize(("cut", "column"), [("language", 1), ("question_word", 2), ("form", 3)])
def test_what_a_question_is_like(cut, column):
    schema = {"query": pl.String, "text": pl.String}
    queries = pl.DataFrame([("q", row[0]) for row in QUESTIONS], schema=schema, orient="row")
    assert labels_of(queries, {}, cut).to_list() == [row[column] for row in QUESTIONS]


# Every kind of blank that Python splits at, and two characters that look like one and are none.
BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000"
TEXT = st.text(st.sampled_from(BLANKS + "\u200b\ufeffaé漢"), max_size=30)


def asked(query, text):
    """An id with a blank in it is a question that is its own id."""
    return query if text is None and " " in query.strip() else text


def length_of(text):
    words = len(text.split())
    ends = ((4, "1 to 4 words"), (9, "5 to 9 words"), (19, "10 to 19 words"))
    return next((name for end, name in ends if words <= end), "over 19 words")


@given(st.lists(st.tuples(TEXT, st.none() | TEXT), min_size=1, max_size=8))
def test_lengths_are_those_of_each_question(rows):
    queries = pl.DataFrame(rows, schema={"query": pl.String, "text": pl.String}, orient="row")
    questions = [asked(query, text) for query, text in rows]
    expected = [UNTAGGED if text is None else length_of(text) for text in questions]
    assert labels_of(queries, {}, "length").to_list() == expected
    assert has_questions(queries) == any(questions)
