"""Questions that stand in the documents themselves, with their answers."""

import re
from collections.abc import Iterator

from calipers.io.documents.sections import TextDocument, without_markup
from calipers.questions.begin.candidates import Candidate, is_question
from calipers.questions.begin.library import Library
from calipers.questions.begin.target import find_target

# Every length has an end: a page of open tags must not take hours.
_DETAILS = re.compile(
    r"<details[^>]{0,99}>\s{0,99}<summary[^>]{0,99}>(.{1,200}?)</summary>"
    r"(?=((?:(?!</details>).){0,3000}))",
    re.DOTALL | re.IGNORECASE,
)
_BEGINS = r"[ \t]*(?:[-*>][ \t]+)?(?:\*\*|__)?"
_ENDS = r"(?:[ \t]*\d+)?[:.)](?:\*\*|__)?[ \t]*"
# The answer is the paragraph that begins there.
_Q_AND_A = re.compile(
    rf"^{_BEGINS}Q(?:uestion)?{_ENDS}([^\n]+)\s*\n\s*{_BEGINS}A(?:nswer)?{_ENDS}"
    r"(?=((?:.+\n)*.*))",
    re.MULTILINE,
)
_NUMBER = re.compile(r"^(?:Q\s*)?\d+[.):]\s*|^Q[:.]\s*", re.IGNORECASE)


def from_faq(library: Library) -> Iterator[Candidate]:
    """Yield headings that are questions, Q: and A:, and summaries of details."""
    for document in library.documents:
        if document.kind == "python":
            continue
        for question, at, start, end in _questions(document):
            if is_question(question):
                language = library.language(document)
                answer = find_target(document, start, end, language)
                line = document.line(at)
                yield Candidate(
                    question,
                    "faq",
                    document.name,
                    line,
                    answer.quotes,
                    unfit=answer.unfit,
                    share=answer.share,
                    language=language,
                )


def _questions(document: TextDocument) -> Iterator[tuple[str, int, int, int]]:
    """Yield what may be a question, its place, and where its answer begins and ends."""
    for section in document.sections:
        question = _NUMBER.sub("", section.heading).strip()
        yield question, section.start, section.body, section.end
    for pattern in (_DETAILS, _Q_AND_A):
        for match in pattern.finditer(document.text):
            question = without_markup(match[1]).strip('" ')
            if question.endswith(("?", "？")) and len(question) < 200:
                yield question, match.start(), *match.span(2)
