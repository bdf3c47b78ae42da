"""The documents that questions are made from: their languages, their titles, what else answers."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from itertools import accumulate, islice
from math import log1p

import numpy as np

from calipers.frozen import dataclass
from calipers.io.documents.parts import Section
from calipers.io.documents.sections import TextDocument
from calipers.questions.begin.candidates import content_words, plain_heading
from calipers.questions.begin.languages import is_about_docs, language_of, languages

MANY_PAGES = 4
"""On so many pages a heading names a part that each page of a kind has."""
STEM = 6
"""Letters by which long words are compared: "installing" is found in "installation"."""
HALF = 0.5
"""The share of what a heading says from which on another one says it, too."""
LOOKED_AT = 500
"""Headings that are looked at for that, at most."""
MOST_IN_TITLE = 3
"""Words that a title of a whole library may have to stand before a heading."""
MOST_IN_FILE = 5
"""Words that the name of a file may have to be a title."""
_LETTERS = re.compile(r"[^\W\d_]{3}")
_FRONT = re.compile(r"^(?:readme|index)(?:\.[a-z-]+)?\.?[a-z]*$", re.IGNORECASE)
_FIRST = re.compile(r"(?:^|/)readme(?:\.[a-z-]+)?\.?[a-z]*$", re.IGNORECASE)
"""The first page of a project, in its folder."""
_FILE = re.compile(r"\.(?:html?|md|rst|txt|pdf)$")
"""How the name of a file ends, which is no title."""
_WELCOME = re.compile(
    r"^(?:welcome to|willkommen (?:bei|beim|in|zu|zum|zur)|bienvenue (?:à|dans|sur|chez)"
    r"|bienvenid[oa]s? a|benvenut[oi] (?:a|in)|bem-vindos? (?:a|ao|à)|welkom bij"
    r"|добро пожаловать в) (?:the |la |le |den |die |das )?"
    r"|^(?:欢迎(?:来到|使用|阅读)?|歡迎)|へようこそ\W*$"
    r"|(?:'s|’s)? ?(?:documentation|docs|manual|handbook|user guide)$"
    r"|手册$|文档$",
    re.IGNORECASE,
)

Place = tuple[TextDocument, Section]


@dataclass(frozen=True, eq=False)
class Library:
    """Documents, with what is known of all of them."""

    documents: Sequence[TextDocument]

    @cached_property
    def _languages(self) -> dict[str, str]:
        return {document.name: language_of(document.text) for document in self.documents}

    def language(self, document: TextDocument) -> str:
        """The language that a document is in."""
        return self._languages[document.name]

    @cached_property
    def by_name(self) -> dict[str, TextDocument]:
        """The documents by their names."""
        return {document.name: document for document in self.documents}

    @cached_property
    def title(self) -> str:
        """What all of it is about: the title of the first page, if it is short; else empty.

        A first page about the documentation itself is about nothing that the others are about.
        """
        fronts = [
            document
            for document in self.documents
            if _FRONT.search(document.name)
            and document.title
            and not is_about_docs(self._name(document), self.language(document))
        ]
        if not fronts or self.is_collection:
            return ""
        front = min(fronts, key=lambda front: front.name)
        title = self._name(front)
        words = content_words(title, self.language(front))
        others = languages()[self.language(front)].generic
        says = [word for word in words if word not in others]
        # A name has no words such as "the", and no remark in brackets.
        is_name = (
            len(title.split()) <= min(MOST_IN_TITLE, len(words)) and "(" not in title
        )
        return title if says and is_name and not _FILE.search(title) else ""

    def is_front(self, document: TextDocument) -> bool:
        """Whether a document is a first page that the whole library has its title from."""
        is_first = _FRONT.search(document.name) is not None
        return is_first and bool(self.title) and self._name(document) == self.title

    @staticmethod
    def _name(front: TextDocument) -> str:
        """What a first page is about: its title without what it says of that."""
        title = re.split(r"[:：|–—]| - ", _WELCOME.sub("", front.title))[0]
        return title.strip(" !！.。,-")

    @cached_property
    def is_collection(self) -> bool:
        """Whether these are first pages of many projects, each with headings about its own."""
        fronts = {one.name for one in self.documents if _FIRST.search(one.name)}
        return len(fronts) >= max(MANY_PAGES, len(self.documents) / 2)

    def title_of(self, document: TextDocument) -> str:
        """What a document is about: its title, or the heading below one that many pages have.

        That heading must stand above all others, or it would be the name of one part. In a
        collection of first pages, the name of the project.
        """
        if self.is_collection and "/" in document.name:
            folder = document.name.split("/")[-2]
            name = self._name(document)
            named = _letters(folder) in _letters(name) or _letters(name) in _letters(
                folder
            )
            return name if name and named else folder
        if not document.title or not self.is_usual(document.title):
            return document.title
        return next(
            (
                section.heading
                for number, section in enumerate(document.sections[:3])
                if section.heading
                and not self.is_usual(section.heading)
                and _is_above(section, document.sections[number + 1 :])
            ),
            "",
        )

    def file_title(self, document: TextDocument) -> str:
        """The name of a file as a title, for a page without one; empty where it says nothing."""
        stem = document.name.rpartition("/")[2].partition(".")[0]
        parts = re.split(r"[_-]+", stem)
        # A letter before a name is a mark of its kind.
        words = " ".join(part for part in parts if len(part) > 1 or len(parts) == 1)
        says = len(_LETTERS.findall(words)) > 0 and not _FRONT.search(document.name)
        return words if says and len(words.split()) <= MOST_IN_FILE else ""

    @cached_property
    def _pages(self) -> Counter[str]:
        """On how many pages each heading stands."""
        pages: Counter[str] = Counter()
        for document in self.documents:
            heads = (plain_heading(section.heading) for section in document.sections)
            pages.update({head.lower() for head in heads})
        return pages

    def is_usual(self, heading: str) -> bool:
        """Whether a heading stands on so many pages that it is the name of a part of each."""
        return self.pages_with(heading) >= MANY_PAGES

    def pages_with(self, heading: str) -> int:
        """On how many pages a heading stands."""
        return self._pages[plain_heading(heading).lower()]

    @cached_property
    def _holders(self) -> dict[str, "array[int]"]:
        """The numbers of the headings that hold a word, also in their page's title, in order."""
        holders: dict[str, array[int]] = defaultdict(partial(array, "i"))
        number = 0
        for document in self.documents:
            language = self.language(document)
            title = stems(content_words(document.title, language))
            for section in document.sections:
                if section.heading:
                    own = stems(content_words(section.heading, language))
                    for word in title | own:
                        holders[word].append(number)
                    number += 1
        return holders

    def is_several(self, words: Iterable[str]) -> bool:
        """Whether two headings, with their titles, hold all of these words."""
        holders = [self._holders.get(word, _NOWHERE) for word in stems(words)]
        holding, *others = sorted(holders, key=len) or [_NOWHERE]
        for numbers in others:
            if len(holding) < 2:
                return False
            holding = _in_both(holding, numbers)
        return len(holding) > 1

    @cached_property
    def _first_numbers(self) -> list[int]:
        """The number of the first heading of each document."""
        counts = (
            sum(bool(part.heading) for part in document.sections)
            for document in self.documents
        )
        return [*accumulate(counts, initial=0)]

    def _headed(self, number: int) -> Place:
        """The heading with a number."""
        at = bisect_right(self._first_numbers, number) - 1
        document = self.documents[at]
        headed = (section for section in document.sections if section.heading)
        return document, next(islice(headed, number - self._first_numbers[at], None))

    def is_shared(self, heading: str, name: str, line: int) -> bool:
        """Whether another heading than that of a line says half of what a heading does.

        What a word says is how few headings hold it.
        """
        language = self._languages[name]
        own = stems(content_words(heading, language))
        size = self._first_numbers[-1]
        says = {
            word: log1p(size / (1 + len(self._holders.get(word, _NOWHERE))))
            for word in own
        }
        least = HALF * sum(says.values())
        shared = np.zeros(size)
        for word in own & self._holders.keys():
            shared[np.frombuffer(self._holders[word], np.int32)] += says[word]
        likely = np.flatnonzero(shared >= least)[:LOOKED_AT] if own else np.zeros(0)
        for number in map(int, likely):
            document, section = self._headed(number)
            if document.name == name and document.line(section.start) == line:
                continue
            # Without the title of its page, which each heading there stands under.
            other = stems(content_words(section.heading, self.language(document)))
            if sum(says[word] for word in own & other) >= least:
                return True
        return False


_NOWHERE: Sequence[int] = ()
FEW = 50
"""Numbers up to which each is looked for by itself, which takes less time than with all."""


def _in_both(few: Sequence[int], many: Sequence[int]) -> Sequence[int]:
    """The numbers of the first that are among the second; both ascend."""
    if len(few) > FEW:
        first = np.asarray(few)
        second = np.asarray(many)
        at = second.searchsorted(first)
        both: list[int] = first[second.take(at, mode="clip") == first].tolist()
        return both
    last = many[-1]
    return [
        number
        for number in few
        if number <= last and many[bisect_left(many, number)] == number
    ]


def stems(words: Iterable[str]) -> frozenset[str]:
    """The beginnings of words, by which two forms of one word are the same.

    >>> stems(["installing"]) == stems(["installation"])
    True
    """
    return frozenset([word[:STEM] if len(word) > STEM + 1 else word for word in words])


def _is_above(section: Section, others: Iterable[Section]) -> bool:
    """Whether all of the others stand under a section."""
    return all(0 < section.level < other.level for other in others)


def _letters(name: str) -> str:
    """The letters of a name, as names of folders and titles are compared."""
    return re.sub(r"[\W_]+", "", name.lower())
