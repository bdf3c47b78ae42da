"""What small commits of code say they do, with the lines around their changes as targets.

Commits of documents are mostly about their wording, and nobody looks for that. Only
commits before the state that is searched count: those that led to what is checked out.
Lines around a change stood there before the commit; a target must still stand there
today.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from calipers.questions.begin.candidates import (
    SHORTEST_QUOTE,
    Candidate,
    content_words,
    sentences,
    shortened,
)
from calipers.questions.begin.docstrings import IS_TEST
from calipers.questions.begin.library import Library

MOST_COMMITS = 2_000
MOST_FILES = 3
MOST_CHANGED = 60
"""A commit that changes more files or lines is a bulk change."""
LEAST_WORDS = 4
SECONDS = 60
_PREFIX = re.compile(
    r"^(?:\[[^\]]*\]\s*|[A-Z]+-\d+:?\s*|#\d+:?\s*|"
    r"(?:feat|fix|docs?|refactor|perf|chore|test|style|build|ci)(?:\([^)]*\))?!?:\s*)+",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*\(?(?:#|GH-|[A-Z]{2,}-)\d+\)?")
_DULL = re.compile(
    r"^(?:merge|revert|bump|release|prepare|version|wip|fixup|squash|initial|typo|lint|format|"
    r"update (?:changelog|deps|dependencies|version|readme|docs?|pre-commit)|upgrade|reformat|"
    r"(?:fix|correct) (?:a )?(?:typo|lint|spelling|tests?|ci|build|docs?)|clean ?up|rename|move|"
    r"address review|apply suggestions|remove|drop|delete|add tests?|docs?:|ci:|use|simplify|"
    r"refactor|tweak|minor|small|misc|improve (?:doc|comment|test|coverage)|tidy|replace|switch)\b"
    r"|^:\w+:|\bdocstrings?\b|\bcomments?\b|\bimports?\b|\bcoverage\b|\bannotations?\b"
    r"|\btype (?:hints?|checks?|ignores?)\b|\btyping\b|\bunused\b|\bblack\b|\bpython ?2\b"
    r"|\bpre-commit\b|\bchangelog\b|\btypos?\b|\bv?\d+\.\d+(?:\.\d+)?\b|\bmypy\b|\bflake8\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    rf"{IS_TEST.pattern}|(?:^|/)(?:docs?/|setup\.py$|conf\.py$|__init__\.py$)"
)
"""Files that nobody searches for what a commit says."""
_START = "\x01"
_FIELD = "\x02"


def from_history(library: Library, folder: Path) -> Iterator[Candidate]:
    """Yield the subjects of small commits that changed these documents."""
    known = {
        document.name: document
        for document in library.documents
        if document.kind == "python" and not _ASIDE.search(document.name)
    }
    for subject, body, patch in _commits(folder):
        files = _changed(patch)
        question = asked(subject, body) if files else None
        if question is None or _names_file(question, files):
            continue
        quotes = {
            quote: known[name]
            for name, around in files.items()
            if name in known
            for lines in around
            if (quote := _still_there(lines, known[name].text)) is not None
        }
        for first, document in list(quotes.items())[:1]:
            line = document.line(_place(first, document.text) or 0)
            kept = tuple(quotes)[:MOST_FILES]
            yield Candidate(question, "history", document.name, line, kept)


def asked(subject: str, body: str) -> str | None:
    """What a commit says, without numbers and prefixes; None where that is nothing to look for.

    >>> asked("fix(client): Retry when the proxy closes a connection (#123)", "")
    'Retry when the proxy closes a connection'
    >>> asked("Bump version to 1.2.3", "")
    """
    plain = _NUMBER.sub("", _PREFIX.sub("", subject)).strip(" .`")
    if (
        _DULL.search(subject)
        or _DULL.search(plain)
        or len(content_words(plain)) < LEAST_WORDS
    ):
        return None
    first = (
        sentences(" ".join(body.partition("\n\n")[0].split()))[0] if body.strip() else ""
    )
    is_plain = len(first.split()) > 2 and not re.search(r"https?:|[\w-]+:|[*#@]", first)
    both = (
        f"{plain}. {first}".rstrip(".")
        if is_plain and len(first.split()) <= 20
        else plain
    )
    return both.replace("`", "")


def _names_file(question: str, files: Iterable[str]) -> bool:
    """Whether a question names a file that changed: then nothing is left to search for."""
    names = [name.rpartition("/")[2].lower() for name in files]
    return not {*names, *(name.partition(".")[0] for name in names)}.isdisjoint(
        re.findall(r"[\w.]+", question.lower())
    )


def _still_there(lines: list[str], text: str) -> str | None:
    """The lines around a change as one quote, if they stand in the text of today."""
    kept = [line.strip() for line in lines if not re.match(r"\s*(?:from|import)\s", line)]
    quote = shortened([" ".join(" ".join(kept).split())])
    is_there = len(quote) >= SHORTEST_QUOTE and _place(quote, text) is not None
    return quote if is_there else None


def _place(quote: str, text: str) -> int | None:
    """Where a quote begins in a text, whatever white space is between its words."""
    match = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    return None if match is None else match.start()


def _commits(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield subject, body and patch of what led to the state that is checked out, newest first."""
    command = [
        "git",
        "-C",
        str(folder),
        "log",
        f"--max-count={MOST_COMMITS}",
        "--no-merges",
    ]
    command += [
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "-U3",
        "--patch",
    ]
    command += ["--relative", f"--format={_START}%s{_FIELD}%b{_FIELD}", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return
    for part in done.stdout.decode(errors="replace").split(_START)[1:]:
        subject, body, patch = (part + 2 * _FIELD).split(_FIELD, 2)
        yield subject, body, patch


def _changed(patch: str) -> dict[str, list[list[str]]]:
    """The lines around each change, by file; nothing for a commit that is none or a bulk change."""
    files: dict[str, list[list[str]]] = {}
    changed = 0
    for part in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
        name = re.search(r"^\+\+\+ b/(.+)$", part, re.MULTILINE)
        if name is None:
            continue
        around = files.setdefault(name[1], [])
        for hunk in re.split(r"^@@ .*$", part, flags=re.MULTILINE)[1:]:
            lines = hunk.split("\n")[1:]
            changed += sum(line[:1] in ("+", "-") for line in lines)
            # Lines before and after a change are not next to each other any more.
            groups = groupby(lines, key=lambda line: line.startswith(" "))
            around += [[line[1:] for line in some] for is_kept, some in groups if is_kept]
        if re.search(r"^new file", part, re.MULTILINE):
            around.clear()  # it was not there before the commit
    return files if len(files) <= MOST_FILES and changed <= MOST_CHANGED else {}
