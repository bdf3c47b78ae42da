"""One look for claims: the same four parts on a terminal, in Markdown and on a page."""

import io

import pytest
from rich.console import Console

from calipers.model.claim import SIGNS, Claim
from calipers.present.terminal import claims_html, claims_markdown, print_claims

CLAIMS = [
    Claim(
        "no clear difference",
        "recall@10 1.000 → 0.792: 0 better, 3 worse of 12",
        "not shown, p = .25",
        "A loss of up to 0.48 is not ruled out.",
        "About 19 more queries would settle it.",
    ),
    Claim("passed", "mrr 0.500 → 0.500: 0 better, 0 worse of 12", "no loss"),
]


def on_a_terminal(claims):
    written = io.StringIO()
    print_claims(claims, Console(file=written, width=100))
    return written.getvalue()


@pytest.mark.parametrize("show", [on_a_terminal, claims_markdown, claims_html])
def test_all_four_parts_in_their_order(show):
    text = show(CLAIMS)
    parts = ["?", *(getattr(CLAIMS[0], name) for name in ("seen", "shown", "possible", "next"))]
    places = [text.index(part) for part in [*parts, "✓", CLAIMS[1].seen, CLAIMS[1].shown]]
    assert places == sorted(places)


@pytest.mark.parametrize("show", [on_a_terminal, claims_markdown, claims_html])
@pytest.mark.parametrize("standing", SIGNS)
def test_the_sign_stands_first(show, standing):
    text = show([Claim(standing, "fact", "shown")])
    assert [sign for sign in SIGNS.values() if sign in text] == [SIGNS[standing]]
    assert text.index(SIGNS[standing]) < text.index("fact")


def test_a_page_shows_the_words_of_a_question_and_does_not_run_them():
    evil = "<script>alert(1)</script>"
    text = claims_html([Claim("failed", evil, evil, evil, evil)])
    assert "<script>" not in text
    assert text.count("&lt;script&gt;") == 4


def test_no_claims_no_list():
    assert on_a_terminal([]) == claims_markdown([]) == claims_html([]) == ""
