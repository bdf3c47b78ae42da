"""What small commits of code say they do, with the lines around their changes as targets.

Commits of documents are mostly about their wording, and nobody looks for that. Only commits before
the state that is searched count: those that led to what is checked out. Lines around a change stood
there before the commit; a target must still stand there today.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from calipers.io.documents.sections import TextDocument
from calipers.questions.begin.candidates import (
    LONGEST_QUOTE,
    SHORTEST_QUOTE,
    Candidate,
    content_words,
    sentences,
)
from calipers.questions.begin.docstrings import IS_TEST

MOST_COMMITS = 2_000
MOST_FILES, MOST_CHANGED = 3, 60
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
_ASIDE = re.compile(rf"{IS_TEST.pattern}|(?:^|/)(?:docs?/|setup\.py$|conf\.py$|__init__\.py$)")
"""Files that nobody searches for what a commit says."""
_START, _FIELD = "\x01", "\x02"


@dataclass
class _Commit:
    subject: str
    body: str
    files: dict[str, list[list[str]]] = field(default_factory=dict)
    """The lines around each change, by the file they stand in."""
    changed: int = 0


def from_history(documents: Iterable[TextDocument], folder: Path) -> Iterator[Candidate]:
    """Yield the subjects of small commits that changed these documents."""
    known = {
        one.name: one for one in documents if one.kind == "python" and not _ASIDE.search(one.name)
    }
    texts: dict[str, str] = {}
    for commit in _commits(folder):
        if not commit.files or len(commit.files) > MOST_FILES or commit.changed > MOST_CHANGED:
            continue
        question = asked(commit.subject, commit.body)
        if question is None or _names_file(question, commit.files):
            continue
        quotes, first = [], ""
        for name, hunks in commit.files.items():
            if (document := known.get(name)) is None:
                continue
            text = texts.setdefault(name, " ".join(document.text.split()))
            for lines in hunks:
                quote = _still_there(lines, text)
                if quote is not None and quote not in quotes:
                    quotes.append(quote)
                    first = first or name
        if quotes:
            line = _line_of(known[first].text, quotes[0])
            yield Candidate(question, "history", first, line, tuple(quotes[:MOST_FILES]))


def asked(subject: str, body: str) -> str | None:
    """What a commit says, without numbers and prefixes; None where that is nothing to look for.

    >>> asked("fix(client): Retry when the proxy closes a connection (#123)", "")
    'Retry when the proxy closes a connection'
    >>> asked("Bump version to 1.2.3", "")
    """
    plain = _NUMBER.sub("", _PREFIX.sub("", subject)).strip(" .`")
    if _DULL.search(subject) or _DULL.search(plain) or len(content_words(plain)) < LEAST_WORDS:
        return None
    first = sentences(" ".join(body.partition("\n\n")[0].split()))[0] if body.strip() else ""
    is_plain = len(first.split()) > 2 and not re.search(r"https?:|[\w-]+:|[*#@]", first)
    both = f"{plain}. {first}".rstrip(".") if is_plain and len(first.split()) <= 20 else plain
    return both.replace("`", "")


def _names_file(question: str, files: Iterable[str]) -> bool:
    """Whether a question names a file that changed: then nothing is left to search for."""
    words = set(re.findall(r"[\w.]+", question.lower()))
    stems = {name.rpartition("/")[2].partition(".")[0].lower() for name in files}
    return bool(words & stems) or any(name.rpartition("/")[2].lower() in words for name in files)


def _still_there(lines: list[str], text: str) -> str | None:
    """The lines around a change as one quote, if they stand in the text of today."""
    kept = [line for line in lines if not re.match(r"\s*(?:from|import)\s", line)]
    quote = " ".join(" ".join(kept).split())
    if len(quote) > LONGEST_QUOTE:
        quote = quote[:LONGEST_QUOTE].rpartition(" ")[0]
    return quote if len(quote) >= SHORTEST_QUOTE and quote in text else None


def _line_of(text: str, quote: str) -> int:
    """The line at which a quote begins, by its first words."""
    words = r"\s+".join(map(re.escape, quote.split()[:6]))
    found = re.search(words, text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _commits(folder: Path) -> Iterator[_Commit]:
    """The commits that led to what is checked out, newest first; none without a repository."""
    command = ["git", "-C", str(folder), "log", f"--max-count={MOST_COMMITS}", "--no-merges"]
    command += ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "-U3", "--patch"]
    command += ["--relative", f"--format={_START}%s{_FIELD}%b{_FIELD}", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return
    for part in done.stdout.decode(errors="replace").split(_START)[1:]:
        subject, _, rest = part.partition(_FIELD)
        body, _, patch = rest.partition(_FIELD)
        yield _read(_Commit(subject, body), patch)


def _read(commit: _Commit, patch: str) -> _Commit:
    """The commit with the lines around its changes."""
    name, around = "", list[str]()
    is_new = False
    for line in patch.split("\n"):
        if line.startswith("diff --git "):
            name, is_new, around = "", False, []
        elif line.startswith(("new file", "deleted file")):
            is_new = True
        elif line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
            # A file that the commit made was not there before it.
            if not is_new:
                commit.files.setdefault(name, [])
            else:
                commit.files[name], name = [], ""
        elif line.startswith("@@ ") and name:
            around = []
            commit.files[name].append(around)
        elif line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
            commit.changed += 1
            if around and name:
                # Lines before and after a change are not next to each other any more.
                around = []
                commit.files[name].append(around)
        elif line.startswith(" ") and name:
            around.append(line[1:])
    return commit
