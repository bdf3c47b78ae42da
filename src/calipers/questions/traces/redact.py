"""What is personal is masked before anything else is done with a text."""

import re
from collections.abc import Iterable

from calipers.errors import InvalidInput

KNOWN = {
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "phone": r"(?<![\w.])\+?\d[\d ()/-]{6,}\d(?![\w])",
    "iban": r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b",
    "ip": r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
    "url": r"https?://\S+",
}
"""Patterns that can be named; rough on purpose: a mask too many costs less than one too few."""


class Mask:
    """Replaces what patterns find, and counts how often it did.

    >>> mask = Mask(["email", "K-[0-9]+"])
    >>> mask("Ann <ann@example.org> asks for K-117")
    'Ann <[email]> asks for [masked]'
    >>> mask.count
    2
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [_pattern(one) for one in patterns]
        self.count = 0

    def __call__(self, text: str) -> str:
        """The text with everything masked that the patterns find."""
        for pattern, word in self._patterns:
            text, found = pattern.subn(word, text)
            self.count += found
        return text


def _pattern(text: str) -> tuple[re.Pattern[str], str]:
    if text in KNOWN:
        return re.compile(KNOWN[text]), f"[{text}]"
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise InvalidInput(
            f"The pattern {text!r} to mask cannot be read: {error}; write a regular expression, or "
            f"one of {', '.join(KNOWN)}."
        ) from None
    if pattern.match(""):
        raise InvalidInput(
            f"The pattern {text!r} to mask is found everywhere, also in nothing; write one that "
            "needs at least one character."
        )
    return pattern, "[masked]"
