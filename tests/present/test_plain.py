"""No text from a corpus can steer a terminal."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from calipers.present.plain import printable


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
