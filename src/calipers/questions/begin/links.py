"""What people say about a section elsewhere: the clause beside a link to it.

The passage with the link must count neither for nor against a ranking: it holds the
words.
"""

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from urllib.parse import unquote

from calipers.frozen import dataclass
from calipers.io.documents.parts import Link, Section
from calipers.io.documents.sections import TextDocument, code_in, without_markup
from calipers.questions.begin.candidates import (
    Candidate,
    content_words,
    how_many_words,
    needs_context,
    sentences,
)
from calipers.questions.begin.headings import IN_PARTS, has_parts, is_log
from calipers.questions.begin.languages import LINK, USUAL, languages, reading_length
from calipers.questions.begin.library import Library, Place
from calipers.questions.begin.paragraphs import Paragraph, blocks
from calipers.questions.begin.target import find_target

_VERB = (
    r"(?:please )?(?:you (?:can|may|should|might want to) )?(?:also )?"
    r"(?:see|read|check(?: out)?|consult|refer to|have a look at|take a look at|look at|visit|"
    r"follow|go to|head over to)(?: also)?"
)
_BEFORE = re.compile(
    rf"^(?P<clause>.+?)[,;:(–—-]*\s*\b{_VERB}\s+(?:the |our |this |their )?(?:\w+ ){{0,3}}?{LINK}",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"\b{_VERB}\s+(?:the |our |this )?(?:\w+ ){{0,2}}?{LINK}[^.]{{0,40}}?\s"
    r"(?:for|to (?:learn|find out|understand|see)|on|about)\s+(?P<clause>.+)$",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r"^(?P<clause>.+?)\s(?:is|are|was|can be found|can be)\s(?:\w+ly )?(?:also )?"
    r"(?:described|explained|covered|documented|discussed|detailed|shown|found|outlined)"
    rf"\s(?:\w+ ){{0,3}}?{LINK}",
    re.IGNORECASE,
)
_VERBS = (
    "see",
    "read",
    "check",
    "consult",
    "refer",
    "look",
    "visit",
    "follow",
    "go",
    "head",
)
_ABOUT = (" for ", " to ", " on ", " about ")
_DESCRIBES = (
    "described",
    "explained",
    "covered",
    "documented",
    "discussed",
    "detailed",
    "shown",
    "found",
    "outlined",
)
"""Letters of which one stands before or behind a link where the patterns match."""
_PREFACE = re.compile(
    r"^(?:(?:and|but|so|also|then|note that|alternatively|finally|however|moreover|in addition|"
    r"additionally|similarly|otherwise)[, ]+)*"
    r"(?:if you(?:'d| would)? (?:like|want|need|wish|have|prefer|are looking|plan|intend)"
    r"(?: to| for)?(?: (?:know|learn|read|find out|see|understand))?(?: (?:more|how))?"
    r"(?: about| to)?|"
    r"if you(?:'re| are)?|when you(?:'re| are)?|in order to|to (?:learn|find out|see|read|"
    r"understand|know)(?: (?:more|how))?(?: about| to)?|to|"
    r"(?:for )?(?:(?:an|a|the|some|all) )?(?:(?:more|further|full|complete|additional|detailed|"
    r"other|general|in-depth|specific|comprehensive) )*"
    r"(?:information|info|details?|examples?|instructions?|guidance|explanations?|"
    r"documentation|docs|discussion|background|context|list|overview|description|reference|"
    r"introduction|guide|help|tips|options)(?: (?:and|or) \w+)*"
    r"(?: (?:on|about|regarding|for|of|concerning|related to|into|in))?(?: how(?: to)?)?|"
    r"once you(?:'ve| have)?|when|"
    r"for(?: more)?|how to|more (?:about|on|information)|about|on)\b[,:]?\s*",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\b(?:this|that|these|those|it|they|them|here|above|below|following|previous|"
    r"next section|section|chapter|page|link|article|document|docs?|overview|brief|complete|"
    r"information|examples?|better|much|more|some|style|defaults?|directory|features|various|different|differences|supported|available|"
    r"specific|currently|defined)\b",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\b(?:alternatives|same|hurry|rundown|you|your own|or learn|and how|then|done with)\b|"
    r"^(?:that|which|what|see|note|and|or|all|now|more|details?|advice|hints|core|further|"
    r"if|whether|because|since|unless|although|while|executables? are|"
    r"(?:an? |the )?(?:\w+ )?(?:diagram|figure|table|warnings?|illustration|picture|comparison))\b|"
    r"\b(?:or|and|but|to|which|that)$",
    re.IGNORECASE,
)
"""Half a sentence, or one that speaks to a reader who knows the page."""
_OUT = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
"""How an address begins that leads out of the folder."""
_LEAST = 2
"""Content words that a clause must have, without words that only point somewhere."""
_LONGEST = 600
"""Characters of a sentence; what is longer is no sentence."""
_ENDINGS = ("", ".md", ".rst", ".html", ".markdown", ".ipynb", "/index.md", "/README.md")
_MOST = 18
"""Words of a clause at most."""
_SHARED = 0.6
"""The share of a heading's words that a link to its page must name."""


@dataclass(frozen=True, eq=False)
class _Links:
    """The links of a library, and what they lead to."""

    library: Library

    @cached_property
    def labels(self) -> dict[str, Place]:
        """The sections of reStructuredText by their labels, which are known in every document."""
        return {
            anchor: (document, section)
            for document in self.library.documents
            if document.kind == "rst"
            for anchor, section in document.by_anchor.items()
        }

    def question(
        self, link: Link, at: int, paragraph: str, here: TextDocument
    ) -> Candidate | None:
        """What the sentence of a link says, if it says something and leads somewhere else."""
        if _OUT.match(unquote(link.href)):
            return None
        marked = f"{paragraph[: link.start - at]}{LINK}{paragraph[link.end - at :]}"
        sentence = next((part for part in sentences(marked) if LINK in part), "")
        language = self.library.language(here)
        clause = clause_of(sentence, language, here.kind in ("html", "pdf"))
        if clause is None:
            return None
        place, reason = self.target(link, here, clause, language)
        if place is None:
            return self._unfit(clause, here, link, reason, language)
        other, section = place
        if other is here and section == here.section_at(link.start):
            return self._unfit(
                clause, here, link, "the link leads to its own section", language
            )
        named = content_words(f"{link.words} {section.heading}", language)
        if set(content_words(clause, language)) <= set(named):
            return self._unfit(clause, here, link, "the heading in other words", language)
        return Candidate(
            clause,
            "links",
            here.name,
            here.line(link.start),
            target=other.name,
            excluded=" ".join(
                sentence.replace(LINK, here.text[link.start : link.end]).split()
            ),
            language=language,
            find=partial(_answered, other, section),
        )

    def _unfit(
        self, clause: str, here: TextDocument, link: Link, reason: str, language: str
    ) -> Candidate | None:
        """A clause that is not asked, and why; None where the link leads out of the folder."""
        if not reason:
            return None
        line = here.line(link.start)
        return Candidate(
            clause, "links", here.name, line, unfit=reason, language=language
        )

    def target(
        self, link: Link, here: TextDocument, clause: str, language: str
    ) -> tuple[Place | None, str]:
        """The section that a link names, and why there is none; no reason where it leads out."""
        path, _, anchor = unquote(link.href).partition("#")
        path = path.partition("?")[0]
        if here.kind == "rst" and not path:
            place = self.labels.get(anchor.lower())
            if place is None:
                return None, ""
            other, section = place
        else:
            page = _document(path, here.name, self.library.by_name) if path else here
            if page is None or (page is here and not anchor):
                return None, ""
            other = page
            section = other.sections[0]
            if anchor and anchor.lower() not in other.by_anchor:
                return None, "the link names no section that is there"
            if anchor:
                section = other.by_anchor[anchor.lower()]
        headed = [part for part in other.sections if part.heading]
        if section.heading and section is not headed[0]:
            return _without_parts(other, section)
        # It names a page: of its sections the one that the words name is meant.
        words = {*content_words(clause, language), *content_words(link.words, language)}
        best = max(
            headed[1:], key=lambda part: _named(part, words, language), default=None
        )
        if best is not None:
            is_named = _named(best, words, language) >= _SHARED
            return (
                _without_parts(other, best)
                if is_named
                else (None, "the link names a page, no section")
            )
        whole = headed[0] if headed else other.sections[0]
        return (other, whole), ""


def _answered(
    document: TextDocument, section: Section, candidate: Candidate
) -> Candidate:
    """A clause that may be asked, with the section it leads to or why that is no answer."""
    answer = find_target(document, section.body, section.end, candidate.language)
    own = candidate.excluded or ""
    stands_there = any(quote in own or own in quote for quote in answer.quotes)
    return replace(
        candidate,
        quotes=() if stands_there else answer.quotes,
        unfit="the link stands in its target" if stands_there else answer.unfit,
        share=answer.share,
        find=None,
    )


def _without_parts(document: TextDocument, section: Section) -> tuple[Place | None, str]:
    """A section, unless the parts below it answer what is said of it."""
    number = bisect_right(document.sections, section.start, key=lambda part: part.start)
    following = next(iter(document.sections[number : number + 1]), None)
    if has_parts(section, following):
        return None, IN_PARTS
    return (document, section), ""


def _named(section: Section, words: set[str], language: str) -> float:
    """The share of a heading's words that are among these."""
    own = set(content_words(section.heading, language))
    return len(own & words) / len(own) if own else 0.0


def from_links(library: Library) -> Iterator[Candidate]:
    """Yield the clause beside each link to a section of these documents."""
    known = _Links(library)
    for here in library.documents:
        if not here.links or here.kind == "python" or is_log(here.name):
            continue
        links = sorted(here.links, key=lambda link: link.start)
        starts = [link.start for link in links]
        for block in _around(here, starts):
            first = bisect_left(starts, block.at)
            last = bisect_left(starts, block.at + len(block.text))
            # Most paragraphs have no link: whether they are long is not asked.
            if first == last or not (block.is_prose and block.is_long):
                continue
            for link in links[first:last]:
                question = known.question(link, block.at, block.text, here)
                if question is not None:
                    yield question


def _around(here: TextDocument, starts: list[int]) -> Iterator[Paragraph]:
    """Yield the paragraphs that hold one of these characters, and perhaps some beside them."""
    text = here.text
    code = code_in(text)
    first = last = 0
    """Where what is looked at begins and ends: between empty lines or code."""
    number = 0
    for start in starts:
        if start < last:
            continue
        while number < len(code) and code[number][1] <= start:
            number += 1
        begin, stop = code[number] if number < len(code) else (len(text), len(text))
        if begin <= start:
            last = stop
            continue
        above = code[number - 1][1] if number else 0
        # From the break above: what begins with dashes would be taken for the head of a page.
        above -= 1 if above and text[above - 1] == "\n" else 0
        first = max(text.rfind("\n\n", 0, start) + 1, above)
        last = text.find("\n\n", start)
        last = min(begin, last if last >= 0 else len(text))
        yield from blocks(here, first, last)


def clause_of(sentence: str, language: str = USUAL, is_page: bool = False) -> str | None:
    r"""What a sentence says about the place it links to; None where that is nothing.

    >>> clause_of("If you need to customize request instantiation, see \x00.")
    'customize request instantiation'
    >>> clause_of("See \x00 for how to limit the rate of uploads.")
    'limit the rate of uploads'
    >>> clause_of("Weitere Informationen zur Abgabe einer Kündigung stehen unter \x00.", "de")
    'Abgabe einer Kündigung'
    >>> clause_of("For more information, see \x00.")
    """
    if sentence.count(LINK) != 1 or reading_length(sentence) > _LONGEST:
        return None
    plain = " ".join(sentence.split())
    # In a page, what stands between angle brackets is text.
    plain = plain if is_page else without_markup(plain)
    if language == USUAL:
        return _english_clause(plain)
    for pattern in languages()[language].links:
        match = pattern.search(plain)
        if match is None:
            continue
        clause = match["clause"].strip(" ,;:.–—-，。、；：()（）")
        words = how_many_words(_that_say_something(clause, language), language)
        is_whole = not needs_context(clause, language) and not re.search(
            f"[{LINK},，]", clause
        )
        if is_whole and words >= _LEAST and len(clause.split()) <= _MOST:
            return clause
    return None


def _that_say_something(clause: str, language: str) -> list[str]:
    """The words of a clause that are not the usual name of a part, and not vague."""
    known = languages()[language]
    empty = known.generic | known.vague
    return [word for word in content_words(clause, language) if word not in empty]


def _english_clause(plain: str) -> str | None:
    """What an English sentence says about its link."""
    before, _, after = plain.lower().partition(LINK)
    for pattern, text, letters in (
        (_AFTER, after, _ABOUT),
        (_DESCRIBED, before, _DESCRIBES),
        (_BEFORE, before, _VERBS),
    ):
        # To try a pattern takes a hundred times as long as to look for its letters.
        if not any(some in text for some in letters):
            continue
        match = pattern.search(plain)
        if match is None:
            continue
        whole = match["clause"].strip(" ,;:.–—-")
        clause = re.sub(r"^(?:on|about|for) ", "", _PREFACE.sub("", whole)).strip(
            " ,;:.–—-"
        )
        # Without a preface it is a statement, and not what a reader looks for.
        says = pattern is not _BEFORE or clause != whole
        is_whole = not needs_context(clause) and not _CUT.search(clause)
        is_whole = is_whole and clause.count("(") == clause.count(")")
        # "If you need a, b does it, see c": what follows the comma is a statement.
        is_whole = is_whole and "," not in clause
        fits = len(_that_say_something(_EMPTY.sub(" ", clause), USUAL)) > _LEAST
        if says and is_whole and fits and 2 < len(clause.split()) <= _MOST:
            return clause
    return None


def _document(
    path: str, here: str, known: Mapping[str, TextDocument]
) -> TextDocument | None:
    """The document that a path names, as files name each other or as a site does."""
    base = "" if path.startswith("/") else posixpath.dirname(here)
    bare = re.sub(r"\.(?:html?|md|rst)$", "", path.strip("/"))
    # A site shows a/b.md as the folder a/b/, so that its links lead one level further up.
    starts = (base, here.rpartition(".")[0])
    joined = (
        posixpath.join(start, name)
        for start in starts
        for name in (path.strip("/"), bare)
    )
    names = (
        f"{posixpath.normpath(path)}{ending}" for path in joined for ending in _ENDINGS
    )
    return next((known[name] for name in names if name in known), None)
