"""Many results of one plain shape, as rows, in a fraction of the time of one after the other.

Most answers are lists of ids, of pairs, or of dictionaries with the same keys. Their columns are
checked as a whole; wherever anything is unusual, nothing is returned and each result is read by
itself, which also finds the words for what is wrong. Both ways give the same rows. Of 2,000 answers
with 20 dictionaries each, `retrieve` takes two and a half times as long without it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from numbers import Integral, Real
from operator import itemgetter
from typing import Any
from uuid import UUID

from calipers.io.records.documents import Row
from calipers.live.adapters.layout import FIELDS
from calipers.names import METADATA, RESULT, SCORE_IN_METADATA, WRAPPED

Column = Sequence[Any]
NOTHING = repeat(None)


def rows_at_once(listed: Sequence[Any]) -> list[Row] | None:
    """The rows of results that are all alike, or None where each needs a look of its own.

    >>> rows_at_once([("a", 0.9), ("b", 0.5)])[1]
    Row(id='b', score=0.5, text=None, ...)
    >>> rows_at_once([("a", 0.9), "b"])
    """
    kinds = set(map(type, listed))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    if kind is str:
        return list(map(Row, listed))
    if kind is tuple or kind is list:
        return _pairs(listed)
    if kind is dict:
        return _dictionaries(listed)
    ids = _ids(listed)
    return None if ids is None else list(map(Row, ids))


def are_numbers(values: Iterable[Any]) -> bool:
    """Whether every value is a number; True and False are none."""
    return all(kind is not bool and issubclass(kind, Real) for kind in set(map(type, values)))


def _pairs(listed: Sequence[Any]) -> list[Row] | None:
    if set(map(len, listed)) != {2}:
        return None
    first, second = zip(*listed, strict=True)
    ids, scores = _ids(first), _scores(second)
    return None if ids is None or scores is None else list(map(Row, ids, scores))


def _dictionaries(listed: Sequence[dict[Any, Any]]) -> list[Row] | None:
    columns: dict[str, Column] = {}
    table = _table(listed)
    if table is None:
        return None
    plan = _plan(tuple(table))
    if plan.wraps or not _take(columns, table, plan.fields):
        return None
    for place in plan.metadata:
        inner = table[place]
        inside = _table(inner) if set(map(type, inner)) == {dict} else None
        if inside is None:
            return None
        # As one after the other: what stands outside goes first.
        fields = [one for one in _plan(tuple(inside)).inside if one[0] not in columns]
        if not _take(columns, inside, fields):
            return None
    used = _fields_up_to_the_last(tuple(columns))
    return list(map(Row, *[columns.get(name, NOTHING) for name in used])) if used else None


def _table(listed: Sequence[dict[Any, Any]]) -> dict[Any, Column] | None:
    """The values of dictionaries that all have the same keys, key by key."""
    keys = tuple(listed[0])
    # As many keys as the first, and among them all of the first's: the same keys.
    if set(map(len, listed)) != {len(keys)}:
        return None
    if len(keys) < 2:
        alike = all(keys[0] in one for one in listed) if keys else True
        return {key: [one[key] for one in listed] for key in keys} if alike else None
    try:
        return dict(zip(keys, zip(*map(itemgetter(*keys), listed), strict=True), strict=True))
    except KeyError:
        return None


@lru_cache(maxsize=256)
def _fields_up_to_the_last(names: tuple[str, ...]) -> tuple[str, ...]:
    """The fields of a row to fill, in order; none where something must be worked out first."""
    without_end = "text" in names and "start" in names and "end" not in names
    if without_end or not {"id", "text"} & set(names):
        return ()
    return FIELDS[: 1 + max(map(FIELDS.index, names))]


class _Plan:
    """Where dictionaries with these keys hold what."""

    def __init__(self, keys: tuple[Any, ...]) -> None:
        known = set(keys)
        found = {
            name: next((place for place in places if place in known), None)
            for name, places in RESULT.items()
        }
        self.fields = [(name, place) for name, place in found.items() if place is not None]
        in_metadata = {**found, "score": next((p for p in SCORE_IN_METADATA if p in known), None)}
        self.inside = [(name, place) for name, place in in_metadata.items() if place is not None]
        """The same for dictionaries that are the metadata of a result."""
        self.metadata = [place for place in METADATA if place in known]
        self.wraps = any(place in known and place not in found.values() for place in WRAPPED)
        """Whether a field may hold the document itself."""


_plan = lru_cache(maxsize=256)(_Plan)


def _take(
    columns: dict[str, Column], table: dict[Any, Column], fields: Sequence[tuple[str, str]]
) -> bool:
    """Add the columns; False where one holds anything unusual."""
    for name, place in fields:
        values = CHECKED[name](table[place])
        if values is None:
            return False
        columns[name] = values
    return True


def _ids(values: Column) -> Column | None:
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    if all(kind is not bool and issubclass(kind, str | Integral | UUID) for kind in kinds):
        return list(map(str, values))
    return None


def _scores(values: Column) -> Column | None:
    if set(map(type, values)) != {float}:
        if not are_numbers(values):
            return None
        values = list(map(float, values))
    # Infinite or no number as soon as one of them is.
    return values if math.isfinite(sum(values)) else None


def _texts(values: Column) -> Column | None:
    return values if set(map(type, values)) == {str} else None


def _whole_numbers(values: Column) -> Column | None:
    return values if set(map(type, values)) == {int} else None


CHECKED: dict[str, Callable[[Column], Column | None]] = {
    "id": _ids,
    "score": _scores,
    "text": _texts,
    "document": _ids,
    "start": _whole_numbers,
    "end": _whole_numbers,
    "tokens": _whole_numbers,
    "page": _ids,
    "version": _ids,
}
