"""A question made from a document, and the words that every source shares."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import msgspec

from calipers.io.documents.sections import TextDocument, lines_of, without_markup
from calipers.model.labels import MADE_FROM
from calipers.names import words_in

SOURCES = MADE_FROM
BY_DEFAULT = ("links", "headings", "docstrings")
"""Without faq, which misranked retrievers, and history, of which 31 of 50 questions were such that
somebody would ask them. Headings stay on, as a smoke test."""
FEWEST_WORDS, MOST_WORDS = 2, 30
"""Words of a question; stop words do not count towards the fewest."""
SHORTEST_QUOTE, LONGEST_QUOTE = 40, 300
"""Characters of a target."""
STOP_WORDS = frozenset(
    words_in(
        "a about all also an and any are as at be been "
        "but by can could do does each every for from had has have "
        "how i if in into is it its may more most my "
        "no not of on one or other our out own should so "
        "some such than that the their them then there these they this those through to use used "
        "using via was we were what when where which while who why will with you your"
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
_SIGN = re.compile(r"[^\w\s]|[\d_]")
_SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))\s+(?=[A-Z0-9\"'(\[`*_])")
NEEDS_CONTEXT = re.compile(
    r"\b(?:it|this|these|those|them|they|we|our|us|something|everything)\b", re.IGNORECASE
)
"""Words that point to what stands around a question."""
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\b[A-Z])\.$")

T = TypeVar("T")


@dataclass(frozen=True)
class Candidate:
    """A question, what answers it, and where it came from."""

    question: str
    source: str
    document: str
    line: int
    quotes: tuple[str, ...] = ()
    """The words that answer it; of several, any one does."""
    target: str = ""
    """The document that holds the answer, if it is another."""
    excluded: str | None = None
    """Words whose passage counts neither for nor against a ranking."""
    style: str = ""
    """How a model was told to ask."""


def place(*about: object) -> bytes:
    """A place in a random order. A hash: it does not depend on the order of the documents."""
    return hashlib.sha256(msgspec.json.encode(about)).digest()


def in_turns(found: Iterable[T], document: Callable[[T], str], at: Callable[[T], bytes]) -> list[T]:
    """In random order, one of each document before the second of any."""
    turns: Counter[str] = Counter()
    ordered = []
    for one in sorted(found, key=at):
        turns[document(one)] += 1
        ordered.append((turns[document(one)], one))
    return [one for _, one in sorted(ordered, key=lambda turn: turn[0])]


def content_words(text: str) -> list[str]:
    """The words of a text in lower case, without stop words.

    >>> content_words("How do I use the API's keys?")
    ["api's", 'keys']
    """
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


_ASKS = re.compile(
    r"(?:how (?:do|does|can|could|should|would|to)|what (?:is|are|does|do|if|happens)|"
    r"why (?:is|are|does|do|can|did)|where (?:is|are|do|does|can)|when (?:should|do|does|is)|"
    r"which|who|can i|can you|do i|is it|is there|are there|should i|does)\b.{8}",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether a heading asks something.

    >>> is_question("How do I install it"), is_question("How it works"), is_question("Why?")
    (True, False, True)
    """
    return text.endswith("?") or bool(_ASKS.match(text))


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


_NO_PROSE = re.compile(
    r"[|<>!]|\.\. |:\w+:(?!`)|\[[^\]]+\]:|#|[-*_]{3,}|\{[%{]|:::|={3,}|\$\$|[-*+] |\d+[.)] "
)
"""How a line begins that is a list, a table, a directive, a comment, an image or HTML."""


def paragraphs(document: TextDocument, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of prose in a part of a document, each with its place in the text."""
    text = document.text[start:end]
    is_markup = document.kind in ("markdown", "notebook", "rst")
    begin, is_prose = -1, True
    for at, line, is_code in chain(lines_of(text), [(len(text), "", False)]):
        plain = line.strip()
        # In reStructuredText what is indented is code, an option or the rest of a directive.
        if plain and not is_code and not (document.kind == "rst" and line[:1].isspace()):
            begin = at if begin < 0 else begin
            is_prose = is_prose and not (is_markup and _NO_PROSE.match(plain))
            continue
        paragraph = text[begin:at].strip() if begin >= 0 and is_prose else ""
        words = without_markup(paragraph)
        is_long = len(words) >= SHORTEST_QUOTE and len(words.split()) >= 6
        if is_long and len(_SIGN.findall(words)) <= 0.3 * len(words):
            yield start + begin, paragraph
        begin, is_prose = -1, True


_BLOCK = re.compile(
    r"^(?:[ \t]*(?:```|~~~|[-*+] |\d+[.)] |\||\.\. code|\S.*::$)|    \S)", re.MULTILINE
)
"""How code, a list or a table begins."""


def first_words(document: TextDocument, start: int, end: int) -> tuple[str, ...]:
    """The first paragraph of a part of a document, cut at the end of a sentence; () without one.

    What stands below code, a list or a table is no answer: those are.
    """
    at, text = next(paragraphs(document, start, end), (start, ""))
    if not text or _BLOCK.search(document.text[start:at]):
        return ()
    return (shortened(sentences(" ".join(text.split()))),)


def shortened(parts: Iterable[str]) -> str:
    """As many sentences, or lines, as a quote may have characters; at least a part of the first."""
    kept = ""
    for one in parts:
        joined = f"{kept} {one}".strip()
        if len(joined) > LONGEST_QUOTE:
            # A long first sentence is cut between two words.
            return (
                kept if len(kept) >= SHORTEST_QUOTE else joined[:LONGEST_QUOTE].rpartition(" ")[0]
            )
        kept = joined
    return kept
