"""A question made from a document, and the words that every source shares."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from heapq import heapify, heappop, heapreplace
from itertools import chain
from typing import TypeVar

import msgspec

from calipers.frozen import dataclass
from calipers.model.labels import MADE_FROM
from calipers.questions.begin.languages import (
    HAN,
    UNSPACED,
    USUAL,
    languages,
    reading_length,
    words_without_spaces,
)

SOURCES = MADE_FROM
BY_DEFAULT = ("links", "headings", "docstrings")
"""Without faq, which misranked retrievers, and history, of which 31 of 50 questions were such that
somebody would ask them. Headings stay on, as a smoke test."""
FEWEST_WORDS = 2
MOST_WORDS = 30
"""Words of a question; stop words do not count towards the fewest."""
LONGEST_QUESTION = 300
"""Letters of a question, counted like those of a target."""
SHORTEST_QUOTE = 40
LONGEST_QUOTE = 500
"""Letters of a target; a sign of another script counts by what it says."""
LONG_WORD = 10
"""Letters from which on one word says what others say in two, where a language joins words."""
WORD = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
SIGN = re.compile(r"[^\w\s]|[\d_]")
# White space first: most letters of a text are none.
_SPACED_SENTENCE = re.compile(r"\s(?:(?<=[.!?]\s)|(?<=[.!?][\"')\]]\s))\s*(?=\S)")
_SENTENCE = re.compile(rf"{_SPACED_SENTENCE.pattern}|(?<=[。！？])|(?<=．)(?!\d)")
FULL_STOPS = "。！？．"
"""What ends a sentence where no blank follows."""
_ABBREVIATION = re.compile(
    r"(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\b[A-Z]|\bz\. ?B|\bbzw|\bd\. ?h|\bca|\bp\. ?ex)\.$"
)

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
    heading: str = ""
    """The heading above its answer, without what the question says before it."""
    target: str = ""
    """The document that holds the answer, if it is another."""
    excluded: str | None = None
    """Words whose passage counts neither for nor against a ranking."""
    style: str = ""
    """How a model was told to ask."""
    unfit: str = ""
    """Why it is not asked; empty if it may be."""
    share: float = 1.0
    """How much of its section the target holds."""
    language: str = USUAL
    find: "Callable[[Candidate], Candidate] | None" = None
    """Finds what answers it, which takes most of the time; None where that is known."""

    def answered(self) -> "Candidate":
        """The candidate with what answers it, or with why nothing does."""
        return self if self.unfit or self.find is None else self.find(self)


def place(*about: object) -> bytes:
    """A place in a random order. A hash: it does not depend on the order of the documents."""
    return hashlib.sha256(msgspec.json.encode(about)).digest()


def in_turns(
    items: Iterable[T],
    document: Callable[[T], str],
    at: Callable[[T], bytes],
    taken: Callable[[T], T | None] = lambda item: item,
) -> Iterator[T]:
    """Yield items in random order, one of each document before the second of any.

    ``taken`` returns what is yielded for an item, or None: then the next item of its document takes
    its turn. An item is only asked for that when its turn comes.
    """
    waiting: dict[str, list[tuple[bytes, int, T]]] = defaultdict(list)
    for number, item in enumerate(items):
        waiting[document(item)].append((at(item), number, item))
    for queue in waiting.values():
        queue.sort(key=lambda place: place[:2], reverse=True)
    while waiting:
        turn = [(*queue[-1][:2], name) for name, queue in waiting.items()]
        heapify(turn)
        while turn:
            name = turn[0][2]
            queue = waiting[name]
            yielded = taken(queue.pop()[2])
            if yielded is None and queue:
                heapreplace(turn, (*queue[-1][:2], name))
            else:
                heappop(turn)
            if not queue:
                del waiting[name]
            if yielded is not None:
                yield yielded


def content_words(text: str, language: str = USUAL) -> list[str]:
    """The words of a text in lower case, without the stop words of its language.

    >>> content_words("How do I use the API's keys?")
    ["api's", 'keys']
    >>> content_words("如何安装 Flask", "zh")
    ['如何', '何安', '安装', 'flask']
    """
    return [*_content_words(text, language)]


@lru_cache(maxsize=2_000)
def _content_words(text: str, language: str) -> tuple[str, ...]:
    """The words of a text; kept, as several rules ask them of one heading."""
    stop = languages()[language].stop
    words: Iterable[str] = _words(text)
    if not text.isascii() and UNSPACED.search(text):
        words = [part for word in words for part in _parts(word)]
    return tuple([word for word in words if word not in stop])


@lru_cache(maxsize=2_000)
def _words(text: str) -> list[str]:
    """The words of a text in lower case; several rules ask for those of one heading."""
    return WORD.findall(text.lower())


def _parts(word: str) -> list[str]:
    """A word, cut where it is written in signs without spaces."""
    if UNSPACED.search(word) is None:
        return [word]
    others = [part for part in UNSPACED.split(word) if part]
    runs = [words_without_spaces(run) for run in UNSPACED.findall(word)]
    return [*others, *chain.from_iterable(runs)]


def how_many_words(words: Iterable[str], language: str = USUAL) -> float:
    """How many words these are; a compound counts as two, and so do four signs of Chinese.

    >>> how_many_words(["krankmeldung"], "de"), how_many_words(["installation"], "en")
    (2, 1)
    >>> how_many_words(content_words("自定义查询", "zh"), "zh")
    2.5
    """
    different = set(words)
    is_ascii = "".join(different).isascii()
    pairs = {
        word
        for word in (() if is_ascii else different)
        if len(word) == 2 and not word.isascii() and HAN.match(word)
    }
    others = len(different) - len(pairs)
    if languages()[language].compounds:
        others += sum(len(word) >= LONG_WORD for word in different - pairs)
    # Pairs overlap: a run of five signs is four of them.
    if not pairs:
        return others
    ends = {pair[1] for pair in pairs}
    runs = sum(pair[0] not in ends for pair in pairs)
    return others + (len(pairs) + runs) / 2


_NUMBER = re.compile(
    r"^(?!(?-i:(?:I|\d+)\s+[a-zà-ÿ]))(?:(?:step|chapter|part|section|appendix|annex|phase|schritt|kapitel|teil|abschnitt|anhang"
    r"|étape|chapitre|annexe|paso|capítulo|apéndice|passo|stap|шаг|глава|приложение)?\s*"
    r"(?:\d+|[IVX]+(?!\.\d)|[A-UW-Z](?=\.\d))(?:\.\d+)*[.):]?\s+(?:[-–—]\s+)?"
    r"|(?:appendix|annexe?|anhang|apéndice|приложение)\s+[A-Z][.:)]\s+"
    r"|第\s*[\d一二三四五六七八九十]+\s*[章节節部步][.:：、]?\s*|[一二三四五六七八九十]+、\s*"
    r"|[\d]+(?:\.\d+)*[.):、]\s*|Q:\s+|\((?:FAQ|Q)\s*\d+\w?\)\s+)",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"^[\s•*#\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+|^[-–]\s+"
    r"|[\s#*\\\-\u200d\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+$"
)
"""Signs around a heading that are no part of it."""


@lru_cache(maxsize=1_000)
def plain_heading(heading: str) -> str:
    """A heading without its number and the signs around it.

    >>> plain_heading("2.1. Retry a request:"), plain_heading("第 3 章 安装插件")
    ('Retry a request', '安装插件')
    >>> plain_heading("🚀 Use .NET objects:"), plain_heading(".NET objects")
    ('Use .NET objects', '.NET objects')
    >>> plain_heading("II Retry a request"), plain_heading("I want a retry")
    ('Retry a request', 'I want a retry')
    >>> plain_heading("4 Retry a request"), plain_heading("9 ways to retry")
    ('Retry a request', '9 ways to retry')
    >>> plain_heading("v5.0 and later")
    'v5.0 and later'
    """
    # Most begin and end with a letter, and have no signs around them.
    is_bare = heading.isascii() and heading[:1].isalnum() and heading[-1:].isalnum()
    unmarked = heading if is_bare else _MARKS.sub("", heading)
    bare = _NUMBER.sub("", unmarked).strip(" :：")
    return bare.rstrip(" .:：")


def needs_context(text: str, language: str = USUAL) -> bool:
    """Whether a text points to what stands around it.

    >>> needs_context("Why this fails"), needs_context("关于本章", "zh")
    (True, True)
    """
    words = languages()[language].context
    if language in ("zh", "ja"):
        return any(word in text for word in words)
    return not words.isdisjoint(_words(text))


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
    return text.endswith(("?", "？")) or bool(_ASKS.match(text))


def why_unfit(question: str, language: str = USUAL) -> str:
    """Why a text is no question by its length and its signs; empty if it is one."""
    if how_many_words(content_words(question, language), language) < FEWEST_WORDS:
        return "fewer than two words that say something"
    if len(question.split()) > MOST_WORDS or reading_length(question) > LONGEST_QUESTION:
        return "too long for a question"
    if len(SIGN.findall(question)) > 0.25 * len(question):
        return "more signs than words"
    return ""


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, cut where one ends and the next begins.

    >>> sentences("Use it, e.g. On Linux. It is fast! Really?")
    ['Use it, e.g. On Linux.', 'It is fast!', 'Really?']
    """
    whole: list[str] = []
    for part in (_SPACED_SENTENCE if text.isascii() else _SENTENCE).split(text):
        # A sentence begins with a capital, a digit or a mark, and not after "e.g.".
        goes_on = part[:1].islower() or (whole and _ABBREVIATION.search(whole[-1]))
        if whole and goes_on and whole[-1][-1:] not in FULL_STOPS:
            whole[-1] += f" {part}"
        elif part:
            whole.append(part)
    return whole


def shortened(parts: Iterable[str]) -> str:
    """As many sentences, or lines, as a quote may have letters; at least a part of the first."""
    kept = ""
    for part in parts:
        joint = "" if kept[-1:] in FULL_STOPS else " "
        joined = f"{kept}{joint}{part}".strip()
        if reading_length(joined) > LONGEST_QUOTE:
            return kept if reading_length(kept) >= SHORTEST_QUOTE else cut_short(joined)
        kept = joined
    return kept


def cut_short(text: str) -> str:
    """The beginning of a long sentence, cut between two words or after a sign."""
    most = int(LONGEST_QUOTE * len(text) / reading_length(text))
    if UNSPACED.search(text[:most]):
        ends = [text.rfind(mark, 0, most) for mark in "，、；,;"]
        return text[: max(ends) + 1] if max(ends) > most // 3 else text[:most]
    return text[:most].rpartition(" ")[0]
