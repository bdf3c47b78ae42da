"""Texts made fit for a page."""

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from calipers.present.escape import clean
from calipers.questions.report.page.details import MARKS, excerpt, merged, places_of

PLACES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted).map(tuple))


@given(st.text())
def test_cleaning_keeps_the_length_and_everything_harmless(text):
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert "\x00" not in cleaned
    assert "\u202e" not in cleaned
    for before, after in zip(text, cleaned, strict=True):
        if unicodedata.category(before)[0] in "LNPSM":
            assert before == after


def test_line_breaks_and_joiners_stay():
    assert clean("a\n\tb\u200dc") == "a\n\tb\u200dc"


@given(st.text("ab<>", min_size=60, max_size=60), PLACES)
def test_a_short_text_is_shown_whole_with_exactly_its_places_marked(text, places):
    shown = excerpt(text, places)
    assert "".join(shown["parts"]) == text
    marked = []
    for at, part in enumerate(shown["parts"]):
        marked += [at % 2 == 1] * len(part)
    assert marked == [any(start <= i < end for start, end in places) for i in range(60)]


@given(st.integers(0, 5000), st.integers(1, 400))
def test_of_a_long_text_the_part_around_the_match_is_kept(start, length):
    text = "".join(chr(ord("a") + i % 26) for i in range(6000))
    shown = excerpt(text, [(start, start + length)])
    kept = "".join(shown["parts"])
    assert len(kept) == 700
    assert shown["before"] + len(kept) + shown["after"] == 6000
    assert shown["parts"][1] == text[start : start + length]


def test_a_match_longer_than_the_room_is_cut():
    shown = excerpt("x" * 1_000_000, [(0, 1_000_000)])
    assert shown == {"parts": ["", "x" * 700, ""], "before": 0, "after": 999_300}


@given(PLACES)
def test_merged_places_cover_the_same_and_are_apart(places):
    found = merged(places)
    covered = {i for start, end in places for i in range(start, end)}
    assert {i for start, end in found for i in range(start, end)} == covered
    assert all(one[1] < other[0] for one, other in pairwise(found))


def test_a_quote_across_lines_is_found_where_it_stands():
    text = "The GIL  is\r\na  lock."
    ((start, end),) = places_of("is a lock", text)
    assert text[start:end] == "is\r\na  lock"


def test_of_a_quote_in_pieces_the_longest_is_marked():
    text = "the end of the sentence. Another one."
    ((start, end),) = places_of("Here stands the end of the sentence.", text)
    assert text[start:end] == "the end of the sentence."
    assert places_of("nothing in common here", "zzzz") == ()
    assert places_of("", "zzzz") == ()


def test_a_quote_that_stands_everywhere_is_marked_at_its_first_places():
    places = places_of("a", "a" * 100_000)
    assert places == tuple((at, at + 1) for at in range(MARKS))
