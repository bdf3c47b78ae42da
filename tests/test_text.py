"""Text normalisation against a character-by-character reference."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calipers.errors import InvalidInput
from calipers.text import are_texts, held_by, normalise, targets_of, text_of, texts_of

INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e" + (
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
AWKWARD = (
    "\u4e2d\uff0c\u3002\uff21\ufb01\uff76\uff9e\ud55c"
    + "aAe\u0301\u00e9\u00df\u0130\u0345 \t\r\n\u00a0\u2003"
    + INVISIBLE
)
awkward = st.text(alphabet=st.sampled_from(AWKWARD))
texts = st.one_of(st.text(), awkward, st.text(st.characters(max_codepoint=127)))


def is_cjk(character: str) -> bool:
    """Whether the script of a character is written without spaces, or it is its punctuation."""
    code = ord(character)
    wide_punctuation = 0xFF01 <= code <= 0xFF9F and not (
        0xFF10 <= code <= 0xFF19 or 0xFF21 <= code <= 0xFF3A or 0xFF41 <= code <= 0xFF5A
    )
    return wide_punctuation or any(
        low <= code <= high
        for low, high in (
            (0x2E80, 0x2FDF),
            (0x3001, 0x312F),
            (0x31A0, 0x4DBF),
            (0x4E00, 0x9FFF),
            (0xF900, 0xFAFF),
            (0xFE30, 0xFE4F),
            (0x20000, 0x3FFFF),
        )
    )


def unbroken(text: str) -> str:
    """Without white space between two characters that are written without."""
    kept = ""
    for at, character in enumerate(text):
        before, after = text[:at].rstrip(), text[at:].lstrip()
        inside = character.isspace() and before and after
        mark = after[:1] in set("\u302a\u302b\u302c\u302d\u302e\u302f\u3099\u309a\uff9e\uff9f")
        if not (inside and is_cjk(before[-1]) and is_cjk(after[0]) and not mark):
            kept += character
    return kept


def naive(text: str) -> str:
    visible = "".join(character for character in text if character not in set(INVISIBLE))
    forms = "".join(
        unicodedata.normalize("NFKC", c)
        if "\ufb00" <= c <= "\ufdff" or "\ufe70" <= c <= "\ufefc" or "\uff01" <= c <= "\uffee"
        else c
        for c in unbroken(unicodedata.normalize("NFC", visible))
    )
    composed = unicodedata.normalize("NFC", forms)
    result = ""
    for character in composed:
        if not character.isspace():
            result += character
        elif not result.endswith(" "):
            result += " "
    return result.strip(" ")


@given(texts)
def test_equals_the_reference(text: str) -> None:
    assert normalise(text) == naive(text)


@given(texts, st.booleans())
@example("\u1fb3", True)
@example("e\u200d\u0301", False)
def test_a_second_pass_changes_nothing(text: str, ignore_case: bool) -> None:
    once = normalise(text, ignore_case=ignore_case)
    assert normalise(once, ignore_case=ignore_case) == once


@given(texts)
@example("\u31a0\r\u0300\u3099")
def test_case_is_forgotten_only_when_asked(text: str) -> None:
    plain = normalise(text)
    assert normalise(text, ignore_case=True) == normalise(plain, ignore_case=True)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        (" \r\n\t ", ""),
        ("a\r\nb\rc\nd", "a b c d"),
        ("no\u00a0break \u2003 wide", "no break wide"),
        ("  ends  ", "ends"),
        ("Case Kept", "Case Kept"),
        ("C++ is not C", "C++ is not C"),
        ("cafe\u0301", "caf\u00e9"),
        ("\u4e2d\u6587\n\u5b57", "\u4e2d\u6587\u5b57"),
        ("\u4e2d\uff0c\r\n  \u6587", "\u4e2d,\u6587"),
        ("\u4e2d\nA\n\u6587", "\u4e2d A \u6587"),
        ("\ud55c\n\uad6d", "\ud55c \uad6d"),
        ("\uff30\uff39 \ufb01le", "PY file"),
        ("\uff76\uff9e", "\u30ac"),
        ("x\u00b2 \u2260 x2", "x\u00b2 \u2260 x2"),
        ("\ufeffstart", "start"),
        ("\ud800", "\ud800"),
    ],
)
def test_what_becomes_of_a_text(raw: str, expected: str) -> None:
    assert normalise(raw) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("GIL", "gil"), ("Stra\u00dfe", "STRASSE"), ("\u00c9", "e\u0301"), ("\u03a3", "\u03c2")],
)
def test_ignore_case_brings_spellings_together(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)
    assert normalise(one, ignore_case=True) == normalise(other, ignore_case=True)


def test_the_first_field_that_holds_a_string_is_the_text() -> None:
    assert text_of({"page_content": None, "text": ["part"], "content": "here"}) == "here"
    assert text_of({"id": "a"}) is None
    assert text_of(7) is None


def test_results_without_texts_have_no_texts() -> None:
    assert texts_of(["a", 7, {"id": "b"}]) is None
    assert texts_of([]) is None
    assert texts_of([{"text": ""}, {"text": "a"}]) == ["", "a"]


def test_a_result_without_a_text_among_others_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"retrieved\[1\] is \{'id': 'b'\}"):
        texts_of([{"text": "a"}, {"id": "b"}])


def test_one_text_under_two_spellings_is_one_target() -> None:
    assert targets_of({"a\nb": 1.0, "a b": 1.0, "c": 0.0}) == {"a b": 1.0, "c": 0.0}


@given(st.lists(st.text("ab ", max_size=4)), st.lists(st.text("ab", min_size=1, max_size=2)))
def test_held_by_equals_a_search_of_every_pair(pages: list[str], targets: list[str]) -> None:
    tidy = [naive(page) for page in pages]
    expected = [
        [at for at, target in enumerate(targets) if target in page and page not in tidy[:rank]]
        for rank, page in enumerate(tidy)
    ]
    assert held_by(pages, targets) == expected


@given(st.lists(st.text(st.sampled_from("aé文\ud800\udfff😀"), max_size=4)))
def test_texts_are_those_that_utf_8_can_write(texts):
    def can_be_written(text):
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
        return True

    assert are_texts(texts) == all(map(can_be_written, texts))
