"""The parts of a document: its sections and its links."""

import ast
import re

from calipers.frozen import dataclass

CAPTION = re.compile(
    r"(?:table|figure|fig\.|listing|example|tabelle|abbildung|abb\.|beispiel|tableau|exemple|tabla"
    r"|figura|图|表|図|例)\s*\d+(?:[.\-–]\d+)*",
    re.IGNORECASE,
)
"""How the line below or above a picture or a table begins."""


@dataclass(frozen=True)
class Section:
    """A part of a document under one heading, by its characters."""

    heading: str
    """Without its markup; empty before the first heading."""
    start: int
    body: int
    """Where the text below the heading begins."""
    anchor: str = ""
    """What a link to it ends with."""
    end: int = 0
    node: ast.AST | None = None
    """The function or class of Python."""
    line: int = 0
    """Its line in the file, where the text is not that of the file; else 0."""
    level: int = 0
    """1 for a title, 2 for what stands below it; 0 where that is not known."""


@dataclass(frozen=True)
class Link:
    """A link in a document."""

    start: int
    end: int
    words: str
    href: str


def slug(heading: str) -> str:
    """The anchor that GitHub and most site builders give a heading.

    >>> slug("What's new, in C++?")
    'whats-new-in-c'
    """
    if heading.isascii() and heading.replace(" ", "").isalnum():
        return heading.strip().lower().replace(" ", "-")  # most headings
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip())
