"""What each source makes of a small set of documents, and what it leaves alone."""

import time

import pytest

from calipers.io.documents.sections import as_document
from calipers.io.documents.walk import KINDS
from calipers.questions.begin.faq import from_faq
from calipers.questions.begin.headings import from_headings
from calipers.questions.begin.links import clause_of, from_links

LINK = "\x00"
PROSE = "The client waits for a while and then tries the same call again."


def documents(**texts):
    found = []
    for name, text in texts.items():
        stem, _, ending = name.rpartition("_")
        found.append(as_document(f"{stem}.{ending}", KINDS[f".{ending}"], text))
    return found


def asked(candidates):
    return [(one.question, *one.quotes) for one in candidates if one.quotes]


def test_headings_are_asked_as_they_stand_and_answered_by_the_text_below():
    heading, code = "## 2. Retry a failed **request**", "```\ncode\n```"
    text = f"# Usage\n\n{PROSE}\n\n{heading}\n\n{PROSE} Yes.\n\n{code}\n"
    (one,) = from_headings(documents(a_md=text))
    assert (one.question, one.line) == ("Retry a failed request", 5)
    assert asked([one]) == [(one.question, f"{PROSE} Yes.")]
    # What stands below code, a list or a table is not the answer.
    for block in (code, "- one\n- two", "| a | b |"):
        assert not asked(from_headings(documents(a_md=f"{heading}\n\n{block}\n\n{PROSE}\n")))


@pytest.mark.parametrize(
    "heading",
    [
        "Introduction",
        "Getting started",
        "v1.2.0",
        "2024-01-31",
        "Changelog",
        "`get(url)`",
        "Why so?",
        "Every metric",
        "How far to trust it",
    ],
)
def test_headings_that_say_nothing_are_left_out(heading):
    assert not [*from_headings(documents(a_md=f"# {heading}\n\n{PROSE}\n"))]


def test_no_heading_of_a_log_or_without_prose():
    text = f"# Retry a failed request\n\n{PROSE}\n"
    assert not [*from_headings(documents(CHANGELOG_md=text))]
    assert not asked(from_headings(documents(a_md="# Retry a failed request\n\n- one\n- two\n")))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_md", "## {}\n\n{}\n"),
        ("a_md", "**Q:** {}\n\n**A:** {}\n\nMore.\n"),
        ("a_md", "Q1. {}\nA1. {}\n"),
        ("a_md", "<details>\n<summary>{}</summary>\n\n{}\n\n</details>\n"),
        ("a_html", "<details><summary>{}</summary><p>{}</p></details>"),
    ],
)
def test_questions_that_stand_in_the_documents(name, text):
    question = "How do I retry a call?"
    found = from_faq(documents(**{name: text.format(question, PROSE)}))
    assert asked(found) == [(question, PROSE)]


@pytest.mark.parametrize(
    ("sentence", "clause"),
    [
        (f"If you need to customize request instantiation, see {LINK}.",
         "customize request instantiation"),
        (f"See {LINK} for how to limit the rate of uploads.", "limit the rate of uploads"),
        (f"For more information on rotating signing keys, read {LINK}.", "rotating signing keys"),
        (f"The format of audit logs is described in {LINK}.", "The format of audit logs"),
        (f"For more information, see {LINK}.", None),
        (f"See {LINK}.", None),
        (f"Click {LINK} and {LINK}.", None),
        (f"See {LINK} for more details.", None),
        (f"Requests are sent in order, see {LINK}.", None),
    ],
)  # fmt: skip
def test_the_clause_beside_a_link(sentence, clause):
    assert clause_of(sentence) == clause


GUIDE = (
    f"# Guide\n\nIf you need to try a call several times, see [Retries](b.md#retries).\n\n{PROSE}\n"
)
BEGIN = "Nothing of interest stands at the beginning of this one."
OTHER = f"# Other\n\n{BEGIN}\n\n## Retries\n\n{PROSE} Yes.\n"


def test_a_link_asks_for_the_section_it_leads_to_and_its_own_passage_does_not_count():
    (one,) = from_links(documents(a_md=GUIDE, b_md=OTHER))
    assert one.question == "try a call several times"
    assert one.quotes == (f"{PROSE} Yes.",)
    assert one.excluded == "If you need to try a call several times, see [Retries](b.md#retries)."
    assert (one.document, one.target, one.line) == ("a.md", "b.md", 3)


@pytest.mark.parametrize(
    "href", ["b.html#retries", "./b#retries", "../b/#retries", "/b.md#Retries", 'b.md#retries "T"']
)
def test_links_as_sites_write_them(href):
    (one,) = from_links(documents(a_md=GUIDE.replace("b.md#retries", href), b_md=OTHER))
    assert one.target == "b.md"


@pytest.mark.parametrize("href", ["https://x.y/b.md#retries", "c.md", "b.md#gone", "mailto:a@b.c"])
def test_links_that_lead_nowhere_here(href):
    assert not [*from_links(documents(a_md=GUIDE.replace("b.md#retries", href), b_md=OTHER))]


def test_references_of_restructuredtext():
    text = (
        "Guide\n=====\n\nTo try a call several times, see :ref:`retries <again>`.\n\n"
        f".. _again:\n\nMore\n----\n\n{PROSE}\n"
    )
    (one,) = from_links(documents(a_rst=text))
    assert asked([one]) == [("try a call several times", PROSE)]


def test_lists_of_links_are_navigation():
    text = "# Guide\n\n- To try a call several times, see [Retries](b.md#retries)\n"
    assert not [*from_links(documents(a_md=text, b_md=OTHER))]


@pytest.mark.parametrize(
    "text", ["[", "![", "<details><summary>a?", " *a", "# Retry a request\n\n"]
)
def test_a_hostile_file_takes_no_longer_than_any_other(text):
    begun = time.process_time()
    (one,) = documents(a_md=text * (200_000 // len(text)))
    for source in (from_faq, from_links, from_headings):
        list(source([one]))
    assert time.process_time() - begun < 5
