import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.present.escape import for_markdown, printable


@given(st.text())
def test_no_tag_no_cell_and_no_line_comes_out_of_text(text):
    shown = for_markdown(text)
    assert "<" not in shown
    assert "\n" not in shown
    assert all(shown[i - 1] == "\\" for i, one in enumerate(shown) if one == "|")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@someone", "@\u200bsomeone"),
        ("recall@10", "recall@10"),
        ("https://x", "https:\u200b//x"),
        ("a & b", "a &amp; b"),
        ("# title", r"\# title"),
    ],
)
def test_nobody_is_called_and_nothing_is_linked(text, shown):
    assert for_markdown(text) == shown


@given(st.text())
def test_nothing_is_left_that_steers(text: str) -> None:
    shown = printable(text)
    assert all(unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for one in shown)
    assert len(shown) == len(text)
    assert printable(shown) == shown


@given(st.text(), st.integers(1, 20))
def test_a_limit_is_kept(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert shown == printable(text) or shown.endswith("…")


def test_ordinary_text_stays() -> None:
    assert printable("Müller 日本 c++ – “ok”") == "Müller 日本 c++ – “ok”"
