"""The paragraphs of a document, and which of them say something."""

import re
from collections.abc import Iterator
from itertools import chain

from calipers.frozen import dataclass
from calipers.io.documents.parts import CAPTION
from calipers.io.documents.sections import TextDocument, lines_of, without_markup
from calipers.questions.begin.candidates import (
    FULL_STOPS,
    SHORTEST_QUOTE,
    SIGN,
    WORD,
)
from calipers.questions.begin.languages import (
    UNSPACED,
    USUAL,
    languages,
    reading_length,
)

NO_PROSE = re.compile(
    r"[|<>!]|\[!\[|\?\?\?|\.\. |:\w+:(?!(?:\w+:)*`)|\[[^\]]+\](?::|$)|#|[-*_]{3,}|\{[%{]"
    r"|:::|={3,}|\$\$|[-*+] |\d+[.)] "
)
"""How a line begins that is a list, a table, a directive, a comment, an image or HTML."""


_LABEL = re.compile(r"^\W{0,4}[\w-]{1,20}\W{0,3}[:：]", re.MULTILINE)
"""How a line begins that gives the value of a name."""
_CODE = re.compile(r"`+[^`]*`+")


_INDENT = ("    ", "\t")


@dataclass(frozen=True)
class Paragraph:
    """A block of lines without an empty one."""

    at: int
    """Where it begins in the text of the document."""
    text: str
    is_prose: bool
    """Whether it is neither code, list, table, image nor directive."""

    @property
    def is_long(self) -> bool:
        """Whether it says enough to be a target, in words and not in signs."""
        breaks = self.text.count("\n")
        if breaks and len(_LABEL.findall(self.text)) > breaks:
            return False  # each line is a name and its value
        words = without_markup(self.text)
        if reading_length(words) < SHORTEST_QUOTE:
            return False
        if "`" in self.text and (
            reading_length(without_markup(_CODE.sub("", self.text))) < SHORTEST_QUOTE / 2
        ):
            return False
        if words.isascii() and _is_code(words):
            return False
        unspaced = sum(map(len, UNSPACED.findall(words))) if not words.isascii() else 0
        return len(words.split()) + unspaced / 2 >= 6 and len(
            SIGN.findall(words)
        ) <= 0.3 * len(words)


def _is_code(text: str) -> bool:
    """Whether a text has many signs of code and next to no words that sentences have.

    >>> _is_code("Matrix (void) Matrix (int r) " * 3), _is_code("Wait for a call. " * 3)
    (True, False)
    """
    signs = len(_SIGN_OF_CODE.findall(text))
    if not signs:
        return False
    words = WORD.findall(text.lower())
    stop = languages()[USUAL].stop
    return SIGNS_OF_CODE * len(words) < signs and sum(
        word in stop for word in words
    ) < LEAST_STOPWORDS * len(words)


_SIGN_OF_CODE = re.compile(r"[(){}\[\]<>&*=;_]")
SIGNS_OF_CODE = 0.2
"""The share of such signs, by words, from which on a text may be code."""
LEAST_STOPWORDS = 0.1
"""The share of stop words that prose with so many signs has at least; English has 0.3 to 0.5."""


def blocks(document: TextDocument, start: int, end: int) -> Iterator[Paragraph]:
    """Yield the blocks of a part of a document, without what stands between fences."""
    text = document.text[start:end]
    is_markup = document.kind in ("markdown", "notebook", "rst", "html")
    begin = -1
    is_prose = True
    for at, line, is_code in chain(lines_of(text), [(len(text), "", False)]):
        plain = line.strip()
        # In reStructuredText what is indented is code, an option or the rest of a directive.
        if plain and not is_code and not (document.kind == "rst" and line[:1].isspace()):
            if begin < 0:
                begin = at
                # What is indented is code, or belongs to a list or a box above it.
                is_prose = document.kind != "markdown" or not line.startswith(_INDENT)
            is_prose = is_prose and not (is_markup and NO_PROSE.match(plain))
            continue
        if begin >= 0:
            block = text[begin:at].strip()
            first = start + text.index(block, begin)
            yield Paragraph(first, block, is_prose and not is_caption(block))
        begin = -1
        is_prose = True


def is_caption(text: str) -> bool:
    """Whether a paragraph names a picture or a table, and says nothing of what it shows.

    >>> is_caption("図 3.1 ブラシの一覧"), is_caption("Table 3 shows what a retry costs.")
    (True, False)
    """
    found = CAPTION.match(text)
    if found is None:
        return False
    return text[found.end() :][:1] in (".", ":", "：") or not text.endswith(
        (".", *FULL_STOPS)
    )
