"""Excerpts of texts for a page: clean, short, with the matched quote marked."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Any

from calipers.match.locate import MappedText, positions
from calipers.present.escape import clean
from calipers.text import normalise

LONGEST = 700
"""Characters of a text that the page keeps, around the match."""
SEARCHED = 50_000
"""A quote that was matched in pieces is marked in texts up to this long."""
SMALLEST = 12
"""Fewer matching characters than this may be chance, and are not marked."""
MARKS = 100
"""The most occurrences of a quote to mark in one text."""

_CODE = re.compile(
    r"^(\s{4,}|\t)\S|[{};]\s*$|^\s*(def|class|import|function|const|let|var|SELECT|#include"
    r"|</?\w+>?)\b|^\s*(```|\||\+-)"
)
_TABLE = re.compile(r"\S(\t|\s{3,}|\s*\|\s*)\S.*\S(\t|\s{3,}|\s*\|\s*)\S|\|.*\|")

Place = tuple[int, int]


def excerpt(text: str, marked: Sequence[Place], longest: int = LONGEST) -> dict[str, Any]:
    """The part of a text to show: a list of pieces, every second one marked.

    ``before`` and ``after`` count the characters left out; code and tables are ``mono``.

    >>> excerpt("The GIL is a lock.", [(8, 17)])
    {'parts': ['The GIL ', 'is a lock', '.'], 'before': 0, 'after': 0}
    """
    start, end = 0, len(text)
    if len(text) > longest:
        first = marked[0][0] if marked else 0
        last = min(marked[0][1], first + longest) if marked else 0
        start = max(0, min(first - (longest - (last - first)) // 2, len(text) - longest))
        end = min(len(text), start + longest)
    parts: list[str] = []
    at = start
    for begin, stop in merged(marked):
        begin, stop = max(begin, at), min(stop, end)
        if begin < stop:
            parts += [clean(text[at:begin]), clean(text[begin:stop])]
            at = stop
    parts.append(clean(text[at:end]))
    shown = {"parts": parts, "before": start, "after": len(text) - end}
    return {**shown, "mono": True} if keeps_columns(text[start:end]) else shown


def keeps_columns(text: str) -> bool:
    """Whether lines must keep their columns, as in code and tables; text.js has the same rule.

    >>> keeps_columns("if x:\\n    return 1\\n    # done"), keeps_columns("Two lines\\nof prose.")
    (True, False)
    """
    # Limit what the pattern searches: a line may be a megabyte long.
    lines = [line[:200] for line in text[:20_000].split("\n") if line.strip()]
    plain = sum(1 for line in lines if _CODE.search(line) or _TABLE.search(line))
    return plain >= max(2, len(lines) / 3)


def merged(places: Sequence[Place]) -> list[Place]:
    """Sort places and merge overlapping ones.

    >>> merged([(5, 9), (1, 3), (2, 4)])
    [(1, 4), (5, 9)]
    """
    found: list[Place] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


@lru_cache(maxsize=4096)
def places_of(quote: str, text: str) -> tuple[Place, ...]:
    """Find a quote in a text: whole, or else its longest piece.

    >>> places_of("is a lock", "The GIL is\\n a lock."), places_of("zebra", "The GIL is")
    (((8, 18),), ())
    """
    wanted = normalise(quote)
    if not wanted:
        return ()
    there = wanted in normalise(text)
    if not there and len(text) > SEARCHED:
        return ()
    mapped = MappedText.of(text)
    if there:
        found = islice(positions(mapped.text, wanted), MARKS)
        return tuple(mapped.span(at, at + len(wanted)) for at in found)
    folded = (wanted.lower(), mapped.text.lower())
    if len(folded[0]) != len(wanted) or len(folded[1]) != len(mapped.text):
        folded = (wanted, mapped.text)
    piece = SequenceMatcher(None, *folded, autojunk=False).find_longest_match()
    if piece.size < min(SMALLEST, len(wanted)):
        return ()
    return (mapped.span(piece.b, piece.b + piece.size),)
