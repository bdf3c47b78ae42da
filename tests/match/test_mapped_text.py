import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calipers.match.locate import MappedText
from calipers.text import normalise

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
