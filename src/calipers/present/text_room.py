"""Estimate the width of a text on a chart, and cut or wrap it to fit."""

import unicodedata

from calipers.present.escape import printable

SIZE = 12
"""The font size in pixels."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[] "), frozenset("mwMW@%—…−→")


def text_width(text: str) -> float:
    """The width of a text in pixels, rather overestimated."""
    return SIZE * sum(map(_letter, text))


def _letter(one: str) -> float:
    if one in _NARROW:
        return 0.38
    if one in _WIDE or unicodedata.east_asian_width(one) in "WF":
        return 1.0
    return 0.74 if one.isupper() else 0.62


def fitted(text: str, room: float, scale: float = 1.0) -> str:
    """Cut a text to the room.

    >>> fitted("retriever", 200), fitted("retriever", 30)
    ('retriever', 'ret…')
    """
    if text_width(text) * scale <= room:
        return text
    while text and text_width(text + "…") * scale > room:
        text = text[:-1]
    return text + "…"


def wrapped(text: str, room: float, most: int = 3) -> list[str]:
    """Wrap a text into at most ``most`` lines, the last one cut."""
    lines: list[str] = []
    rest = printable(text)
    while rest and len(lines) < most - 1 and text_width(rest) > room:
        part = fitted(rest, room)[:-1]
        # At a space, if there is one in the second half.
        cut = part.rfind(" ") if part.rfind(" ") > len(part) / 2 else len(part)
        lines.append(rest[: max(cut, 1)].rstrip())
        rest = rest[max(cut, 1) :].lstrip()
    return [*lines, fitted(rest, room)]
