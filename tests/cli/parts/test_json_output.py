"""JSON on standard output steers no terminal, and says the same."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from calipers.cli.parts.output import harmless

STEERING = "\x7f\x80\x9b\x9f\u061c\u200b\u200f\u2028\u202e\u2060\u206f\ufeff"
TEXTS = st.text(st.sampled_from(STEERING + "aé世💥\u00a0\u2027\u202f\u205f\u2070")) | st.text(
    st.characters(exclude_categories=["Cs"])
)


@given(TEXTS)
def test_the_same_value_without_what_steers(text: str) -> None:
    printed = harmless(json.dumps(text, ensure_ascii=False).encode())
    assert json.loads(printed) == text
    assert not re.search(
        "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", printed.decode()
    )


@given(st.text(st.sampled_from("aé世💥\u00a0\u2027\u202f\u205f\u2070")))
def test_everything_else_stays(text: str) -> None:
    document = json.dumps(text, ensure_ascii=False).encode()
    assert harmless(document) == document
