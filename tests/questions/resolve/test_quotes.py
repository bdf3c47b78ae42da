import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.io.corpus.read import open_corpus
from calipers.questions.resolve.quotes import resolve_quotes
from calipers.questions.resolve.result import QuotePlace, Wanted
from calipers.text import normalise

TEXT = st.text(st.sampled_from("ab é\r\n😀"), max_size=40)


def resolve(quotes, rows, document=None):
    wanted = [Wanted("q", quote, document) for quote in quotes]
    return list(resolve_quotes(wanted, open_corpus(rows).batches(), "corpus"))


@given(st.lists(TEXT, min_size=1, max_size=4), TEXT.filter(lambda text: normalise(text) != ""))
def test_every_place_holds_the_quote_and_none_is_missing(texts, quote):
    rows = [{"id": f"d{n}", "document": f"d{n}", "text": text} for n, text in enumerate(texts)]
    [found] = resolve([quote], rows)
    for place in found.places:
        original = texts[int(place.document[1:])]
        assert normalise(original[place.start : place.end]) == normalise(quote)
    expected = sum(
        normalise(text).startswith(normalise(quote), at)
        for text in texts
        for at in range(len(normalise(text)))
    )
    assert len(found.places) == expected
    assert found.outcome == ("none" if not expected else "once" if expected == 1 else "several")


@given(st.integers(5, 60), st.integers(0, 4))
def test_overlapping_chunks_give_the_place_in_the_document_once(size, overlap):
    document = "Zwölf Boxkämpfer 😀 jagen\r\nViktor quer über den großen Sylter Deich."
    chunks = [
        {"id": str(at), "document": "d", "text": document[at : at + size], "start": at}
        for at in range(0, len(document), size - overlap)
    ]
    [found] = resolve(["jagen"], chunks)
    assert set(found.places) <= {QuotePlace("d", 19, 24)}
    if any("jagen" in str(chunk["text"]) for chunk in chunks):
        assert found.outcome == "once"


def test_a_named_document_narrows_the_search():
    rows = {"a": "the same line", "b": "the same line"}
    assert resolve(["same line"], rows)[0].outcome == "several"
    [found] = resolve(["same line"], rows, document="b")
    assert found.places == (QuotePlace("b", 4, 13),)
    assert resolve(["same line"], rows, document="c")[0].outcome == "none"


def test_chunks_without_a_start_cannot_be_placed():
    rows = [{"id": "1", "document": "d", "text": "x"}, {"id": "2", "document": "d", "text": "y"}]
    with pytest.raises(InvalidInput, match="'start'"):
        resolve(["x"], rows)
    assert resolve(["x"], rows[:1])[0].places == (QuotePlace("d", 0, 1),)


def test_an_empty_quote_is_refused():
    with pytest.raises(InvalidInput, match="empty"):
        resolve([" \n"], {"a": "x"})


def test_the_result_as_data():
    batch = pl.concat(open_corpus({"a": "xx xx"}).batches())
    [found] = resolve_quotes([Wanted("q", "xx")], [batch], "corpus")
    assert found.to_dict() == {
        "query": "q",
        "quote": "xx",
        "document": None,
        "outcome": "several",
        "count": 2,
        "places": [QuotePlace("a", 0, 2).to_dict(), {"document": "a", "start": 3, "end": 5}],
        "unknown_document": False,
        "elsewhere": [],
    }


def test_a_document_that_the_corpus_does_not_have_is_said():
    batch = pl.concat(open_corpus({"gil": "a lock", "list": "an array"}).batches())
    asked = [
        Wanted("q", "a lock", "docs/gil.md"),
        Wanted("q", "a lock", "gil"),
        Wanted("q", "a lock", "list"),
    ]
    unknown, found, other = resolve_quotes(asked, [batch], "corpus")
    assert (unknown.outcome, unknown.unknown_document) == ("none", True)
    assert unknown.elsewhere == found.places == other.elsewhere == (QuotePlace("gil", 0, 6),)
    assert (found.unknown_document, found.elsewhere) == (False, ())
    assert (other.outcome, other.unknown_document) == ("none", False)
