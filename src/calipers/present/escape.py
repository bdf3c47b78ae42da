"""Escape hostile text for a terminal, a page and Markdown."""

import re
import unicodedata

# What a browser would not show as a character, or what changes the text direction:
# controls, direction overrides and isolates, halves of a surrogate pair, non-characters.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef"
    "\ufffe\uffff]"
)


ASCII = str.maketrans(
    {
        "▲": "^",
        "▼": "v",
        "✓": "OK",
        "✗": "FAILED",
        "◄": "<",
        "→": "->",
        "−": "-",
        "–": "-",
        "…": "...",
        "±": "+-",
        "×": "x",
    }
)
"""ASCII for our signs, where a terminal or a code page lacks them."""


def spelled_out(error: UnicodeError) -> tuple[str, int]:
    """A codec error handler: our signs in ASCII, and a question mark for other characters.

    >>> import codecs
    >>> codecs.register_error("spelled_out", spelled_out)
    >>> "✗ 0.8 → 0.7, Äpfel".encode("ascii", "spelled_out")
    b'FAILED 0.8 -> 0.7, ?pfel'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end].translate(ASCII)
    return lost.encode("ascii", "replace").decode(), error.end


def printable(text: str, limit: int | None = None) -> str:
    """The text without control characters and changes of the text direction.

    >>> printable("a\\x1b[31mb\\u202ec")
    'a�[31mb�c'
    """
    safe = text
    if not text.isprintable():
        safe = "".join(
            character
            if character == " " or not _steers(character)
            else " "
            if character in "\t\n\r"
            else "\ufffd"
            for character in text
        )
    if limit is not None and len(safe) > limit:
        return safe[: limit - 1] + "…"
    return safe


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def clean(text: str) -> str:
    """The text with every character that could break a page replaced, one for one.

    >>> clean("a\\x00b\\u202ec")
    'a�b�c'
    """
    return _UNFIT.sub(lambda match: " " if match[0] in "\r\x0b\x0c" else "\ufffd", text)


def for_markdown(text: str) -> str:
    """Escape a text for Markdown and the HTML around it.

    >>> for_markdown("<b>|*x*[y](z)")
    '&lt;b&gt;\\\\|\\\\*x\\\\*\\\\[y\\\\](z)'
    """
    from html import escape  # Its table of entities is large and rarely needed.

    shown = escape(printable(text), quote=False)
    # On a code forge an at sign would notify people, and a bare address become a link.
    shown = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", shown)
    shown = re.sub(r"(?i)\b(www)\.", "\\1\u200b.", shown)
    return re.sub(r"(?<!\w)@", "@\u200b", shown).replace("://", ":\u200b//")


_LONGEST_TEXT = 60


def query_name(query: str, text: str | None) -> str:
    """The name of a query: its id, and its text if that differs."""
    if text is None or text == query:
        return printable(query, _LONGEST_TEXT)
    return f"{printable(query, 30)}: {printable(text, _LONGEST_TEXT)}"
