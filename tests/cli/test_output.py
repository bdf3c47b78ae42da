"""What every command prints, whatever it says; JSON steers no terminal, and says the same."""

import json
import re
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.cli.output import harmless, print_json
from tests.command import calipers_command

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_questions.json"
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


@given(
    st.lists(st.lists(st.dictionaries(TEXTS, st.floats(0, 1) | TEXTS), min_size=1, max_size=3)),
    st.dictionaries(st.sampled_from("abc"), TEXTS),
    st.dictionaries(st.sampled_from("xyz"), TEXTS),
)
def test_a_long_list_is_printed_in_pieces_as_if_it_were_whole(blocks, before, after):
    pieces = (
        msgspec.json.format(msgspec.json.encode([rows]), indent=2)
        .removeprefix(b"[\n  [\n")
        .removesuffix(b"\n  ]\n]")
        for rows in blocks
    )
    printed = []
    for write in (
        lambda: print_json({**before, "rows": [one for rows in blocks for one in rows], **after}),
        lambda: print_json({**before, "rows": pieces, **after}),
    ):
        with redirect_stdout(TextIOWrapper(raw := BytesIO(), write_through=True)):
            write()
        printed.append(raw.getvalue())
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", EXAMPLE, "--by", "type"),
        ("eval", EXAMPLE, "--level", "all"),
        ("sweep", EXAMPLE),
        ("misses", EXAMPLE),
        ("diagnose", EXAMPLE),
        ("audit", EXAMPLE),
        ("metrics",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_line_in_a_pipe_ends_in_blanks(arguments: tuple[str | Path, ...]) -> None:
    printed = calipers_command(*arguments)
    assert printed.code == 0
    assert len(printed.out.splitlines()) > 3
    assert [line for line in printed.out.splitlines() if line != line.rstrip()] == []
