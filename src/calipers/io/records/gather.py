"""Collect the results of a run as they are read, in memory up to a limit."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from calipers.io.build import ResultRows
from calipers.model.ranking import Order
from calipers.model.run import RUN_SCHEMA, notes_on_rising, rising_queries

if TYPE_CHECKING:
    from calipers.io.files.spill import Piece, ScratchFile

_VIEW = 16
"""Overhead of a text in bytes."""
_ROWS_AT_ONCE = 1 << 16
"""Rows that are written, and later read, in one piece."""
_BYTES_AT_ONCE = 4 << 20
_MANY = 1 << 20
"""More rows than these are ranked and matched in blocks, even if all are in memory."""


_ALWAYS = 1 << 20
"""Bytes that fit into any memory, so that the limit need not be determined."""


class MemoryBudget:
    """The memory budget shared by all inputs, and the temporary file for the rest."""

    def __init__(self, memory: str | int | None = None) -> None:
        self._memory = memory
        self.held = 0
        """Bytes of the results that are in memory."""

    @property
    def is_full(self) -> bool:
        """Whether the budget is exceeded."""
        return self.held > _ALWAYS and self.held > self._most

    @cached_property
    def _most(self) -> int:
        from calipers.io.files.spill import SHARE_TO_HOLD, memory_in_bytes

        return memory_in_bytes(self._memory) // SHARE_TO_HOLD

    @cached_property
    def scratch(self) -> "ScratchFile":
        """The temporary file."""
        # Imported late: most inputs fit into memory.
        from calipers.io.files.spill import ScratchFile

        return ScratchFile()


class GatheredResults:
    """The results of one ranking, added in frames of whole queries."""

    def __init__(self, room: MemoryBudget) -> None:
        self._room = room
        self._parts: list[pl.DataFrame | Piece] = []
        self._n_spilled = 0
        """How many of the first parts are in the temporary file."""
        self._held = self._rows = 0
        self._filled: set[str] = set()
        self._rising: list[pl.Series] = []

    def add(self, frame: pl.DataFrame) -> None:
        """Add the next queries; a column without values may be left out."""
        size = int(frame.estimated_size())
        size += _VIEW * frame.height * frame.schema.dtypes().count(pl.String())
        self._parts.append(frame)
        self._filled.update(frame.columns)
        self._rows += frame.height
        self._held += size
        self._room.held += size
        if self._room.is_full and self._held >= min(_BYTES_AT_ONCE, self._room.held):
            self._spill()

    def rows(self, order: Order, queries: pl.DataFrame, name: str | None) -> ResultRows:
        """All results, once they are added, as the builder takes them."""
        if self._n_spilled or self._room.is_full:
            self._spill()
        elif self._rows > _MANY:
            self._parts = list(regrouped(self._frames(), _ROWS_AT_ONCE, _BYTES_AT_ONCE))
        else:
            whole = pl.concat(map(self._shaped, self._frames()))
            return ResultRows(whole, order=order, queries=queries, name=name)
        return ResultRows(
            self._scan,
            self._columns,
            order,
            queries=queries,
            name=name,
            is_grouped=True,
            stays=True,
        )

    def notes(self) -> tuple[str, ...]:
        """A note on rising scores, where the order of the lists counts."""
        rising = [*self._rising, *map(rising_queries, self._frames())]
        return notes_on_rising(pl.concat(rising))

    def _spill(self) -> None:
        """Move what is in memory to the temporary file."""
        waiting = list(self._frames())
        del self._parts[self._n_spilled :]
        for frame in regrouped(waiting, _ROWS_AT_ONCE, _BYTES_AT_ONCE):
            self._rising.append(rising_queries(frame))
            self._parts.append(self._room.scratch.write(frame))
        self._n_spilled = len(self._parts)
        self._room.held -= self._held
        self._held = 0

    def _frames(self) -> Iterator[pl.DataFrame]:
        """The parts that are in memory."""
        return (part for part in self._parts if isinstance(part, pl.DataFrame))

    def _scan(self) -> Iterator[pl.DataFrame]:
        return (self._shaped(self._room.scratch.read(part)) for part in self._parts)

    @cached_property
    def _columns(self) -> list[str]:
        """The columns with values; at least one identifies the results."""
        names = {"query"} | self._filled
        if not names & {"item", "text"}:
            names.add("item")
        return [name for name in RUN_SCHEMA if name in names]

    def _shaped(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(
            name if name in frame.columns else pl.lit(None, RUN_SCHEMA[name]).alias(name)
            for name in self._columns
        )


def regrouped(
    frames: Iterable[pl.DataFrame], rows: int, size: int
) -> Iterator[pl.DataFrame]:
    """Regroup rows into frames of so many rows or bytes, whichever comes first."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        held = sum(int(one.estimated_size()) for one in waiting)
        if sum(one.height for one in waiting) >= rows or held >= size:
            yield pl.concat(waiting, how="diagonal")
            waiting = []
    if waiting:
        yield pl.concat(waiting, how="diagonal")
