"""Plain values of a result: what ``--json`` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, overload

SCHEMA = 1
"""The version of what ``--json`` prints; it grows when a field goes or changes its
meaning."""


class Plain:
    """A dataclass that can be converted to plain values."""

    dict_keys: ClassVar[str] = ""
    """The fields and properties that ``to_dict`` has, in its order and with spaces
    between; ``key=name`` where it has another key for one. Empty: every field, in the
    order of the class."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {**_attributes(self, self.dict_keys.split()), **sentences_of(self)}


@overload
def plain(value: Mapping[str, object]) -> dict[str, Any]: ...
@overload
def plain(value: object) -> Any: ...
def plain(value: object) -> Any:
    """A value and its contents as JSON types: dictionaries, lists, texts and numbers.

    A result becomes what its ``to_dict`` says, and every other dataclass its fields in
    order.

    >>> plain({"saved": datetime(2026, 1, 31, 6, tzinfo=UTC), "files": ("a", Path("b"))})
    {'saved': '2026-01-31T06:00:00.000000Z', 'files': ['a', 'b']}
    """
    if isinstance(value, str):
        return str(value)  # a sentence without its facts
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Plain):
        return value.to_dict()
    if is_dataclass(value):
        return _attributes(value)
    if isinstance(value, Mapping):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, Sequence):
        return [plain(member) for member in value]
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, Path):
        return str(value)
    return value


def _attributes(value: Any, keys: Sequence[str] = ()) -> dict[str, Any]:
    named = [
        key.partition("=") for key in keys or [field.name for field in fields(value)]
    ]
    return {key: plain(getattr(value, name or key)) for key, _, name in named}


def sentences_of(result: object) -> dict[str, Any]:
    """What a result says, with the facts of each sentence; nothing of what has no document."""
    if not hasattr(type(result), "shown_by"):
        return {}
    shown: Any = result
    texts = shown.document().sentences
    facts = [[fact.to_dict() for fact in text.facts] for text in texts]
    pairs = zip(texts, facts, strict=True)
    return {"sentences": [{"text": str(text), "facts": known} for text, known in pairs]}


def moment(when: datetime) -> str:
    """A time as JSON and the store have it: UTC, to the microsecond, as sortable text.

    >>> moment(datetime(2026, 1, 31, 6, tzinfo=UTC))
    '2026-01-31T06:00:00.000000Z'
    """
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_moment(text: str) -> datetime:
    """The time that ``moment`` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
