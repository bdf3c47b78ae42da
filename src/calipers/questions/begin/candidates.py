"""A question made from a document, and the words that every source shares."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import TypeVar

import msgspec

from calipers.frozen import dataclass
from calipers.io.documents.parts import CAPTION
from calipers.io.documents.sections import TextDocument, lines_of, without_markup
from calipers.model.labels import MADE_FROM
from calipers.questions.begin.languages import (
    HAN,
    UNSPACED,
    USUAL,
    announces,
    languages,
    reading_length,
    turns,
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
_WORD = re.compile(r"[^\W_]+(?:['’.\-_/][^\W_]+)*")
_SIGN = re.compile(r"[^\w\s]|[\d_]")
# White space first: most letters of a text are none.
_SPACED_SENTENCE = re.compile(r"\s(?:(?<=[.!?]\s)|(?<=[.!?][\"')\]]\s))\s*(?=\S)")
_SENTENCE = re.compile(rf"{_SPACED_SENTENCE.pattern}|(?<=[。！？])|(?<=．)(?!\d)")
_FULL_STOPS = "。！？．"
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
    target: str = ""
    """The document that holds the answer, if it is another."""
    excluded: str | None = None
    """Words whose passage counts neither for nor against a ranking."""
    style: str = ""
    """How a model was told to ask."""
    unfit: str = ""
    """Why it is not asked; empty if it may be."""
    language: str = USUAL


def place(*about: object) -> bytes:
    """A place in a random order. A hash: it does not depend on the order of the documents."""
    return hashlib.sha256(msgspec.json.encode(about)).digest()


def in_turns(
    items: Iterable[T], document: Callable[[T], str], at: Callable[[T], bytes]
) -> list[T]:
    """In random order, one of each document before the second of any."""
    turns: Counter[str] = Counter()
    ordered = []
    for item in sorted(items, key=at):
        turns[document(item)] += 1
        ordered.append((turns[document(item)], item))
    return [item for _, item in sorted(ordered, key=lambda turn: turn[0])]


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
    words = _WORD.findall(text.lower())
    if not text.isascii() and UNSPACED.search(text):
        words = [part for word in words for part in _parts(word)]
    return tuple([word for word in words if word not in stop])


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
    pairs = {
        word
        for word in different
        if len(word) == 2 and not word.isascii() and HAN.match(word)
    }
    others = len(different) - len(pairs)
    if languages()[language].compounds:
        others += sum(len(word) >= LONG_WORD for word in different - pairs)
    # Pairs overlap: a run of five signs is four of them.
    ends = {pair[1] for pair in pairs}
    runs = sum(pair[0] not in ends for pair in pairs)
    return others + (len(pairs) + runs) / 2 if pairs else others


_NUMBER = re.compile(
    r"^(?:(?:step|chapter|part|section|appendix|annex|phase|schritt|kapitel|teil|abschnitt|anhang"
    r"|étape|chapitre|annexe|paso|capítulo|apéndice|passo|stap|шаг|глава|приложение)?\s*"
    r"(?:[\dIVX]+|[A-Z](?=\.\d))(?:\.\d+)*[.):]?\s+(?:[-–—]\s+)?"
    r"|(?:appendix|annexe?|anhang|apéndice|приложение)\s+[A-Z][.:)]\s+"
    r"|第\s*[\d一二三四五六七八九十]+\s*[章节節部步][.:：、]?\s*|[一二三四五六七八九十]+、\s*"
    r"|[\d]+(?:\.\d+)*[.):、]\s*|Q:\s+)",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"^[\s•*#\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+|^[-–]\s+"
    r"|[\s#*\\\-\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+$"
)
"""Signs around a heading that are no part of it."""


@lru_cache(maxsize=1_000)
def plain_heading(heading: str) -> str:
    """A heading without its number and the signs around it.

    >>> plain_heading("2.1. Retry a request:"), plain_heading("第 3 章 安装插件")
    ('Retry a request', '安装插件')
    >>> plain_heading("🚀 Use .NET objects:"), plain_heading(".NET objects")
    ('Use .NET objects', '.NET objects')
    """
    bare = _NUMBER.sub("", _MARKS.sub("", heading)).strip(" :：")
    return bare.rstrip(" .:：")


def needs_context(text: str, language: str = USUAL) -> bool:
    """Whether a text points to what stands around it.

    >>> needs_context("Why this fails"), needs_context("关于本章", "zh")
    (True, True)
    """
    words = languages()[language].context
    if language in ("zh", "ja"):
        return any(word in text for word in words)
    return not words.isdisjoint(_WORD.findall(text.lower()))


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
    if len(_SIGN.findall(question)) > 0.25 * len(question):
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
        if whole and goes_on and whole[-1][-1:] not in _FULL_STOPS:
            whole[-1] += f" {part}"
        elif part:
            whole.append(part)
    return whole


_NO_PROSE = re.compile(
    r"[|<>!]|\[!\[|\?\?\?|\.\. |:\w+:(?!`)|\[[^\]]+\](?::|$)|#|[-*_]{3,}|\{[%{]|:::|={3,}|\$\$"
    r"|[-*+] |\d+[.)] "
)
"""How a line begins that is a list, a table, a directive, a comment, an image or HTML."""


_LABEL = re.compile(r"^\W{0,4}[\w-]{1,20}\W{0,3}[:：]", re.MULTILINE)
"""How a line begins that gives the value of a name."""
_CODE = re.compile(r"`+[^`]*`+")


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
            _SIGN.findall(words)
        ) <= 0.3 * len(words)


def _is_code(text: str) -> bool:
    """Whether a text has many signs of code and next to no words that sentences have.

    >>> _is_code("Matrix (void) Matrix (int r) " * 3), _is_code("Wait for a call. " * 3)
    (True, False)
    """
    signs = len(_SIGN_OF_CODE.findall(text))
    if not signs:
        return False
    words = _WORD.findall(text.lower())
    stop = languages()[USUAL].stop
    return SIGNS_OF_CODE * len(words) < signs and sum(
        word in stop for word in words
    ) < LEAST_STOP_WORDS * len(words)


_SIGN_OF_CODE = re.compile(r"[(){}\[\]<>&*=;_]")
SIGNS_OF_CODE = 0.2
"""The share of such signs, by words, from which on a text may be code."""
LEAST_STOP_WORDS = 0.1
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
            is_prose = is_prose and not (is_markup and _NO_PROSE.match(plain))
            continue
        if begin >= 0:
            block = text[begin:at].strip()
            yield Paragraph(start + begin, block, is_prose and not is_caption(block))
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
        (".", *_FULL_STOPS)
    )


_INDENT = ("    ", "\t")
_BLOCK = re.compile(
    r"^(?:[ \t]*(?:```|~~~|[-*+] |\d+[.)] |\||\.\. (?:code|math)|\$\$|\\\[|\S.*::$)|    \S)",
    re.MULTILINE,
)
"""How code, a list or a table begins."""


def first_words(
    document: TextDocument, start: int, end: int, language: str = USUAL
) -> tuple[str, ...]:
    """How a part of a document begins, cut at the end of a sentence; () where that is no answer.

    A short first paragraph often only sets the scene, so what follows it belongs to the target:
    paragraphs and entries of lists, up to the letters that a quote may have. What stands below
    code, a table or a shorter paragraph is no answer: those are. Nor is a text that only leads
    elsewhere or to code, or that only asks.
    """
    first = next(
        (block for block in blocks(document, start, end) if block.is_prose), None
    )
    if (
        first is None
        or not first.is_long
        or _ENTRY.match(first.text)
        or _BLOCK.search(document.text[start : first.at])
    ):
        return ()
    text = first.text
    if _code_after(document.text[first.at : end]) > MOST_CODE * len(text):
        return ()  # the code is the answer, and the text a remark on it
    if document.kind == "pdf" and not re.match(r"[^\W_a-zà-ÿ]|[\"'“«「(]", text):
        return ()  # the rest of a line whose beginning stood out, or an entry of a list
    if document.kind == "pdf" and (broken := _HYPHEN.search(text)):
        # Whether a word goes on after the hyphen is not known: end before it.
        text = text[: broken.start()].rpartition(".")[0]
        text = f"{text}."
    said = sentences(" ".join(text.split()))
    if len(said) == 1 and not (_ENDED.search(text) or _UNMARKED.search(text)):
        return ()
    rest = document.text[first.at + len(first.text) : end]
    if document.text[start : first.at].count(BOX) % 2:
        return ()  # a remark in a box
    if text == first.text:
        said += _following(rest[:FAR], document.kind)
    kept = _fitting(said)
    after = next(iter(said[len(kept) :]), "")
    # What stands at the end and leads to code or a picture answers nothing alone.
    while kept and _only_introduces(without_markup(kept[-1]), language):
        after = kept.pop()
    links = _links(document, first.at, first.at + len(text) + FAR)
    letters = 0.0
    least = SHORTEST_QUOTE
    # Mostly the first sentence says enough, and the others need not be read.
    for at in _that_answer(kept, links, language):
        # What follows an announcement says little without it.
        least = AFTER_SCENE if at and not letters else least
        letters += reading_length(without_markup(kept[at]))
        if letters >= least:
            leads_on = _leads_on(kept[-1], after, links, language)
            return () if leads_on else (shortened(kept),)
    return ()


def _leads_on(last: str, after: str, links: Iterable[str], language: str) -> bool:
    """Whether a target stops before its answer: a conclusion, a list, or what it announces."""
    if turns(after, language) or (_INTRODUCES.search(last) and _ENTRY.match(after)):
        return True
    return announces(last, language) and not _leads_elsewhere(last, links, language)


AFTER_SCENE = 100
"""Letters that a target has at least behind a first sentence that only announces."""
FAR = 1_500
"""Characters behind the first paragraph in which the rest of a target is looked for."""
BOX = ":::"
"""How a box begins and ends."""
_ENTRY = re.compile(r"[-*+–]\s|•|(?:\d{1,2}|#)[.)]\s|\d{1,2}[．）、]|[①-⑳]")
_ENTRIES = re.compile(r"\n(?=\s*(?:[-*+•–]\s|(?:\d{1,2}|#)[.)．）]\s))")
"""How an entry of a list begins, and where the next one does."""


def _following(text: str, kind: str) -> list[str]:
    """The sentences and the entries of lists that follow a paragraph, up to anything else."""
    units: list[str] = []
    text = _FENCED.split(text, maxsplit=1)[0]
    for block in re.split(r"\n[ \t]*\n", text):
        plain = block.strip()
        if not plain:
            continue
        if sum(map(len, units)) > LONGEST_QUOTE:
            break
        is_list = _ENTRY.match(plain) is not None
        is_indented = block.lstrip("\n")[:1].isspace() and kind not in ("html", "pdf")
        if (is_indented and not is_list) or "\n|" in plain:
            break
        if not is_list and (_NO_PROSE.match(plain) or _ENTRIES.search(block)):
            break
        if kind == "pdf" and _HYPHEN.search(plain):
            break
        if is_list:
            units += [" ".join(part.split()) for part in _ENTRIES.split(plain)]
        elif _ENDED.search(plain) or _INTRODUCES.search(plain):
            units += sentences(" ".join(plain.split()))
        else:
            break
    return units


_FENCED = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


def _only_introduces(sentence: str, language: str) -> bool:
    """Whether a sentence only leads to what follows it: "To wait, set this:" says more."""
    if _INTRODUCES.search(sentence) is None:
        return False
    return reading_length(sentence) < SHORTEST_QUOTE or announces(sentence, language)


def _fitting(parts: list[str]) -> list[str]:
    """The first of these that fit into a quote; the first alone where it is too long."""
    letters = 0.0
    for number, part in enumerate(parts):
        letters += reading_length(part) + 1
        if letters > LONGEST_QUOTE + 1:
            return parts[: max(number, 1)]
    return parts


def _code_after(text: str) -> int:
    """How many characters of a text stand between fences."""
    if "```" not in text and "~~~" not in text:
        return 0
    return sum(len(line) for _, line, is_code in lines_of(text) if is_code)


MOST_CODE = 8
"""How much longer than the paragraph above it code may be."""
_ENDED = re.compile(r"[.!?。！？．…।؟۔][\W_]*$")
"""How a sentence ends that is one."""
_UNMARKED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Scripts that write no sign at the end of a sentence: Thai, Lao, Burmese, Khmer."""
_INTRODUCES = re.compile(r"[:：]\W*$")
"""How a sentence ends that only introduces what follows it."""


def _links(document: TextDocument, start: int, end: int) -> list[str]:
    """The links of a part of a document, as they stand in its sentences."""
    return [
        " ".join(document.text[link.start : link.end].split())
        for link in document.links
        if start <= link.start < end
    ]


def _that_answer(
    said: Iterable[str], links: Iterable[str], language: str
) -> Iterator[int]:
    """Yield which sentences of a paragraph neither announce, nor lead elsewhere, nor ask."""
    for at, sentence in enumerate(said):
        if not (
            sentence.rstrip("*_").endswith(("?", "？"))
            or _ONLY_LINK.fullmatch(sentence)
            or announces(sentence, language)
            or _leads_elsewhere(sentence, links, language)
        ):
            yield at


_ONLY_LINK = re.compile(
    r"(?:[-*+•]|(?:\d{1,2}|#)[.)])\s+(?:\[[^\]]{1,200}\]\([^)]{1,300}\)|:\w+:`[^`]{1,300}`)\W*"
)
"""An entry of a list that is nothing but a link."""


def _leads_elsewhere(sentence: str, links: Iterable[str], language: str) -> bool:
    """Whether a sentence says with a link where to read."""
    see = languages()[language].see
    if language in ("zh", "ja"):
        says_see = any(word in sentence for word in see)
    else:
        says_see = not see.isdisjoint(_WORD.findall(sentence.lower()))
    return says_see and any(link in sentence for link in links)


_BULLETS = ("•", "·", "▪", "◦", "‣", "–", "—", "-", "(")
"""How an entry of a list begins, or an aside."""
_HYPHEN = re.compile(r"\w+[-\u00ad\u2010]\n")


def shortened(parts: Iterable[str]) -> str:
    """As many sentences, or lines, as a quote may have letters; at least a part of the first."""
    kept = ""
    for part in parts:
        joint = "" if kept[-1:] in _FULL_STOPS else " "
        joined = f"{kept}{joint}{part}".strip()
        if reading_length(joined) > LONGEST_QUOTE:
            return kept if reading_length(kept) >= SHORTEST_QUOTE else _cut(joined)
        kept = joined
    return kept


def _cut(text: str) -> str:
    """The beginning of a long sentence, cut between two words or after a sign."""
    most = int(LONGEST_QUOTE * len(text) / reading_length(text))
    if UNSPACED.search(text[:most]):
        ends = [text.rfind(mark, 0, most) for mark in "，、；,;"]
        return text[: max(ends) + 1] if max(ends) > most // 3 else text[:most]
    return text[:most].rpartition(" ")[0]
