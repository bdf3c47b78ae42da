"""A question made from a document, and the words that every source shares."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from calipers.io.documents.sections import Section, TextDocument, lines_of, without_markup
from calipers.names import words_in

SOURCES = ("faq", "links", "headings", "docstrings", "history")
"""Where questions come from, in the order in which they are drawn."""
BY_DEFAULT = SOURCES[:-1]
"""Without the history: of 50 of its questions, 31 were such that somebody would ask them."""
FEWEST_WORDS, MOST_WORDS = 2, 30
"""Words of a question; stop words do not count towards the fewest."""
SHORTEST_QUOTE, LONGEST_QUOTE = 40, 300
"""Characters of a target."""
STOP_WORDS = frozenset(
    words_in(
        "a about all also an and any are as at be been "
        "but by can could do does for from had has have "
        "how i if in into is it its may more most my "
        "no not of on one or other our out own should so "
        "some such than that the their them then there these they this those through to use used "
        "using via was we were what when where which while who why will with you your"
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
_SIGN = re.compile(r"[^\w\s]|[\d_]")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]?\s+(?=[A-Z0-9\"'(\[`*_])")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\b[A-Z])\.$")


@dataclass(frozen=True)
class Candidate:
    """A question, what answers it, and where it came from."""

    question: str
    source: str
    document: str
    line: int
    quotes: tuple[str, ...] = ()
    """The words that answer it; of several, any one does."""
    excluded: str | None = None
    """Words whose passage counts neither for nor against a ranking."""
    section: tuple[TextDocument, Section] | None = None
    """Where the answer stands; its words are looked up when the question is drawn."""
    style: str = ""
    """How a model was told to ask."""

    @property
    def target(self) -> str:
        """The document that holds the answer."""
        return self.document if self.section is None else self.section[0].name

    def answered(self) -> "Candidate | None":
        """The question with its quotes; None where no prose answers it, or the question's own."""
        if self.section is None:
            return self
        quote = first_words(*self.section)
        own = self.excluded
        if quote is None or (own is not None and (own in quote or quote in own)):
            return None
        return replace(self, quotes=(quote,), section=self.section)


def content_words(text: str) -> list[str]:
    """The words of a text in lower case, without stop words.

    >>> content_words("How do I use the API's keys?")
    ["api's", 'keys']
    """
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def is_question(text: str) -> bool:
    """Whether a heading asks something.

    >>> is_question("How do I install it"), is_question("How it works"), is_question("Why?")
    (True, False, True)
    """
    return text.endswith("?") or bool(_ASKS.match(text))


_ASKS = re.compile(
    r"(?:how (?:do|does|can|could|should|would|to)|what (?:is|are|does|do|if|happens)|"
    r"why (?:is|are|does|do|can|did)|where (?:is|are|do|does|can)|when (?:should|do|does|is)|"
    r"which|who|can i|can you|do i|is it|is there|are there|should i|does)\b.{8}",
    re.IGNORECASE,
)


def is_fit(question: str) -> bool:
    """Whether a question has neither too few words nor too many, and is written in words."""
    return (
        len(set(content_words(question))) >= FEWEST_WORDS
        and len(question.split()) <= MOST_WORDS
        and len(_SIGN.findall(question)) <= 0.25 * len(question)
    )


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, cut where one ends and the next begins.

    >>> sentences("Use it, e.g. On Linux. It is fast! Really?")
    ['Use it, e.g. On Linux.', 'It is fast!', 'Really?']
    """
    found: list[str] = []
    for part in _SENTENCE.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found


def paragraphs(document: TextDocument, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of prose in a part of a document, each with its place in the text.

    Code, tables, lists of links, images, directives and comments are left out.
    """
    text = document.text[start:end]
    is_markup = document.kind in ("markdown", "notebook", "rst")
    begin, held = -1, False
    lines = lines_of(text) if document.kind != "rst" else _outside_blocks(text)
    for at, line, is_code in chain(lines, [(len(text), "", False)]):
        plain = line.strip()
        if plain and not is_code:
            begin = at if begin < 0 else begin
            # A line that begins with a sign is a list, a table, a quote or HTML.
            held = held or (is_markup and bool(_NO_PROSE.match(plain)))
            continue
        if begin >= 0 and not held:
            paragraph = text[begin:at].strip()
            if _is_prose(paragraph):
                yield start + begin, paragraph
        begin, held = -1, False


_NO_PROSE = re.compile(
    r"[|<>!]|\.\. |:\w+:|\[[^\]]+\]:|#|[-*_]{3,}|\{[%{]|:::|={3,}|\$\$|[-*+] |\d+[.)] "
)


def _outside_blocks(text: str) -> list[tuple[int, str, bool]]:
    """The lines of reStructuredText; indented ones are code, options or the rest of a directive."""
    found, at, inside = [], 0, False
    for line in text.split("\n"):
        if line.strip():
            inside = line[:1].isspace()
        found.append((at, line, inside and bool(line.strip())))
        at += len(line) + 1
    return found


def _is_prose(paragraph: str) -> bool:
    words = without_markup(paragraph)
    is_long = len(words) >= SHORTEST_QUOTE and len(words.split()) >= 6
    return is_long and len(_SIGN.findall(words)) <= 0.3 * len(words)


def first_words(document: TextDocument, section: Section) -> str | None:
    """The first paragraph below a heading, cut at the end of a sentence; None without prose."""
    found = next(paragraphs(document, section.body, section.end), None)
    return None if found is None else shortened(found[1])


def shortened(text: str) -> str:
    """A text of at most the longest quote: whole sentences if possible, else whole words."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_QUOTE:
        return text
    kept = ""
    for one in sentences(text):
        joined = f"{kept} {one}".strip()
        if len(joined) > LONGEST_QUOTE:
            break
        kept = joined
    return kept if len(kept) >= SHORTEST_QUOTE else text[:LONGEST_QUOTE].rpartition(" ")[0]
