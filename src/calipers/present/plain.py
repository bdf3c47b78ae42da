"""Text from a corpus made safe to show on a terminal."""

import unicodedata


def printable(text: str, limit: int | None = None) -> str:
    """The text without anything that could steer a terminal or turn its reading direction.

    >>> printable("a\\x1b[31mb\\u202ec")
    'a�[31mb�c'
    """
    safe = "".join(
        one if one == " " or not _steers(one) else " " if one in "\t\n\r" else "\ufffd"
        for one in text
    )
    if limit is not None and len(safe) > limit:
        return safe[: limit - 1] + "…"
    return safe


def _steers(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
