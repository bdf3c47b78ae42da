"""Rows of a table as values, each made when somebody looks at it."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

import polars as pl

T = TypeVar("T")
AT_ONCE = 10_000


class TableRows(Sequence[T]):
    """A sequence that takes what its table takes, a tenth of so many objects.

    >>> TableRows(pl.DataFrame({"real": [1.0, 2.0]}), complex)[1:]
    ((2+0j),)
    """

    def __init__(self, table: pl.DataFrame, make: Callable[..., T]) -> None:
        self.table = table
        self._make = make

    def like(self, table: pl.DataFrame) -> "TableRows[T]":
        """The same kind of values from another table."""
        return TableRows(table, self._make)

    def __len__(self) -> int:
        return self.table.height

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self.like(self.table[index]))
        return self._make(**self.table.row(index, named=True))

    def __iter__(self) -> Iterator[T]:
        for part in self.table.iter_slices(AT_ONCE):
            for row in part.iter_rows(named=True):
                yield self._make(**row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]
