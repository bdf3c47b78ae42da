"""One result of any shape as a row with id, score, text, document and span."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any
from uuid import UUID

import msgspec

from calipers.retrievers.layout import Layout
from calipers.retrievers.paths import NoMatch

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id", "chunk_id", "node_id", "id_", "point_id", "uuid", "key"),
    "score": (
        "score", "_score", "similarity", "relevance_score", "_relevance_score", "relevance",
        "distance", "_distance",
    ),
    "text": ("text", "page_content", "content", "chunk", "passage", "body", "snippet"),
    "document": (
        "document", "document_id", "doc_id", "ref_doc_id", "source_id", "source", "file_path",
        "file_name", "url",
    ),
    "start": ("start", "start_index", "start_char_idx", "split_idx_start", "start_char"),
    "end": ("end", "end_char_idx", "end_index", "end_char"),
    "tokens": ("tokens", "n_tokens", "token_count"),
}  # fmt: skip
"""Where the usual libraries keep what; the first that is there counts."""
METADATA = ("metadata", "meta", "payload", "_source", "entity", "properties", "fields")
WRAPPED = ("node", "document", "doc", "chunk", "item")
"""Fields that may hold the document itself, beside its score."""
SCALARS = (str, bytes, Real, type(None), list, tuple)

Get = Callable[[str], Any]
Names = tuple[tuple[str, tuple[str, ...]], ...]
Places = tuple[Names, tuple[str, ...], tuple[str, ...]]
EVERYWHERE: Places = (tuple(NAMES.items()), WRAPPED, METADATA)


class BadResult(Exception):
    """A result that cannot be used; the message goes on from "result 3 ..."."""


class Row(msgspec.Struct, omit_defaults=True, gc=False):
    """One result as it is written; plain values alone, so the garbage collector may pass it by."""

    id: str | None = None
    score: float | None = None
    text: str | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None
    tokens: int | None = None


def row_of(one: Any, layout: Layout) -> Row:
    """A result as a row.

    >>> row_of({"id": 7, "score": 0.5, "metadata": {"source": "a.txt"}}, Layout())
    Row(id='7', score=0.5, text=None, document='a.txt', start=None, end=None, tokens=None)
    """
    if layout.named and not isinstance(one, str | Integral):
        return _from_paths(one, layout)
    if _is_id(one):
        return Row(str(one))
    if isinstance(one, list | tuple):
        return _from_pair(one)
    if isinstance(one, SCALARS):
        raise BadResult("is neither an id nor an object")
    return _whole(_from_object(one))


def _from_paths(one: Any, layout: Layout) -> Row:
    row = Row() if isinstance(one, SCALARS) else _from_object(one)
    for name, path in layout.named:
        try:
            value = path.one(one)
        except NoMatch as error:
            if name == "id":
                raise BadResult(f"has no id at {path}: {error}") from None
            value = None
        except IndexError:
            value = None
        setattr(row, name, _checked(name, value))
    return _whole(row)


def _from_pair(one: Sequence[Any]) -> Row:
    if len(one) not in (2, 3):
        raise BadResult(f"is a list of {len(one)}, not an (id, score) pair{_if_a_batch(one)}")
    first, second = one[0], one[1]
    score_first = not _is_number(second) or (
        isinstance(first, float) and isinstance(second, Integral)
    )
    if _is_number(first) and score_first:
        first, second = second, first
    if not _is_number(second):
        raise BadResult(f"is a pair without a score that is a number{_if_a_batch(one)}")
    row = Row(str(first)) if _is_id(first) else _from_object(first)
    row.score = _checked("score", second)
    if len(one) == 3 and isinstance(one[2], str):
        row.text = one[2]
    return _whole(row)


def _if_a_batch(one: Sequence[Any]) -> str:
    """What to do where the result is itself a list of results."""
    if one and isinstance(one[0], list | tuple | Mapping):
        return " (a function that takes many questions at once needs --batch N, or batch=N)"
    return ""


def _from_object(one: Any) -> Row:
    if isinstance(one, SCALARS):
        raise BadResult("has no id and no text")
    get = _getter(one)
    row = Row()
    names, wrapped, metadata = _places(tuple(one)) if type(one) is dict else EVERYWHERE
    for name, places in names:
        _take(row, name, get, places)
    for place in wrapped:
        inner = get(place)
        if inner is not None and not isinstance(inner, SCALARS):
            _fill(row, _from_object(inner))
    for place in metadata:
        inner = get(place)
        if isinstance(inner, Mapping):
            _fill(row, _from_mapping_alone(inner))
    return row


def _from_mapping_alone(metadata: Mapping[str, Any]) -> Row:
    row = Row()
    names, _, _ = _places(tuple(metadata)) if type(metadata) is dict else EVERYWHERE
    for name, places in names:
        if name != "score":
            _take(row, name, metadata.get, places, strict=False)
    return row


@lru_cache(maxsize=256)
def _places(keys: tuple[Any, ...]) -> Places:
    """The places where a dictionary with these keys has anything; the rest need no look."""
    known = set(keys)
    names = ((name, tuple(p for p in places if p in known)) for name, places in NAMES.items())
    return (
        tuple((name, places) for name, places in names if places),
        tuple(place for place in WRAPPED if place in known),
        tuple(place for place in METADATA if place in known),
    )


def _take(row: Row, name: str, get: Get, places: Sequence[str], *, strict: bool = True) -> None:
    """The first place that holds a usable value; metadata may use the same words otherwise."""
    for place in places:
        value = get(place)
        if value is None or not isinstance(value, str | UUID | Real):
            continue
        try:
            setattr(row, name, _checked(name, value))
        except BadResult:
            if strict and name in ("id", "score"):
                raise
            continue
        return


def _fill(row: Row, other: Row) -> None:
    for name in NAMES:
        if getattr(row, name) is None:
            setattr(row, name, getattr(other, name))


def _whole(row: Row) -> Row:
    """The row with what follows from the rest; refused where nothing could recognise it."""
    if row.start is not None and row.end is None and row.text is not None:
        row.end = row.start + len(row.text)
    if row.id is None and row.text is None:
        if row.document is None:
            raise BadResult("has neither an id nor a text")
        if row.start is None:
            row.id = row.document
    return row


def _getter(one: Any) -> Get:
    if isinstance(one, Mapping):
        return one.get

    def attribute(name: str) -> Any:
        try:
            value = getattr(one, name, None)
        except (ValueError, NotImplementedError, KeyError):
            # Some documents refuse to give a text they do not have.
            return None
        return None if callable(value) else value

    return attribute


def _checked(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in ("id", "document"):
        if not _is_id(value):
            raise BadResult(f"has the {name} {value!r}; it must be a text or a whole number")
        return str(value)
    if name == "text":
        if not isinstance(value, str):
            raise BadResult(f"has the text {value!r:.60}; it must be a text")
        return value
    if name == "score":
        if not _is_number(value):
            raise BadResult(f"has the score {value!r:.60}; it must be a number")
        number = float(value)
        if not math.isfinite(number):
            raise BadResult(f"has the score {number}; it must be a finite number")
        return number
    if isinstance(value, bool) or not (
        isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    ):
        raise BadResult(f"has {name} {value!r:.60}; it must be a whole number")
    return int(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | Integral | UUID) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
