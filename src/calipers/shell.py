"""Split and quote commands by the rules of the system's shell."""

import os
import shlex
from collections.abc import Sequence

WINDOWS = os.name == "nt"


def split_line(line: str, *, windows: bool = WINDOWS) -> list[str]:
    r"""Split a line into words; on Windows a backslash is part of a path, elsewhere it escapes.

    >>> split_line(r"python 'C:\my tools\search.py'", windows=True)
    ['python', 'C:\\my tools\\search.py']
    >>> split_line(r"python my\ tools/search.py", windows=False)
    ['python', 'my tools/search.py']
    """
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if windows:
        lexer.escape = ""
    return list(lexer)


def join_words(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    r"""Quote and join words into a line that can be pasted.

    >>> join_words(["calipers", "eval", "my data.json"], windows=False)
    "calipers eval 'my data.json'"
    >>> join_words(["calipers", "eval", "my data.json"], windows=True)
    'calipers eval "my data.json"'
    """
    if windows:
        from subprocess import list2cmdline

        return list2cmdline(words)
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """A word for a shell; one that ends like a sentence is quoted, as one may go on behind it.

    >>> _quoted("score=No."), _quoted("..")
    ("'score=No.'", '..')
    """
    quoted = shlex.quote(word)
    ends = quoted == word and word[-1:] in (".", ",") and word.strip("./")
    return f"'{word}'" if ends else quoted
