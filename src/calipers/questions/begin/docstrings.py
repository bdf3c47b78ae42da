"""The first sentence of a docstring as a question: the code below it is the answer."""

import ast
import re
from collections.abc import Iterable, Iterator

from calipers.io.documents.sections import TextDocument, without_markup
from calipers.questions.begin.candidates import (
    LONGEST_QUOTE,
    SHORTEST_QUOTE,
    Candidate,
    content_words,
    sentences,
)

LEAST_WORDS = 4
"""Content words of a sentence that says more than the name of the function."""
IS_TEST = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


def from_docstrings(documents: Iterable[TextDocument]) -> Iterator[Candidate]:
    """Yield what public functions and classes say of themselves, with their code as the target."""
    for document in documents:
        if document.kind != "python" or IS_TEST.search(document.name):
            continue
        for section in document.sections:
            node = section.node
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            said = ast.get_docstring(node)
            if not said or any(part.startswith("_") for part in section.anchor.split(".")):
                continue
            question = first_sentence(said)
            quote = _code(document, node)
            if quote is None or len(content_words(question)) < LEAST_WORDS:
                continue
            if _spells_name(question, node.name):
                continue
            line = document.line(section.start)
            yield Candidate(question, "docstrings", document.name, line, (quote,))


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, without markup.

    >>> first_sentence("Return the ``Request`` that is\\n    being handled. See below.")
    'Return the Request that is being handled'
    """
    paragraph = re.split(r"\n\s*\n|\n\s*(?::|\.\. )", docstring.strip())[0]
    text = without_markup(" ".join(paragraph.split()))
    return sentences(text)[0].rstrip(".: ") if text else ""


def _spells_name(question: str, name: str) -> bool:
    """Whether a sentence holds the name itself, or nothing but its words."""
    parts = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    return name in question.split() or set(content_words(question)) <= parts


def _code(
    document: TextDocument, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> str | None:
    """The first lines of code below a docstring; None where there are hardly any."""
    body = node.body[1:]
    if not body:
        return None
    lines = document.text.split("\n")[body[0].lineno - 1 : body[-1].end_lineno]
    kept = ""
    for line in lines:
        joined = f"{kept} {line.strip()}".strip()
        if len(joined) > LONGEST_QUOTE:
            break
        kept = joined
    return kept if len(kept) >= SHORTEST_QUOTE else None
