"""Quotes held word for word: what the index finds is what each with each finds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers import evaluate, read
from calipers.match import verbatim
from calipers.match.quote import Quote
from calipers.match.verbatim import verbatim_ranks
from calipers.text import normalise


def drawn(draw: random.Random, letters: str) -> tuple[list[Quote], list[verbatim.Result]]:
    """Quotes out of one text, and results that are pieces of it, of quotes, and of nothing."""

    def noise(most: int) -> str:
        return "".join(draw.choice(letters) for _ in range(draw.randint(1, most)))

    whole = noise(150)
    quotes = {
        normalise(whole[at : at + draw.randint(1, 60)])
        for at in (draw.randrange(len(whole)) for _ in range(draw.randint(1, 8)))
    }
    texts: dict[str, None] = {}
    for _ in range(draw.randint(1, 30)):
        cut, end = sorted(draw.randint(0, len(whole)) for _ in range(2))
        piece = whole[cut:end][: draw.choice((3, 6, 12, 20, 60))]
        around = draw.random()
        text = piece if around < 0.4 else noise(9) + piece if around < 0.6 else piece + noise(9)
        texts[normalise(noise(40) if around > 0.9 else text)] = None
    sources = draw.choice(([None], ["a"], ["a", "b", None]))
    results = [(2 * n, draw.choice(sources), text) for n, text in enumerate(texts, 1)]
    return [Quote(text) for text in quotes if text] or [Quote("a")], results


def by_index(quotes, results, *, together: bool) -> list[list[int]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(verbatim, "MANY_QUOTES", 0)
        patched.setattr(verbatim, "MANY_RESULTS", 0)
        return list(verbatim_ranks(quotes, results, together=together))


@given(st.integers(0, 2**32), st.sampled_from(("a ", "ab ", "abcd ", "abcdefghijkl ")))
def test_the_index_finds_what_each_with_each_finds(seed, letters):
    quotes, results = drawn(random.Random(seed), letters)
    for together in (True, False):
        assert len(quotes) < verbatim.MANY_QUOTES
        plain = list(verbatim_ranks(quotes, results, together=together))
        assert by_index(quotes, results, together=together) == plain


def test_a_tiny_piece_completes_a_quote_in_its_own_source_only():
    quote = Quote("the lock is held by one thread")
    beginning, end = "so the lock is held by one thre", "ad, it is said"
    for source, ranks in (("a", [7]), ("b", [])):
        results = [
            (4, "a", beginning),
            (7, source, end),
            *((n, "c", f"ad{n}") for n in range(10, 30)),
        ]
        assert by_index([quote], results, together=True) == [ranks]
        assert list(verbatim_ranks([quote], results, together=True)) == [ranks]


def test_many_quotes_and_chunks_of_one_query_are_found_in_an_evaluation(monkeypatch):
    """Enough of both for the index; halves are put together within one document."""
    n = 2 * verbatim.MANY_RESULTS
    draw = random.Random(3)
    chunks = [" ".join(f"w{draw.randrange(500)}" for _ in range(12)) for _ in range(n)]
    quotes = [
        f"{chunks[at][-15:]} {chunks[at + 1][:15]}" if at % 2 else chunks[at][5:30]
        for at in range(0, n - 1, 3)
    ]
    assert len(quotes) >= verbatim.MANY_QUOTES
    retrieved = [
        {"id": f"{at}", "text": text, "document": f"d{at // 7}"} for at, text in enumerate(chunks)
    ]
    record = {
        "query": "q",
        "retrieved": retrieved,
        "ground_truth": [{"quote": quote} for quote in quotes],
    }
    indexed = read([record], match="quote").matches
    monkeypatch.setattr(verbatim, "MANY_QUOTES", n)
    plain = read([record], match="quote").matches
    pairs = [list(zip(some.edge_target, some.edge_rank, strict=True)) for some in (indexed, plain)]
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) > len(quotes) // 2
    assert evaluate([record], match="quote", metrics="recall@1000").metrics
