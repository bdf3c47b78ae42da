"""Pieces of targets, as a loop over all of their beginnings and ends finds them."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calipers.match.pieces import quotes_in_part, spans_in_part

texts = st.text("ab ", min_size=1, max_size=40).map(lambda text: " ".join(text.split()))


def letters(text):
    return len(text.replace(" ", ""))


def holds_piece(quote, text):
    """Whether the text holds the quote, an end of it at an edge, or lies in it."""
    if quote in text:
        return True
    if not text:
        return False
    parts = [quote[at:] for at in range(1, len(quote)) if text.startswith(quote[at:])]
    parts += [quote[:at] for at in range(1, len(quote)) if text.endswith(quote[:at])]
    parts += [text] if text in quote else []
    least = max(0.25 * letters(quote), 8)
    return any(letters(part) >= least for part in parts)


@given(st.lists(st.tuples(texts.filter(bool), st.lists(texts, max_size=3)), max_size=4))
def test_pieces_of_quotes_are_those_that_a_loop_finds(quotes):
    assert quotes_in_part(quotes, ignore_case=False) == [
        next((at for at, text in enumerate(held, 1) if holds_piece(quote, text)), 0)
        for quote, held in quotes
    ]


spans = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("de"), st.integers(0, 20), st.integers(1, 20)),
    max_size=6,
)


@given(spans, spans)
def test_pieces_of_spans_are_those_that_a_loop_finds(wanted, shown):
    schema = {"code": pl.Int64, "document": pl.String, "start": pl.Int64, "end": pl.Int64}

    def frame(rows):
        placed = [(code, name, start, start + size) for code, name, start, size in rows]
        return pl.DataFrame(placed, schema=schema, orient="row")

    def ranks(target):
        code, document, start, size = target
        for rank, (query, name, at, long) in enumerate(shown, 1):
            shared = {*range(start, start + size)} & {*range(at, at + long)}
            if query == code and name == document and len(shared) >= max(1, size / 4):
                yield rank

    results = frame(shown).with_row_index("rank", 1)
    assert spans_in_part(frame(wanted), results).tolist() == [
        next(ranks(target), 0) for target in wanted
    ]
