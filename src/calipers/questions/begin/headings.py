"""Headings as questions: the text below a heading answers it.

They find a broken index; they cannot tell two good retrievers apart.
"""

import re
from collections.abc import Iterable, Iterator

from calipers.io.documents.sections import TextDocument
from calipers.names import words_in
from calipers.questions.begin.candidates import (
    NEEDS_CONTEXT,
    Candidate,
    content_words,
    first_words,
)

GENERIC = frozenset(
    words_in(
        "about acknowledgements advanced api api-reference appendix arguments attributes authors "
        "background basics basic-usage bibliography bugs changelog changes class classes "
        "code-of-conduct community compatibility conclusion configuration contents contributing "
        "contributors credits "
        "demo dependencies description details development "
        "documentation example examples exceptions "
        "extra faq features fields files footnotes functions further-reading general getting-help "
        "getting-started glossary help highlights history index input install installation "
        "installing introduction issues license licence limitations links methods migration misc "
        "miscellaneous more motivation name news next-steps next note notes options other output "
        "overview parameters performance prerequisites properties quickstart quick-start readme "
        "recap reference references related related-projects release-notes release requirements "
        "resources results return returns roadmap sample security see-also setup signature source "
        "sponsors status structure summary support syntax table-of-contents tests testing thanks "
        "todo tips tl-dr troubleshooting tutorial tutorials unreleased upgrading usage values "
        "version versions warning whats-new what-next"
    )
)
VAGUE = GENERIC.union(
    words_in(
        "additional another anywhere available built-in command common concept concepts "
        "conventions custom default different else enough first following generic good guide "
        "guides important interface list new recommended sample several simple special step "
        "supported things various work working"
    )
)
"""Words that do not make a heading a question; two others must be left."""
_VERSION = re.compile(r"\bv?\d+\.\d+|^\W*\d|\b(?:19|20)\d\d\b|\bversion \d", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:step|chapter|part|section|appendix|phase)?\s*[\dIVX]+[.):]?\s+", re.I)
_CODE = re.compile(r"^\W*[\w.:/\-]+\(.*\)\W*$|^\W*[\w\-]+(?:[._/:]\w+)+\W*$|^\W*--?\w")


_LOGS = frozenset(
    words_in(
        "changelog changes history news release-notes release_notes releases summary _sidebar "
        "code_of_conduct license authors contributors credits upgrading whatsnew"
    )
)


def from_headings(documents: Iterable[TextDocument]) -> Iterator[Candidate]:
    """Yield each heading that says something, with the first paragraph below it."""
    for document in documents:
        if document.kind == "python" or is_log(document.name):
            continue
        for one in document.sections:
            heading = _NUMBER.sub("", one.heading).strip(" .:")
            if heading and says_something(heading):
                answer = first_words(document, one.body, one.end)
                line = document.line(one.start)
                yield Candidate(heading, "headings", document.name, line, answer)


def is_log(name: str) -> bool:
    """Whether a document lists changes or links, and explains nothing.

    >>> is_log("docs/CHANGELOG.md"), is_log("docs/changes-to-a-table.md")
    (True, False)
    """
    stem = name.rpartition("/")[2].partition(".")[0].lower()
    return stem in _LOGS or bool(
        re.search(r"(?:^|/)(?:release[-_ ]?notes|changelogs?|news)/", name)
    )


def says_something(heading: str) -> bool:
    """Whether a heading is more than the usual name of a part.

    >>> says_something("Getting started"), says_something("Retry a failed request")
    (False, True)
    """
    words = [word for word in content_words(heading) if word not in VAGUE]
    is_known = "-".join(re.findall(r"\w+", heading.lower())) in GENERIC
    is_code = _VERSION.search(heading) or _CODE.match(heading)
    return len(words) > 1 and not is_known and not is_code and not NEEDS_CONTEXT.search(heading)
