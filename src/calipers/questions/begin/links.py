"""What people say about a section elsewhere: the clause beside a link to it.

The passage with the link must count neither for nor against a ranking: it holds the words.
"""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from calipers.io.documents.sections import Link, Section, TextDocument, without_markup
from calipers.questions.begin.candidates import (
    NEEDS_CONTEXT,
    Candidate,
    content_words,
    first_words,
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
_CUT = re.compile(
    r"\b(?:alternatives|hurry|rundown|you|your own|or learn|and how|then|done with)\b|"
    r"^(?:that|which|see|note|and|or|all|now|executables? are)\b|\b(?:or|and|but|to|which|that)$",
    re.IGNORECASE,
)
"""Half a sentence, or one that speaks to a reader who knows the page."""
_LEAST = 2
"""Content words that a clause must have, without words that only point somewhere."""
_LONGEST = 600
"""Characters of a sentence; what is longer is no sentence."""
_ENDINGS = ("", ".md", ".rst", ".html", ".markdown", ".ipynb", "/index.md", "/README.md")
_Place = tuple[TextDocument, Section]


def from_links(documents: Sequence[TextDocument]) -> Iterator[Candidate]:
    """Yield the clause beside each link to a section of these documents."""
    known = {one.name: one for one in documents}
    labels = {
        anchor: (one, section)
        for one in documents
        if one.kind == "rst"
        for anchor, section in one.by_anchor.items()
    }
    for here in documents:
        if here.kind == "python" or is_log(here.name) or not here.links:
            continue
        links = sorted(here.links, key=lambda one: one.start)
        starts = [one.start for one in links]
        for at, paragraph in paragraphs(here, 0, len(here.text)):
            first, last = (bisect_left(starts, one) for one in (at, at + len(paragraph)))
            for link in links[first:last]:
                yield from _asked(link, at, paragraph, here, known, labels)


def _asked(
    link: Link,
    at: int,
    paragraph: str,
    here: TextDocument,
    known: Mapping[str, TextDocument],
    labels: Mapping[str, _Place],
) -> Iterator[Candidate]:
    """Yield what the sentence of a link says, if it says something and leads somewhere else."""
    marked = f"{paragraph[: link.start - at]}{_LINK}{paragraph[link.end - at :]}"
    sentence = next((one for one in sentences(marked) if _LINK in one), "")
    clause = clause_of(sentence)
    place = None if clause is None else _target(link, here, known, labels)
    if clause is None or place is None:
        return
    other, section = place
    own = " ".join(sentence.replace(_LINK, here.text[link.start : link.end]).split())
    answer = first_words(other, section.body, section.end)
    is_own = other is here and section == here.section_at(link.start)
    # The heading in other words is asked as a heading.
    is_heading = set(content_words(clause)) <= set(content_words(f"{link.words} {section.heading}"))
    if is_own or is_heading or any(one in own or own in one for one in answer):
        return
    line = here.line(link.start)
    yield Candidate(clause, "links", here.name, line, answer, other.name, own)


def clause_of(sentence: str) -> str | None:
    r"""What a sentence says about the place it links to; None where that is nothing.

    >>> clause_of("If you need to customize request instantiation, see \x00.")
    'customize request instantiation'
    >>> clause_of("See \x00 for how to limit the rate of uploads.")
    'limit the rate of uploads'
    >>> clause_of("For more information, see \x00.")
    """
    if sentence.count(_LINK) != 1 or len(sentence) > _LONGEST:
        return None
    plain = without_markup(" ".join(sentence.split()))
    for pattern in (_AFTER, _DESCRIBED, _BEFORE):
        found = pattern.search(plain)
        if found is None:
            continue
        whole = found["clause"].strip(" ,;:.–—-")
        clause = re.sub(r"^(?:on|about|for) ", "", _PREFACE.sub("", whole)).strip(" ,;:.–—-")
        # Without a preface it is a statement, and not what a reader looks for.
        says = pattern is not _BEFORE or clause != whole
        is_whole = not NEEDS_CONTEXT.search(clause) and not _CUT.search(clause)
        is_whole = is_whole and clause.count("(") == clause.count(")")
        fits = len(content_words(_EMPTY.sub(" ", clause))) >= _LEAST
        if says and is_whole and fits and 2 < len(clause.split()) <= 18:
            return clause
    return None


def _target(
    link: Link,
    here: TextDocument,
    known: Mapping[str, TextDocument],
    labels: Mapping[str, _Place],
) -> _Place | None:
    """The section that a link leads to, if it is in the folder and has a text."""
    href = unquote(link.href)
    if re.match(r"[a-z][a-z0-9+.-]*:|//", href, re.IGNORECASE):
        return None
    path, _, anchor = href.partition("#")
    path = path.partition("?")[0]
    if here.kind == "rst" and not path:
        return labels.get(anchor.lower())
    other = _document(path, here.name, known) if path else here
    if other is None or (other is here and not anchor):
        return None
    if anchor:
        section = other.by_anchor.get(anchor.lower())
    else:
        bodies = ((one, other.text[one.body : one.end]) for one in other.sections)
        section = next((one for one, text in bodies if text.strip()), None)
    return None if section is None else (other, section)


def _document(path: str, here: str, known: Mapping[str, TextDocument]) -> TextDocument | None:
    """The document that a path names, as files name each other or as a site does."""
    base = "" if path.startswith("/") else posixpath.dirname(here)
    bare = re.sub(r"\.(?:html?|md|rst)$", "", path.strip("/"))
    # A site shows a/b.md as the folder a/b/, so that its links lead one level further up.
    starts = (base, here.rpartition(".")[0])
    joined = (posixpath.join(start, name) for start in starts for name in (path.strip("/"), bare))
    names = (f"{posixpath.normpath(one)}{ending}" for one in joined for ending in _ENDINGS)
    return next((known[one] for one in names if one in known), None)
