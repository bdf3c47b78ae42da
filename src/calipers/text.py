"""Text normalisation and search, and the text of an object."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from reprlib import repr as short
from typing import Any

from calipers.errors import InvalidInput
from calipers.names import TEXT

# Characters without a width: a reader cannot see them, so a quote typed by hand never has
# them. Written as code points because the characters themselves are invisible. These
# patterns are compiled when a text first needs them, which takes some milliseconds.
INVISIBLE = (
    "["
    "\u00ad"  # soft hyphen
    "\u180e"  # Mongolian vowel separator
    "\u200b-\u200f"  # zero-width space, joiners, direction marks
    "\u202a-\u202e"  # direction embedding
    "\u2060-\u2064"  # word joiner, invisible operators
    "\u2066-\u2069"  # direction isolates
    "\ufeff"  # byte order mark
    "]+"
)

# Chinese and Japanese, which are written without spaces, with their punctuation; not
# Korean.
_CJK = (
    "\u2e80-\u2fdf\u3001-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff"
)
_MARKS = (
    "\u302a-\u302f\u3099\u309a\uff9e\uff9f"  # marks of these scripts on the letter before
)
BETWEEN_CJK = rf"(?<=[{_CJK}])\s+(?=[{_CJK}])(?![{_MARKS}])"
"""White space between two characters of a script without spaces: a line break."""

FORMS = "[\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffee]"
"""Ligatures, full-width and half-width forms, shapes of Arabic letters: one letter, drawn
in another way. Superscripts and fractions are not among them: x² is not x2."""


def plain_form(form: str) -> str:
    """The plain letters of a ligature or a full-width form.

    >>> plain_form("\ufb01"), plain_form("\uff21")
    ('fi', 'A')
    """
    return unicodedata.normalize("NFKC", form)


def normalise(text: str, *, ignore_case: bool = False) -> str:
    r"""Rewrite a text so that line breaks, spacing and invisible characters no longer matter.

    Soft hyphens and zero-width characters go, Unicode is composed (NFC), ligatures and full-width
    forms become plain letters, and every run of white space, line ends included, becomes one
    space; none is left at either end, nor between two Chinese or Japanese characters.
    Punctuation stays, and so does case unless `ignore_case` is set.

    >>> normalise("Anna\r\n  Pa\u0301vlovna") == "Anna P\u00e1vlovna"
    True
    >>> normalise("C++  and\tC#", ignore_case=True)
    'c++ and c#'
    """
    if not text.isascii():
        # Before NFC: an invisible character between a letter and its accent prevents
        # composition. NFC also puts marks in order, so that the same letter comes before
        # a line break.
        text = unicodedata.normalize("NFC", re.sub(INVISIBLE, "", text))
        # Before the forms: a full-width comma shows that the space after it is a line
        # break.
        text = re.sub(BETWEEN_CJK, "", text)
        text = re.sub(FORMS, lambda form: plain_form(form[0]), text)
        text = unicodedata.normalize("NFC", text)
    text = " ".join(text.split())
    if not ignore_case:
        return text
    if text.isascii():
        return text.lower()
    # The same in every language: a Turkish I becomes i, and the dotless ı stays what it
    # is. Folding can leave a composed letter decomposed, and is only stable on decomposed
    # text.
    folded = unicodedata.normalize("NFD", text).casefold()
    return unicodedata.normalize("NFC", folded)


def field(item: object, name: str) -> object:
    """Read a key of a mapping or an attribute of anything else; None where it is missing."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def text_of(item: object) -> str | None:
    """Return the text an object carries as `text`, `page_content` or `content`, or None.

    >>> text_of({"id": "gil", "text": "The GIL is a lock."})
    'The GIL is a lock.'
    >>> text_of("gil") is None
    True
    """
    if isinstance(item, str):
        return None
    values = (field(item, name) for name in TEXT)
    return next((value for value in values if isinstance(value, str)), None)


def texts_of(items: Sequence[object]) -> list[str] | None:
    """Return the text of every item, or None where no item carries one; a mixture is an error."""
    item_texts = [text_of(item) for item in items]
    texts = [text for text in item_texts if text is not None]
    if texts and len(texts) < len(item_texts):
        without = item_texts.index(None)
        raise InvalidInput(
            f"Some results carry a text and some do not: retrieved[{without}] is "
            f"{short(items[without])}. Pass a text for every result, or ids for all."
        )
    return texts or None


def targets_of(grades: Mapping[object, float]) -> dict[str, float]:
    r"""Normalise the texts to look for; spellings of one text count once.

    >>> targets_of({"a lock": 2.0, "a\n lock": 2.0})
    {'a lock': 2.0}
    """
    targets: dict[str, float] = {}
    for raw, grade in grades.items():
        target = normalise(raw) if isinstance(raw, str) else ""
        if not target:
            raise InvalidInput(
                f"ground_truth holds something that is not a text: found {short(raw)}. "
                "The results carry texts, so pass texts that they should contain, or "
                "pass ids on both sides."
            )
        if targets.setdefault(target, grade) != grade:
            raise InvalidInput(
                f"ground_truth grades one text twice: {short(target)} has "
                f"{targets[target]:g} and {grade:g}, apart from spacing. Keep one of "
                "them."
            )
    return targets


def held_by(texts: Iterable[str], targets: Sequence[str]) -> list[list[int]]:
    """For each text, the positions of the normalised targets it contains; empty for a copy.

    >>> held_by(["x and y", "y", "y ", "z"], ["x", "y"])
    [[0, 1], [1], [], []]
    """
    seen: set[str] = set()
    held = []
    for text in map(normalise, texts):
        positions = [at for at, target in enumerate(targets) if target in text]
        held.append([] if text in seen else positions)
        seen.add(text)
    return held


_AT_ONCE = 1 << 18
"""Characters that are encoded at a time, so that little memory is taken beside the texts."""


def are_texts(*several: list[Any]) -> bool:
    """Whether some lists contain only text that is valid Unicode.

    >>> are_texts(["a", "b"], ["c"]), are_texts(["a", 1]), are_texts(["\\ud800"])
    (True, False, False)
    """
    try:
        # Joining raises for anything but text, and is the fastest check.
        for joined in map("".join, several):
            for at in range(0, 0 if joined.isascii() else len(joined), _AT_ONCE):
                _check_unicode(joined[at : at + _AT_ONCE])
    except (TypeError, UnicodeEncodeError):
        return False
    return True


def _check_unicode(text: str) -> None:
    """Raise where UTF-8 would, in half of its time or less."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        # Where the letters beyond 16 bits are few, as in any language, this is the quickest.
        text.encode("utf-16-le")
