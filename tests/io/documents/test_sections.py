"""Documents and their sections, for every kind of file."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.io.documents.sections import LONGEST_CHUNK, as_document, lines_of

MARKDOWN = """---
title: not a heading
---
# Guide

Intro text.

```
# no heading
```

Limits {#caps}
------

At most ten.

## `Retry` a [request](a.md)

Once more.
"""
RST = """
.. _top:

=====
Guide
=====

See :ref:`the limits <caps>` and :doc:`other`.

.. _caps:

Limits
======

At most ten.

Retry
-----

Once more.
"""
HTML = """<html><nav>Menu</nav><h1>Guide</h1><p>See <a href="b.html#x">the rest</a>.</p>
<h2 id="caps">Limits</h2><p>At most&nbsp;ten.</p><script>var x</script>
<details><summary>Why ten?</summary><p>Because.</p></details></html>"""
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": ["# Guide\n", "Intro"]},
            {"cell_type": "code", "source": "# no heading\nx = 1"},
        ]
    }
)
PYTHON = '''"""Module."""


@decorated
def first():
    """One."""
    return 1


class Second:
    """Two."""

    def method(self):
        return 2
'''


def read(kind, text):
    return as_document(f"a.{kind}", kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("markdown", MARKDOWN, ["", "Guide", "Limits", "Retry a request"]),
        ("markdown", "# 主题 :id=themes\n## Setup {docsify-ignore}\n", ["主题", "Setup"]),
        ("markdown", "# Run :id=run :class=x\n## Stop {: .no_toc}\n", ["Run", "Stop"]),
        ("markdown", "# Ratio 1:2\n## Ask <!-- {docsify-ignore} -->\n", ["Ratio 1:2", "Ask"]),
        ("rst", "|img_32| Filters\n================\n", ["Filters"]),
        ("rst", RST, ["", "Guide", "Limits", "Retry"]),
        ("html", HTML, ["", "Guide", "Limits", "Why ten?"]),
        ("notebook", NOTEBOOK, ["Guide"]),
        ("notebook", "no JSON", [""]),
        ("text", "Just words.", [""]),
    ],
)
def test_headings(kind, text, expected):
    assert [one.heading for one in read(kind, text).sections] == expected


def test_sections_know_their_anchor_and_their_text():
    for kind, text in (("markdown", MARKDOWN), ("rst", RST), ("html", HTML)):
        document = read(kind, text)
        limits = document.by_anchor["caps"]
        body = document.text[limits.body : limits.end]
        assert " ".join(body.split()).startswith("At most ten.")
        assert "Limits" not in body
    assert read("html", HTML).line(read("html", HTML).by_anchor["caps"].start) == 2


def test_links():
    named = "See [the limits][caps].\n\n[caps]: b.md#caps\n"
    for kind, text, expected in (
        ("markdown", MARKDOWN, [("request", "a.md")]),
        ("markdown", named, [("the limits", "b.md#caps")]),
        ("rst", RST, [("the limits", "#caps"), ("", "other.rst")]),
        ("html", HTML, [("the rest", "b.html#x")]),
    ):
        assert [(one.words, one.href) for one in read(kind, text).links] == expected


def test_functions_and_classes_of_python_are_sections():
    document = read("python", PYTHON)
    assert [one.anchor for one in document.sections] == ["", "first", "Second", "Second.method"]
    first = document.sections[1]
    assert document.text[first.start :].startswith("@decorated")
    assert len(read("python", "def broken(:").sections) == 1


@given(st.text(alphabet="#ab .\n`=-", max_size=400), st.integers(1, 4))
def test_sections_and_chunks_cover_the_text(text, times):
    document = read("markdown", text * times)
    joined = "".join(document.text[one.start : one.end] for one in document.sections)
    assert joined == document.text
    chunks = list(document.chunks())
    assert all(0 < end - start <= max(LONGEST_CHUNK, len(text)) for start, end in chunks)
    assert all(before[1] <= after[0] for before, after in pairwise(chunks))


def test_long_sections_are_cut_and_bare_headings_go_with_what_follows():
    document = read("markdown", "# One\n\n## Two\n\n" + "Some words here.\n\n" * 200)
    pieces = [document.text[start:end] for start, end in document.chunks()]
    assert pieces[0].startswith("# One\n\n## Two")
    assert len(pieces) > 2
    assert all(len(one) <= LONGEST_CHUNK for one in pieces)


def test_headings_stand_neither_in_code_nor_below_two_paragraphs():
    text = (
        "---\ntitle: x\n---\n# A\n```\n# no\n---\n~~~\n```\nB\nmore\n===\n\nlist\n\n---\n"
        "\n~~~\nC\n---\n"
    )
    found = [(one.heading, one.level) for one in as_document("a", "markdown", text).sections]
    assert found == [("", 0), ("A", 1), ("B", 1)]
    code = [line for _, line, is_code in lines_of(text) if is_code]
    assert code[:3] == ["---", "title: x", "---"]
    assert code[3:8] == ["```", "# no", "---", "~~~", "```"]
    assert code[8:] == ["~~~", "C", "---", ""]
