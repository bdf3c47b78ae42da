import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.checks.evidence import CorpusEvidence
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.text import normalise

WORDS = re.findall(r"\w+", "the lock lets only one thread run at a time so that all stays safe")
HALVES = "the first half of the evidence stands here", " and the second half stands there"


def look(quotes, rows):
    truth = [{"query": "q", "ground_truth": [{"quote": quote} for quote in quotes]}]
    return CorpusEvidence.of(load(truth, "ground_truth").ground_truth, open_corpus(rows))


@given(
    st.lists(
        st.text(st.sampled_from("ab "), min_size=1).map(normalise).filter(bool),
        unique=True,
        min_size=1,
    ),
    st.lists(st.text(st.sampled_from("ab \n")), min_size=1),
)
def test_the_chunks_that_hold_a_quote_are_counted(quotes, texts):
    evidence = look(quotes, texts)
    for quote in quotes:
        holding = sum(quote in normalise(text) for text in texts)
        assert evidence.quotes[quote].chunks == holding


@pytest.mark.parametrize("size", [20, 35, 60, 90])
@given(st.integers(0, 300), st.integers(40, 200))
def test_a_quote_cut_by_chunk_edges_is_split_and_never_lost(size, start, length):
    document = " ".join(f"{word}{n}" for n, word in enumerate(WORDS * 8))
    quote = normalise(document[start : start + length])
    chunks = [
        {"id": str(at), "document": "d", "text": document[at : at + size], "start": at}
        for at in range(0, len(document), size)
    ]
    found = look([quote], chunks)
    whole = any(quote in normalise(str(chunk["text"])) for chunk in chunks)
    assert bool(found.quotes[quote].chunks) == whole
    assert (quote in found.split) == (not whole)


def test_pieces_of_different_documents_make_no_whole():
    quote = "".join(HALVES)
    apart = [{"id": str(n), "document": f"d{n}", "text": half} for n, half in enumerate(HALVES)]
    assert not look([quote], apart).split
    assert look([quote], [{**row, "document": "d"} for row in apart]).split == {quote: "d"}


def test_without_named_documents_pieces_of_neighbours_count_together():
    assert look(["".join(HALVES)], [f"x {HALVES[0]}", f"{HALVES[1]} y"]).split


def test_text_that_merely_resembles_the_quote_is_no_piece():
    quote = "the lock lets only one thread run at a time"
    texts = ["x the lock lets only one thread walks off", "run at a time it was"]
    assert not look([quote], texts).split


def test_overlapping_chunks_are_one_place_and_two_documents_are_two():
    quote = "only one thread runs"
    rows = [
        {"id": "1", "document": "a", "text": f"x {quote} y", "start": 0},
        {"id": "2", "document": "a", "text": f"{quote} y z", "start": 2},
        {"id": "3", "document": "a", "text": quote, "start": 500},
        {"id": "4", "document": "b", "text": quote, "start": 0},
    ]
    seen = look([quote], rows).quotes[quote]
    assert (seen.chunks, len(seen.places), seen.documents) == (4, 3, {"a", "b"})
    assert seen.holders == ["1", "2", "3"]
