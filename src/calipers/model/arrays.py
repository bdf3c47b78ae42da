"""Shared numpy types, and the conversion of rows to columns."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getattr_static
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from calipers.errors import InvalidInput

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.unsignedinteger]
Bools: TypeAlias = NDArray[np.bool_]
Hashes: TypeAlias = NDArray[np.uint64]


def table_of_ours(value: object, what: str) -> None:
    """Refuse anything but a polars table; operations convert tables of other libraries."""
    if not isinstance(value, pl.DataFrame):
        raise InvalidInput(
            f"{what} are a {type(value).__name__}; give a polars table, such as "
            "pl.from_pandas(frame), or hand this to calipers.evaluate."
        )


def frozen_array(values: Floats) -> Floats:
    """The same values, read-only, so that no result can be changed after the fact."""
    view = values.view()
    view.flags.writeable = False
    return view


def order_by(first: Ints, second: Ints, third: Ints) -> Ints:
    """The order by three columns of numbers, none of them below 0.

    >>> order_by(np.array([1, 0, 0]), np.array([1, 2, 2]), np.array([0, 7, 3])).tolist()
    [2, 1, 0]
    """
    columns = (first, second, third)
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) > np.iinfo(np.int64).max:
        return np.lexsort(columns[::-1])
    # One sort in place of three.
    key = (first * sizes[1] + second) * sizes[2] + third
    return np.argsort(key, kind="stable")


_FEW = 1_000
_KINDS = {"int64": pl.Int64, "float64": pl.Float64, "bool": pl.Boolean}


def as_series(values: Ints | Floats | Bools) -> pl.Series:
    """The values as a polars Series.

    Short arrays go as lists: given an array, polars loads numpy.ma, which takes longer
    than everything else that is done for a small file.

    >>> as_series(np.array([2, 0])).to_list()
    [2, 0]
    """
    content = values.tolist() if values.size <= _FEW else values
    return pl.Series(content, dtype=_KINDS[values.dtype.name])


_FLOAT = 0xCB
"""The MessagePack type byte of a float; a small whole number is one byte below 128."""
_CELL = np.dtype([("kind", "u1"), ("value", ">f8")])


def plain_floats(numbers: Sequence[object]) -> Floats | None:
    """The numbers as an array if all are floats or all are small whole numbers; else None.

    Encoding and decoding them takes a fifth of the time of np.array.

    >>> plain_floats([0.5, 2.0]), plain_floats([1, 0]), plain_floats([True]), plain_floats(["1"])
    (array([0.5, 2. ]), array([1., 0.]), None, None)
    """
    try:
        packed = msgspec.msgpack.encode(numbers)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    # The length comes first, in 1, 3 or 5 bytes.
    start = 1 if len(numbers) < 1 << 4 else 3 if len(numbers) < 1 << 16 else 5
    if len(packed) == start + len(numbers) * _CELL.itemsize:
        cells = np.frombuffer(packed, _CELL, offset=start)
        return (
            cells["value"].astype(np.float64) if (cells["kind"] == _FLOAT).all() else None
        )
    if len(packed) == start + len(numbers):
        small = np.frombuffer(packed, np.uint8, offset=start)
        return small.astype(np.float64) if (small < 128).all() else None
    return None


LARGEST = (1 << 63) - 1


def too_large(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """The error message about the first whole number beyond 64 bits.

    >>> too_large(("start", "end"), [(0, 1 << 70)])
    'A number is too large: found the end 1180591620717411303424; a place in a text and a count \
are at most 9223372036854775807.'
    """
    beyond = (
        (name, value)
        for row in rows
        for name, value in zip(names, row, strict=True)
        if isinstance(value, int) and abs(value) > LARGEST
    )
    name, value = next(beyond, ("", None))
    if not name:
        return (
            f"A result has a value of the wrong type among {', '.join(names)}; texts are "
            "texts."
        )
    return (
        f"A number is too large: found the {name} {value!r:.40}; a place in a text and a "
        f"count are at most {LARGEST}."
    )


def frame_of_columns(
    columns: Mapping[str, Sequence[object]], schema: Mapping[str, pl.DataType]
) -> pl.DataFrame:
    """Values from outside as columns of these types."""
    try:
        return pl.DataFrame(columns, schema={name: schema[name] for name in columns})
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"A text holds an unpaired surrogate, which is no character: found "
            f"{error.object[:60]!r}; texts must be valid Unicode."
        ) from None
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        rows = zip(*columns.values(), strict=True)
        raise InvalidInput(too_large(tuple(columns), rows)) from None


@dataclass(eq=False)
class Rows:
    """Collects values row by row and turns them into columns."""

    names: tuple[str, ...]
    rows: list[tuple[object, ...]] = field(default_factory=list)

    def add(self, **row: object) -> None:
        """Add one row; values that are not given are missing."""
        self.rows.append(tuple(map(row.get, self.names)))

    def frame(self, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """All rows as columns of these types."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.names)
        return frame_of_columns(dict(zip(self.names, columns, strict=True)), schema)


T = TypeVar("T")

_NO_DEFAULT: Any = object()


class WhenAsked(Generic[T]):
    """A dataclass field that may be given as a function, called on first access.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Answer:
    ...     value: WhenAsked[int] = WhenAsked(0)
    >>> Answer(), Answer(lambda: 6 * 7)
    (Answer(value=0), Answer(value=42))
    """

    def __init__(self, default: T | Callable[[], T] = _NO_DEFAULT) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type | None = None) -> T:
        if instance is None:
            # Here a dataclass asks for the default.
            if self._default is _NO_DEFAULT:
                raise AttributeError(self._name)
            return self._default  # type: ignore[return-value]
        value: T | Callable[[], T] = vars(instance)[self._name]
        if callable(value):
            value = vars(instance)[self._name] = value()
        return value

    # Any: otherwise a type checker would expect to get back what was set.
    def __set__(self, instance: object, value: Any) -> None:
        vars(instance)[self._name] = value


class Picklable:
    """A dataclass whose ``WhenAsked`` fields are computed before it is pickled or copied."""

    def __getstate__(self) -> dict[str, object]:
        """The values of all fields: the functions that make them cannot be pickled."""
        kind = type(self)
        return {
            name: getattr(self, name)
            if isinstance(getattr_static(kind, name, None), WhenAsked)
            else value
            for name, value in dict(vars(self)).items()
        }
