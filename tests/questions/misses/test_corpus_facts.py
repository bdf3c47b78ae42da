"""Quotes and spans looked for in a corpus."""

from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calipers.io.corpus import open_corpus
from calipers.match.cover import Assembly, enough, size, union
from calipers.match.locate import Shelf
from calipers.match.quote import Quote
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.matching import parse_matching
from calipers.questions.misses.corpus_facts import study_corpus
from calipers.text import normalise

TEXT = "Prince Andrew looked at the sky, the lofty sky, not clear yet still immeasurably lofty."


def targets(**columns):
    frame = pl.DataFrame(columns)
    return frame.with_columns(
        pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in TARGET_SCHEMA.items()
        if name not in frame.columns
    )


def chunks(text, size, document="doc"):
    return [
        {"id": f"{document}-{at}", "document": document, "start": at, "text": text[at : at + size]}
        for at in range(0, len(text), size)
    ]


def shows_both_ends(text, quote):
    """Whether a chunk begins as the quote ends and ends as it begins: one of them is chance."""
    sizes = range(1, len(quote))
    return any(text.startswith(quote[-n:]) for n in sizes) and any(
        text.endswith(quote[:n]) for n in sizes
    )


def study(rows, wanted, how):
    return study_corpus(open_corpus(rows).batches, wanted, parse_matching(how))


@given(
    start=st.integers(0, len(TEXT) - 20),
    length=st.integers(12, 20),
    size=st.integers(10, len(TEXT)),
)
def test_a_quote_is_whole_where_one_chunk_holds_it_and_split_where_several_do(start, length, size):
    quote = TEXT[start : start + length].strip()
    at = TEXT.index(quote)
    rows = chunks(TEXT, size)
    # Of two ends that a chunk shows, the longer is taken, which may be the wrong one.
    assume(not any(shows_both_ends(row["text"].strip(), quote) for row in rows))
    facts = study(rows, targets(quote=[quote]), "quote")
    whole = any(quote in row["text"] for row in rows)
    assert facts.whole[0] == whole
    assert facts.split[0] == (not whole)
    assert facts.document[0] == "doc"
    span = targets(document=["doc"], start=[at], end=[at + len(quote)])
    by_span = study(rows, span, "span(min=1)")
    assert by_span.whole[0] == any(
        row["start"] <= at and at + len(quote) <= row["start"] + len(row["text"]) for row in rows
    )
    assert by_span.split[0] == (not by_span.whole[0])


def pieced_together(rows, wanted, least):
    """The rule word for word: every quote with every chunk, in the order of the corpus."""
    found = {}
    for text in wanted:
        quote, alone, split = Quote(normalise(text)), None, None
        shown: dict[Any, Any] = {}
        assemblies: dict[Any, Any] = {}
        for row in rows:
            chunk, document = normalise(row["text"]), row["document"]
            if quote.text in chunk:
                alone = alone or document
            if least == 1:
                held = quote.edge_pieces(chunk)
                assembly = assemblies.setdefault(document, Assembly(quote.length))
                done = bool(held) and assembly.add(held)
            else:
                needed = enough(quote.length, least)
                held = dict(quote.on_shelf(Shelf([chunk]), needed)).get(0, ())
                shown[document] = union([*shown.get(document, ()), *held])
                alone = alone or (document if size(held) >= needed else None)
                done = size(shown[document]) >= needed
            split = split or (document if done else None)
        found[text] = (alone is not None, alone is None and split is not None, alone or split)
    return found


@given(
    st.text("abcdé ", min_size=20, max_size=80),
    st.lists(st.tuples(st.sampled_from("de"), st.integers(0, 79), st.integers(1, 40)), min_size=1),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=4),
    st.sampled_from([1, 0.7]),
)
def test_quotes_are_found_as_by_looking_at_every_chunk(text, cuts, wanted, least):
    rows = [
        {"id": str(n), "document": document, "text": normalise(text[at : at + length])}
        for n, (document, at, length) in enumerate(cuts)
        if text[at : at + length].strip()
    ]
    quotes = sorted(
        {text[at : at + length] for at, length in wanted if text[at : at + length].strip()}
    )
    assume(rows and quotes)
    expected = pieced_together(rows, quotes, least)
    if least < 1:
        # What stands word for word in a chunk is looked for first, and its document taken.
        whole = {
            q: next((r["document"] for r in rows if normalise(q) in normalise(r["text"])), None)
            for q in quotes
        }
        expected = {q: (True, False, whole[q]) if whole[q] else expected[q] for q in quotes}
    facts = study(rows, targets(quote=quotes), "quote" if least == 1 else f"quote(min={least})")
    found = zip(facts.whole.tolist(), facts.split.tolist(), facts.document, strict=True)
    assert expected == dict(zip(quotes, found, strict=True))


LOCK, MUTEX = "The\n GIL is\u00ad a Lock.", "The global lock is a mutex that guards."


@pytest.mark.parametrize(
    ("text", "quote", "exact", "tolerant"),
    [
        (LOCK, "gil is a lock", False, "quote(case=ignore)"),
        (LOCK, "GIL is a Lock", True, "quote(case=ignore)"),
        (MUTEX, MUTEX.replace("mutex", "mutes"), False, "quote(min=0.8)"),
    ],
)
def test_a_quote_is_found_as_tolerantly_as_in_matching(text, quote, exact, tolerant):
    rows, wanted = [{"id": "c", "text": text}], targets(quote=[quote])
    assert study(rows, wanted, "quote").whole[0] == exact
    assert study(rows, wanted, tolerant).whole[0]


@pytest.mark.parametrize(("item", "there"), [("doc-0", True), ("doc", True), ("other", False)])
def test_ids_may_be_those_of_chunks_or_of_documents(item, there):
    facts = study(chunks(TEXT, 40), targets(item=[item]), "id")
    assert facts.whole[0] == there
    assert not facts.split[0]


def test_chunks_without_places_only_tell_that_the_document_is_there():
    rows = [{"id": "c", "document": "doc", "text": TEXT}]
    wanted = targets(document=["doc", "gone"], start=[3, 3], end=[9, 9])
    facts = study(rows, wanted, "span")
    assert facts.whole.tolist() == [True, False]
    assert not facts.split.any()
