"""Questions that stand in the documents themselves, with their answers."""

import re
from collections.abc import Iterable, Iterator

from calipers.io.documents.sections import TextDocument, without_markup
from calipers.questions.begin.candidates import Candidate, first_words, is_question

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


def from_faq(documents: Iterable[TextDocument]) -> Iterator[Candidate]:
    """Yield headings that are questions, Q: and A:, and summaries of details."""
    for document in documents:
        if document.kind == "python":
            continue
        found = [
            (_NUMBER.sub("", one.heading).strip(), one.start, one.body, one.end)
            for one in document.sections
        ]
        for pattern in (_DETAILS, _Q_AND_A):
            for one in pattern.finditer(document.text):
                asked = without_markup(one[1]).strip('" ')
                if asked.endswith("?") and len(asked) < 200:
                    found.append((asked, one.start(), *one.span(2)))
        for asked, at, start, end in found:
            if is_question(asked):
                answer = first_words(document, start, end)
                yield Candidate(asked, "faq", document.name, document.line(at), answer)
