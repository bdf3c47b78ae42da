"""What people say about a section elsewhere: the clause beside a link to it.

The passage with the link must count neither for nor against a ranking: it holds the words.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from calipers.io.documents.sections import Link, Section, TextDocument, without_markup
from calipers.questions.begin.candidates import (
    Candidate,
    content_words,
    paragraphs,
    sentences,
)
from calipers.questions.begin.headings import is_log

_LINK = "\x00"
"""Stands for the link in its sentence."""
_VERB = (
    r"(?:please )?(?:you (?:can|may|should|might want to) )?(?:also )?"
    r"(?:see|read|check(?: out)?|consult|refer to|have a look at|take a look at|look at|visit|"
    r"follow|go to|head over to)(?: also)?"
)
_BEFORE = re.compile(
    rf"^(?P<clause>.+?)[,;:(–—-]*\s*\b{_VERB}\s+(?:the |our |this |their )?(?:\w+ ){{0,3}}?{_LINK}",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"\b{_VERB}\s+(?:the |our |this )?(?:\w+ ){{0,2}}?{_LINK}[^.]{{0,40}}?\s"
    r"(?:for|to (?:learn|find out|understand|see)|on|about)\s+(?P<clause>.+)$",
    re.IGNORECASE,
)
_DESCRIBED = re.compile(
    r"^(?P<clause>.+?)\s(?:is|are|was|can be found|can be)\s(?:\w+ly )?(?:also )?"
    r"(?:described|explained|covered|documented|discussed|detailed|shown|found|outlined)"
    rf"\s(?:\w+ ){{0,3}}?{_LINK}",
    re.IGNORECASE,
)
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
    r"information|examples?|better|much|more|some|style|defaults?|directory|features|various|different|differences|supported|available)\b",
    re.IGNORECASE,
)
_LEAST = 2
"""Content words that a clause must have, without words that only point somewhere."""
_ENDINGS = ("", ".md", ".rst", ".html", ".markdown", ".ipynb", "/index.md", "/README.md")


def from_links(documents: Iterable[TextDocument]) -> Iterator[Candidate]:
    """Yield the clause beside each link to a section of these documents."""
    listed = list(documents)
    known = {one.name: one for one in listed}
    labels = {
        anchor: (one, section)
        for one in listed
        if one.kind == "rst"
        for anchor, section in one.by_anchor.items()
    }
    for document in listed:
        if document.kind == "python" or is_log(document.name):
            continue
        waiting = sorted(document.links, key=lambda one: one.start)
        for at, paragraph in paragraphs(document, 0, len(document.text)) if waiting else ():
            inside = [one for one in waiting if at <= one.start < at + len(paragraph)]
            for link in inside:
                found = _said(link, at, paragraph)
                place = None if found is None else _target(link, document, known, labels)
                if found is not None and place is not None:
                    yield from _candidate(link, document, *found, *place)


def _said(link: Link, at: int, paragraph: str) -> tuple[str, str] | None:
    """What the sentence of a link says, and the sentence itself, with a mark for the link."""
    marked = f"{paragraph[: link.start - at]}{_LINK}{paragraph[link.end - at :]}"
    sentence = next((one for one in sentences(marked) if _LINK in one), "")
    clause = clause_of(sentence)
    return None if clause is None else (clause, sentence)


def _candidate(
    link: Link,
    document: TextDocument,
    clause: str,
    sentence: str,
    other: TextDocument,
    section: Section,
) -> Iterator[Candidate]:
    if other is document and section == document.section_at(link.start):
        return
    if set(content_words(clause)) <= set(content_words(f"{link.words} {section.heading}")):
        return  # the heading in other words: it is asked as a heading
    raw = sentence.replace(_LINK, document.text[link.start : link.end])
    excluded = " ".join(raw.split())
    line, place = document.line(link.start), (other, section)
    yield Candidate(clause, "links", document.name, line, (), excluded, place)


def clause_of(sentence: str) -> str | None:
    r"""What a sentence says about the place it links to; None where that is nothing.

    >>> clause_of("If you need to customize request instantiation, see \x00.")
    'customize request instantiation'
    >>> clause_of("See \x00 for how to limit the rate of uploads.")
    'limit the rate of uploads'
    >>> clause_of("For more information, see \x00.")
    """
    if sentence.count(_LINK) != 1:
        return None
    plain = without_markup(" ".join(sentence.split()))
    for pattern in (_AFTER, _DESCRIBED, _BEFORE):
        found = pattern.search(plain)
        if found is None:
            continue
        whole = found["clause"].strip(" ,;:.–—-")
        clause = re.sub(r"^(?:on|about|for) ", "", _PREFACE.sub("", whole)).strip(" ,;:.–—-")
        if pattern is _BEFORE and clause == whole:
            continue  # a statement, and not what a reader looks for
        words = content_words(_EMPTY.sub(" ", clause))
        fits = len(words) >= _LEAST and 2 < len(clause.split()) <= 18
        if (
            fits
            and not _POINTS.match(clause)
            and not _NEEDS_CONTEXT.search(clause)
            and clause.count("(") == clause.count(")")
        ):
            return clause
    return None


_NEEDS_CONTEXT = re.compile(
    r"\b(?:them|something|alternatives|hurry|rundown|you|your own|or learn|and how|we|our|it|these|"
    r"this|then|done with)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"(?:this|that|these|those|it|they|which|see|note|and|or|all|now|executables? are)\b|"
    r".*\b(?:or|and|then|but|you|to|which|that|them|it|this)$",
    re.IGNORECASE,
)


def _target(
    link: Link,
    document: TextDocument,
    known: dict[str, TextDocument],
    labels: dict[str, tuple[TextDocument, Section]],
) -> tuple[TextDocument, Section] | None:
    """The section that a link leads to, if it is in the folder and has a text."""
    href = unquote(link.href)
    if re.match(r"[a-z][a-z0-9+.-]*:|//", href, re.IGNORECASE):
        return None
    path, _, anchor = href.partition("#")
    path = path.partition("?")[0]
    if document.kind == "rst" and not path:
        return labels.get(anchor.lower())
    other = document if not path else _document(path, document.name, known)
    if other is None:
        return None
    if anchor:
        section = other.by_anchor.get(anchor.lower())
        return None if section is None else (other, section)
    if other is document:
        return None
    found = (one for one in other.sections if other.text[one.body : one.end].strip())
    section = next(found, None)
    return None if section is None else (other, section)


def _document(path: str, here: str, known: dict[str, TextDocument]) -> TextDocument | None:
    """The document that a path names, as files name each other or as a site does."""
    base = "" if path.startswith("/") else posixpath.dirname(here)
    bare = re.sub(r"\.(?:html?|md|rst)$", "", path.strip("/"))
    # A site shows a/b.md as the folder a/b/, so that its links lead one level further up.
    for start in (base, here.rpartition(".")[0]):
        for name in (path.strip("/"), bare):
            joined = posixpath.normpath(posixpath.join(start, name))
            for ending in _ENDINGS:
                if (found := known.get(f"{joined}{ending}")) is not None:
                    return found
    return None
