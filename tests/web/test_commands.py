"""Commands on a page are made from its evaluation, and name no file of the server."""

import re

import pytest

import calipers
from calipers.present.html import for_page
from calipers.questions.report.commands import commands_about
from calipers.words import COMPLETING
from tests.systems import keep
from tests.web.served import served, shelf_of

N = 60


def lost(kind):
    """Questions of two kinds, of which one is never found."""
    return [
        {
            "id": f"q{n}",
            "query": f"What is number {n}?",
            "tags": {"kind": "odd" if n % 2 else "even"},
            "retrieved": [f"x{n}" if n % 2 == kind else f"hit{n}"],
            "ground_truth": [f"hit{n}"],
        }
        for n in range(N)
    ]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The reports of one evaluation: saved, and given as a file; served by a typed command."""
    store = str(tmp_path_factory.mktemp("commands") / "history.db")
    pair = calipers.read(lost(0))
    saved = keep(pair, "nightly", store, "recall@5")
    token = COMPLETING.set(lambda words: f"calipers {words} /secret/evals.jsonl")
    try:
        with served(shelf_of(store, evals=pair)) as running:
            me = running.visitor()
            yield {
                name: "".join(
                    me.get(f"/evaluations/{reference}{tab}").text
                    for tab in ("", "?open=0", "/report", "/truth")
                )
                for name, reference in (("saved", saved.id), ("given", "evals"))
            } | {"short": saved.short}
    finally:
        COMPLETING.reset(token)


def test_a_command_names_the_evaluation_of_the_page(pages):
    commands = re.findall(r"<code>(calipers [^<]+)</code>", pages["saved"])
    assert commands
    assert set(commands) == {f"calipers misses @{pages['short']}"}
    assert "/secret" not in pages["saved"]


def test_an_evaluation_that_was_not_saved_offers_no_command(pages):
    assert "even" in pages["given"]
    assert "calipers misses" not in pages["given"]
    assert "/secret" not in pages["given"]


def test_a_sentence_that_only_offers_a_command_goes_where_it_cannot_be_given():
    slices = calipers.slices(calipers.evaluate(lost(0), metrics="recall@5"), by=["kind"])
    document = slices.document()
    with commands_about("a2169758"):
        assert "Why: <code>calipers misses @a2169758 --where kind=even</code>" in for_page(document)
    with commands_about(None):
        page = for_page(document)
    assert "kind even is worse" in page
    assert "calipers" not in page
    assert "Why" not in page
    assert "<p></p>" not in page
    assert '<p class="note"></p>' not in page
