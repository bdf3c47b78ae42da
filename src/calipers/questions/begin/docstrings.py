"""The first sentence of a docstring as a question: the code below it is the answer."""

import ast
import re
from collections.abc import Iterator

from calipers.io.documents.sections import without_markup
from calipers.questions.begin.candidates import (
    SHORTEST_QUOTE,
    Candidate,
    content_words,
    needs_context,
    sentences,
    shortened,
)
from calipers.questions.begin.library import Library

MOST_WORDS = 20
"""Words of a sentence that somebody would still ask."""
LEAST_WORDS = 5
"""Content words of a sentence that says more than the name of the function."""
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
IS_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$"
)


_ASIDE = re.compile(
    rf"{IS_TEST.pattern}|(?:^|/)(?:docs?|examples?|images?|assets|_?static)/|(?:^|/)(?:conf|setup)\.py$"
    r"|(?:^|/)(?:_?vendor(?:ed|s)?|third[_-]?party|_ext|externals?|bundled|downstream)/"
)
"""Files that nobody searches for what a function does: tests, examples, packages of others,
what pages need."""
_OF_ITS_CLASS = re.compile(
    r"^(?:description of an? |\w[\w-]*: "
    r"|(?:internally|works|called|used|invoked|implements?|same as|like)\b)"
    r"|^an? (?:\w+ )?example\b|\bthe (?:object|class|instance|node)\b|->|^\w+\(",
    re.IGNORECASE,
)
"""A sentence that describes its class, says who calls it, or begins with a signature."""


def from_docstrings(library: Library) -> Iterator[Candidate]:
    """Yield what public functions and classes say of themselves, with their code as the target."""
    for document in library.documents:
        if document.kind != "python" or _ASIDE.search(document.name):
            continue
        lines = document.text.split("\n")
        for section in document.sections:
            node = section.node
            is_hidden = re.search(r"(?:^|\.)_", section.anchor)
            if not isinstance(node, Documented) or is_hidden:
                continue
            question = first_sentence(ast.get_docstring(node) or "")
            # A sentence with the name itself, or nothing but its words, says no more than that.
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.name).lower()
            words = content_words(question)
            is_name = node.name in question.split() or set(words) <= set(
                re.findall("[a-z]+", name)
            )
            points = (
                needs_context(question)
                or question.startswith((":", ".."))
                or _OF_ITS_CLASS.search(question) is not None
            )
            # What follows the docstring; a second one is no code.
            code_of = [part for part in node.body[1:] if not _is_text(part)]
            is_long = len(question.split()) > MOST_WORDS
            says = not (len(words) < LEAST_WORDS or is_long or is_name or points)
            is_empty = all(isinstance(part, ast.Raise | ast.Pass) for part in code_of)
            if not says or is_empty or _passes_on(node.name, code_of):
                continue
            body = lines[code_of[0].lineno - 1 : code_of[-1].end_lineno]
            code = shortened(map(str.strip, body))
            if len(code) >= SHORTEST_QUOTE:
                line = document.line(section.start)
                yield Candidate(question, "docstrings", document.name, line, (code,))


def _passes_on(name: str, code: list[ast.stmt]) -> bool:
    """Whether a function only calls another of its name, which answers the same question."""
    last = code[-1]
    others = [
        part for part in code[:-1] if not isinstance(part, ast.Import | ast.ImportFrom)
    ]
    if others or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return False
    called = last.value.func
    return name == getattr(called, "id", getattr(called, "attr", ""))


def _is_text(part: ast.stmt) -> bool:
    """Whether a statement is nothing but a text."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def first_sentence(docstring: str) -> str:
    """The first sentence of a docstring, without markup.

    >>> first_sentence("Return the ``Request`` that is\\n    being handled. See below.")
    'Return the Request that is being handled'
    """
    paragraph = re.split(r"\n\s*\n|\n\s*(?::\w[^:`]*:\s|\.\. )", docstring.strip())[0]
    text = without_markup(" ".join(paragraph.split()))
    return sentences(text)[0].rstrip(".: ") if text else ""
