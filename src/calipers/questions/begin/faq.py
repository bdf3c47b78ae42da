"""Questions that stand in the documents themselves, with their answers."""

import re
from collections.abc import Iterable, Iterator

from calipers.io.documents.sections import TextDocument, without_markup
from calipers.questions.begin.candidates import (
    Candidate,
    first_words,
    is_question,
    paragraphs,
    shortened,
)

_DETAILS = re.compile(
    r"<details[^>]*>\s*<summary[^>]*>(.*?)</summary>(.*?)(?:</details>|\Z)", re.DOTALL | re.I
)
_BEGINS = r"[ \t]*(?:[-*>][ \t]+)?(?:\*\*|__)?"
_ENDS = r"(?:[ \t]*\d+)?[:.)](?:\*\*|__)?[ \t]*"
_Q_AND_A = re.compile(
    rf"^{_BEGINS}Q(?:uestion)?{_ENDS}([^\n]+)\s*\n\s*{_BEGINS}A(?:nswer)?{_ENDS}", re.MULTILINE
)
_NUMBER = re.compile(r"^(?:Q\s*)?\d+[.):]\s*|^Q[:.]\s*", re.IGNORECASE)


def from_faq(documents: Iterable[TextDocument]) -> Iterator[Candidate]:
    """Yield headings that are questions, Q: and A:, and summaries of details."""
    for document in documents:
        if document.kind == "python":
            continue
        for section in document.sections:
            heading = _NUMBER.sub("", section.heading).strip()
            if is_question(heading) or (section.level == 7 and heading.endswith("?")):
                yield from _asked(heading, first_words(document, section), document, section.start)
        for pattern in (_DETAILS, _Q_AND_A):
            for found in pattern.finditer(document.text):
                start, end = found.span(2) if pattern is _DETAILS else (found.end(), found.end())
                if pattern is _Q_AND_A:
                    # The answer is the paragraph that begins there.
                    blank = re.compile(r"\n[ \t]*\n").search(document.text, start)
                    end = blank.start() if blank else len(document.text)
                question = without_markup(found[1]).strip('" ')
                if question.endswith("?") and len(question) < 200:
                    yield from _asked(question, _answer(document, start, end), document, start)


def _answer(document: TextDocument, start: int, end: int) -> str | None:
    found = next(paragraphs(document, start, end), None)
    return None if found is None else shortened(found[1])


def _asked(
    question: str, quote: str | None, document: TextDocument, start: int
) -> Iterator[Candidate]:
    if quote is not None:
        yield Candidate(question, "faq", document.name, document.line(start), (quote,))
