import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.checks.evidence import ENOUGH, Chunks, QuoteEvidence
from calipers.io.corpus import open_corpus
from calipers.text import normalise

WORDS = re.findall(r"\w+", "the lock lets only one thread run at a time so that all stays safe")


def look(quotes, rows):
    evidence = QuoteEvidence(tuple(normalise(quote) for quote in quotes))
    for batch in open_corpus(rows).batches():
        evidence.add(Chunks(batch))
    for batch in open_corpus(rows).batches():
        evidence.complete(Chunks(batch), evidence.unclear())
    return evidence


@given(
    st.lists(st.text(st.sampled_from("ab "), min_size=1).map(normalise).filter(bool), unique=True),
    st.lists(st.text(st.sampled_from("ab \n")), min_size=1),
)
def test_the_chunks_that_hold_a_quote_are_counted(quotes, texts):
    evidence = look(quotes, texts)
    for number, quote in enumerate(quotes):
        holding = sum(quote in normalise(text) for text in texts)
        assert evidence.seen[number].chunks == holding


@pytest.mark.parametrize("size", [20, 35, 60, 90])
@given(st.integers(0, 300), st.integers(40, 200))
def test_a_quote_cut_by_chunk_edges_is_split_and_never_lost(size, start, length):
    document = " ".join(f"{word}{n}" for n, word in enumerate(WORDS * 8))
    quote = normalise(document[start : start + length])
    chunks = [
        {"id": str(at), "document": "d", "text": document[at : at + size], "start": at}
        for at in range(0, len(document), size)
    ]
    seen = look([quote], chunks).seen[0]
    whole = any(quote in normalise(str(chunk["text"])) for chunk in chunks)
    assert bool(seen.chunks) == whole
    if not whole:
        assert seen.share(len(quote)) >= ENOUGH


def test_pieces_of_different_documents_make_no_whole():
    quote = "the first half of the evidence stands here and the second half stands there"
    middle = len(quote) // 2
    halves = [quote[:middle], quote[middle:]]
    apart = [{"id": str(n), "document": f"d{n}", "text": half} for n, half in enumerate(halves)]
    together = [{**row, "document": "d"} for row in apart]
    assert look([quote], apart).seen[0].share(len(quote)) < 0.6
    assert look([quote], together).seen[0].share(len(quote)) >= 0.95


def test_text_that_merely_resembles_the_quote_is_no_piece():
    quote = "the lock lets only one thread run at a time"
    evidence = look([quote], ["x the lock lets only one thread walks off", "run at a time it was"])
    assert evidence.seen[0].share(len(quote)) == 0


def test_overlapping_chunks_are_one_place_and_two_documents_are_two():
    quote = "only one thread runs"
    rows = [
        {"id": "1", "document": "a", "text": f"x {quote} y", "start": 0},
        {"id": "2", "document": "a", "text": f"{quote} y z", "start": 2},
        {"id": "3", "document": "a", "text": quote, "start": 500},
        {"id": "4", "document": "b", "text": quote, "start": 0},
    ]
    seen = look([quote], rows).seen[0]
    assert (seen.chunks, len(seen.places), seen.documents) == (4, 3, {"a", "b"})
    assert seen.holders == ["1", "2", "3"]


def test_without_named_documents_pieces_of_neighbours_count_together():
    quote = "the first half of the evidence stands here and the second half stands there"
    seen = look([quote], [f"x {quote[:40]}", f"{quote[40:]} y"]).seen[0]
    assert seen.share(len(quote)) >= ENOUGH
