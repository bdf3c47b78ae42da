"""An evaluation ready to be written: plain values and bytes, nothing left to compute."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calipers.errors import InvalidInput

LONGEST_NAME = 100
LONGEST_VALUE = 1000
NAME_FORM = (
    "letters, digits, dots, dashes, underscores and slashes, beginning with a letter or a digit, "
    f"{LONGEST_NAME} characters at most"
)
JUDGEMENTS = "judgements"
"""The column with a digest of what should be found, for each query."""
TAG_COLUMN = "tag."
"""How the columns of the queries' tags begin."""
_BETWEEN = "._-/"


@dataclass(frozen=True)
class EvaluationRecord:
    """The rows of one evaluation."""

    id: str
    row: Mapping[str, Any]
    """The row of the evaluation itself."""
    tags: Mapping[str, str]
    summaries: Sequence[Mapping[str, Any]]
    contents: Mapping[str, tuple[str, bytes]] = field(repr=False)
    """By kind: the digest and the bytes."""


def new_id() -> str:
    """An id that no other evaluation has, in whatever store."""
    return secrets.token_hex(8)


def check_name(name: str) -> str:
    """The name of an evaluation, or a sentence about what is odd in it.

    >>> check_name("nightly"), check_name("team/größe-2.0")
    ('nightly', 'team/größe-2.0')
    >>> check_name("a~1")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: The name 'a~1' holds '~'; a name is made of letters, digits, \
dots, dashes, underscores and slashes, beginning with a letter or a digit, 100 characters at most.
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"The evaluation has no name; a name is made of {NAME_FORM}.")
    odd = next((one for one in name if not one.isalnum() and one not in _BETWEEN), None)
    if odd is not None:
        raise InvalidInput(f"The name {name!r} holds {odd!r}; a name is made of {NAME_FORM}.")
    if not name[0].isalnum():
        raise InvalidInput(
            f"The name {name!r} begins with {name[0]!r}; a name is made of {NAME_FORM}."
        )
    if len(name) > LONGEST_NAME:
        raise InvalidInput(
            f"The name {name[:40]!r}… has {len(name)} characters; a name is made of {NAME_FORM}."
        )
    return name


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags of an evaluation, each name and value checked.

    >>> check_tags({"chunk": 400})
    {'chunk': '400'}
    """
    found: dict[str, str] = {}
    for name, given in tags.items():
        value = str(given)
        if not all(one.isalnum() or one in _BETWEEN for one in name) or not name:
            raise InvalidInput(
                f"The tag {name!r} has an odd name; a tag is made of {NAME_FORM}, such as model=e5."
            )
        if len(name) > LONGEST_NAME or len(value) > LONGEST_VALUE:
            raise InvalidInput(
                f"The tag {name[:40]!r} is too long; its name may have {LONGEST_NAME} and its "
                f"value {LONGEST_VALUE} characters."
            )
        if not value or not value.isprintable():
            raise InvalidInput(
                f"The tag {name!r} has the value {value!r}; a value is printable text, such as "
                "model=e5."
            )
        found[name] = value
    return found
