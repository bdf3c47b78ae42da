import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.present.escape import for_latex, for_markdown


@given(st.text())
def test_no_tag_no_cell_and_no_line_comes_out_of_text(text):
    shown = for_markdown(text)
    assert "<" not in shown
    assert "\n" not in shown
    assert all(shown[i - 1] == "\\" for i, one in enumerate(shown) if one == "|")


@given(st.text(alphabet="\\{}$&#%_^~<>|ab"))
def test_latex_specials_never_stand_bare(text):
    shown = for_latex(text)
    stripped = shown
    for command in (
        "textbackslash",
        "textasciicircum",
        "textasciitilde",
        "textless",
        "textgreater",
        "textbar",
    ):
        stripped = stripped.replace(f"\\{command}{{}}", "")
    for special in "{}$&#%_":
        stripped = stripped.replace(f"\\{special}", "")
    assert set(stripped) <= set("ab")


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
