import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calipers.match.locate import SEED, MappedText, QuoteFinder, SeedFinder, locate
from calipers.text import normalise

LETTERS = st.text(st.sampled_from("ab é\n"), max_size=60)


def naive(quotes: list[str], texts: list[str]) -> list[tuple[int, int, int]]:
    return [
        (t, q, at)
        for t, text in enumerate(texts)
        for at in range(len(text))
        for q, quote in enumerate(quotes)
        if quote and text.startswith(quote, at)
    ]


@given(st.lists(LETTERS.map(normalise), max_size=6), st.lists(LETTERS.map(normalise), max_size=6))
def test_every_place_is_found(quotes, texts):
    assert list(QuoteFinder(tuple(quotes)).find(texts)) == naive(quotes, texts)


@given(
    st.lists(st.text(st.sampled_from("ab"), min_size=1, max_size=4), unique=True), st.lists(LETTERS)
)
def test_every_seed_is_found_once_per_text(seeds, texts):
    expected = {(n, seed) for n, text in enumerate(texts) for seed in seeds if seed in text}
    found = list(SeedFinder(tuple(seeds)).find(texts))
    assert sorted(found) == sorted(expected)


def test_quotes_that_begin_alike_are_told_apart():
    same = "x" * SEED
    finder = QuoteFinder((same + "one", same + "two"))
    assert list(finder.find([same + "two"])) == [(0, 1, 0)]


@given(LETTERS, st.data())
def test_a_located_quote_is_the_quote(text, data):
    plain = normalise(text)
    if not plain:
        return
    start = data.draw(st.integers(0, len(plain) - 1))
    quote = normalise(plain[start : data.draw(st.integers(start + 1, len(plain)))])
    if not quote:
        return
    places = list(locate([text], QuoteFinder((quote,))))
    assert len(places) == len(naive([quote], [plain]))
    assert all(normalise(text[low:high]) == quote for _, _, low, high in places)


# Letters that compose, marks that reorder, Hangul parts, invisible characters, white space,
# and emoji of several code points: what makes a naive map slip.
TRICKY = st.text(
    st.sampled_from(
        "ab \r\n\t\u00a0\u0301\u0323\u0307\u00ad\u200b\u200d\ufeffé가ᄀ\u1161\u11a8ÅΩ👩🚀"
        "ﬁ中文，Ａｶﾞﷺ"
    )
)
TEXTS = st.one_of(TRICKY, st.text())


@given(TEXTS)
@example("a\u0f73\u0301")
@example("\u200b a \u200b")
def test_its_text_is_that_of_normalise(text):
    assert MappedText.of(text).text == normalise(text)


@given(TEXTS, st.data())
def test_what_stands_at_the_mapped_place_is_the_same_text(text, data):
    mapped = MappedText.of(text)
    if not mapped.text:
        return
    start = data.draw(st.integers(0, len(mapped.text) - 1))
    end = data.draw(st.integers(start + 1, len(mapped.text)))
    low, high = mapped.span(start, end)
    assert 0 <= low < high <= len(text)
    # Whole clusters may come along at either end; nothing asked for may be missing.
    assert mapped.text[start:end].strip() in normalise(text[low:high])


@given(st.text(st.sampled_from("ab \r\n\té😀ж中")), st.data())
def test_without_anything_to_compose_the_place_is_exact(text, data):
    mapped = MappedText.of(text)
    if not mapped.text:
        return
    start = data.draw(st.integers(0, len(mapped.text) - 1))
    end = data.draw(st.integers(start + 1, len(mapped.text)))
    wanted = mapped.text[start:end]
    if wanted.strip() == wanted:
        low, high = mapped.span(start, end)
        assert normalise(text[low:high]) == wanted
        assert text[low:high].strip() == text[low:high]


@given(TEXTS)
def test_places_never_run_backwards(text):
    mapped = MappedText.of(text)
    spans = [mapped.span(at, at + 1) for at in range(len(mapped.text))]
    assert spans == sorted(spans)


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("a line\r\nbroken  here", "line broken", (2, 14)),
        ("soft hy\u00adphen", "hyphen", (5, 12)),
        ("cafe\u0301 noir", "café", (0, 5)),
        ("😀😀 yes 😀", "yes", (3, 6)),
        ("\ufeffword", "word", (1, 5)),
        ("  word  ", "word", (2, 6)),
        ("한\u1100\u1161", "가", (1, 3)),
        ("一个\r\n  中文字", "个中文", (1, 8)),
        ("ａ ﬁｌｅ", "file", (2, 5)),
    ],
)
def test_characters_are_counted_not_bytes(text, quote, expected):
    mapped = MappedText.of(text)
    at = mapped.text.index(unicodedata.normalize("NFC", quote))
    assert mapped.span(at, at + len(quote)) == expected
