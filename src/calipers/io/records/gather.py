"""The results of a run, gathered as they are read: in memory as far as is allowed."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from calipers.model.arrays import as_series, frame_of_columns
from calipers.model.ground_truth import page_label
from calipers.model.ranking import Order
from calipers.model.run import (
    MOST_RESULTS,
    RUN_SCHEMA,
    Run,
    natural_ties,
    notes_on_rising,
    rising_queries,
    version_text,
)

if TYPE_CHECKING:
    from calipers.io.files.spill import Piece, ScratchFile

_DETAILS = tuple(name for name in RUN_SCHEMA if name not in ("query", "rank", "item"))
"""What may be said of a result beside its id."""
_VIEW = 16
"""Bytes that a text takes beside its letters."""
_ROWS_AT_ONCE = 1 << 16
"""Rows that are written, and later read, in one piece."""
_BYTES_AT_ONCE = 4 << 20
_MANY = 1 << 20
"""More rows than these are ranked and matched in blocks, though they are all in memory."""


_LONG_TEXT = 64
"""Characters of a text, on average, from which it is worth looking for the same one before."""
_MOST_REMEMBERED = 64_000_000
"""Characters that are remembered; then all is forgotten, so that memory stays bounded."""
_MOSTLY_NEW = 0.9
"""Where more than this share of many texts are new, nobody looks any further."""
_ENOUGH_SEEN = 50_000


_ALWAYS = 1 << 20
"""Bytes that fit into any memory: who has less need not know how much is allowed."""


class Room:
    """How much may be held in memory by all that is read together, and where the rest goes."""

    def __init__(
        self, memory: str | int | None = None, temp: str | os.PathLike[str] | None = None
    ) -> None:
        self._memory = memory
        self._temp = temp
        self.held = 0
        """Bytes of the results that are in memory."""

    @property
    def is_full(self) -> bool:
        """Whether more is held than may be."""
        return self.held > _ALWAYS and self.held > self._most

    @cached_property
    def _most(self) -> int:
        from calipers.io.files.spill import SHARE_TO_HOLD, memory_in_bytes

        return memory_in_bytes(self._memory) // SHARE_TO_HOLD

    @cached_property
    def scratch(self) -> "ScratchFile":
        """The temporary file."""
        # Most of what is read fits into memory.
        from calipers.io.files.spill import ScratchFile

        return ScratchFile(self._temp)


class Results:
    """The results of one ranking, which come in frames of whole queries."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._parts: list[pl.DataFrame | Piece] = []
        self._n_away = 0
        """How many of the parts, from the first on, are in the temporary file."""
        self._held = self._rows = 0
        self._filled: set[str] = set()
        self._rising: list[pl.Series] = []
        self._texts: SharedTexts | None = None

    def add(self, frame: pl.DataFrame) -> None:
        """Take the next queries; a column that no result of theirs fills may be left out."""
        if "text" in frame.columns and not self._n_away:
            # Where one chunk comes back for many queries, its text is held once.
            if self._texts is None:
                self._texts = SharedTexts()
            before = self._texts.taken
            frame = frame.with_columns(self._texts.shared(frame["text"]))
            size = int(frame.drop("text").estimated_size()) + self._texts.taken - before
        else:
            size = int(frame.estimated_size())
        size += _VIEW * frame.height * frame.schema.dtypes().count(pl.String())
        self._parts.append(frame)
        self._filled.update(frame.columns)
        self._rows += frame.height
        self._held += size
        self._room.held += size
        if self._room.is_full and self._held >= min(_BYTES_AT_ONCE, self._room.held):
            self._put_away()

    def run(
        self,
        order: Order,
        queries: pl.DataFrame,
        name: str | None,
        stages: Mapping[str, Run] | None = None,
    ) -> Run:
        """The run that they make, once all are there."""
        if self._n_away or self._room.is_full:
            self._put_away()
        elif self._rows > _MANY:
            self._parts = list(_few_at_a_time(self._frames()))
        else:
            whole = pl.concat(map(self._shaped, self._frames()))
            return Run.from_frame(whole, order=order, queries=queries, name=name, stages=stages)
        ties = natural_ties(order, self._columns)
        return Run(
            self._scan, order, ties, queries, name, dict(stages or {}), is_grouped=True, stays=True
        )

    def notes(self) -> tuple[str, ...]:
        """What is to be said of scores that rise, where the order of the lists counts."""
        rising = [*self._rising, *map(rising_queries, self._frames())]
        return notes_on_rising(pl.concat(rising))

    def _put_away(self) -> None:
        """Bring what is in memory to the temporary file."""
        waiting = list(self._frames())
        del self._parts[self._n_away :]
        # What is written is not shared with anything.
        self._texts = None
        for frame in _few_at_a_time(waiting):
            self._rising.append(rising_queries(frame))
            self._parts.append(self._room.scratch.write(frame))
        self._n_away = len(self._parts)
        self._room.held -= self._held
        self._held = 0

    def _frames(self) -> Iterator[pl.DataFrame]:
        """The parts that are in memory."""
        return (part for part in self._parts if isinstance(part, pl.DataFrame))

    def _scan(self) -> Iterator[pl.DataFrame]:
        return (self._shaped(self._room.scratch.read(part)) for part in self._parts)

    @cached_property
    def _columns(self) -> list[str]:
        """The columns that any result fills; one of them says what it is."""
        names = {"query"} | self._filled
        if not names & {"item", "text"}:
            names.add("item")
        return [name for name in RUN_SCHEMA if name in names]

    def _shaped(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.select(
            name if name in frame.columns else pl.lit(None, RUN_SCHEMA[name]).alias(name)
            for name in self._columns
        )


class SharedTexts:
    """Columns of texts in which a text that came before is not held a second time.

    Where 15,000 questions share 5,000 chunks, it nearly halves the memory, for a third more time.

    >>> texts = SharedTexts()
    >>> column = pl.Series(["x" * 80, None, "x" * 80])
    >>> texts.shared(column).equals(column)
    True
    """

    def __init__(self) -> None:
        self._looked_at = self._new = self._size = 0
        self.taken = 0
        """Bytes of the texts that were given out, each counted where it is held."""
        self._codes: dict[str, int] = {}
        self._texts = pl.Series([], dtype=pl.String)

    def shared(self, column: pl.Series) -> pl.Series:
        """The same column; its texts stand where those of earlier columns do."""
        hopeless = self._looked_at > _ENOUGH_SEEN and self._new > _MOSTLY_NEW * self._looked_at
        if hopeless or (column.str.len_bytes().mean() or 0) < _LONG_TEXT:  # type: ignore[operator]
            self.taken += int(column.estimated_size())
            return column
        codes: list[int | None] = []
        new: list[str] = []
        known = self._codes
        for text in column.to_list():
            if text is None:
                codes.append(None)
                continue
            code = known.get(text)
            if code is None:
                code = known[text] = len(known)
                new.append(text)
            codes.append(code)
        self._looked_at += len(codes)
        self._new += len(new)
        self._size += sum(map(len, new))
        # In one piece: only then do the rows that are taken from it share its texts.
        column_of_new = pl.Series(new, dtype=pl.String)
        self.taken += int(column_of_new.estimated_size())
        self._texts = pl.concat([self._texts, column_of_new], rechunk=True)
        found = self._texts.gather(pl.Series(codes, dtype=pl.UInt32)).alias(column.name)
        if self._size > _MOST_REMEMBERED:
            self._forget()
        return found

    def _forget(self) -> None:
        self._codes = {}
        self._texts = pl.Series([], dtype=pl.String)
        self._size = 0


@dataclass(frozen=True)
class ReadyResults:
    """Results that are columns already: some rows of a table."""

    table: pl.DataFrame
    start: int
    count: int

    def __len__(self) -> int:
        return self.count


class ListedResults:
    """The results of some records, on their way to columns."""

    def __init__(self) -> None:
        self._queries: list[str] = []
        self._counts: list[int] = []
        self._parts: list[ReadyResults] = []
        self.items: list[str | None] = []
        """The ids of results that come one by one."""
        self.details: list[Any | None] = []
        """What else is known of each; None of an id that stands alone."""

    def begin(self, query: str, count: int) -> None:
        """Name the next query, of which so many results follow."""
        self._queries.append(query)
        self._counts.append(count)

    def add_ready(self, new: ReadyResults) -> None:
        """Take results that are columns."""
        self._close_lists()
        last = self._parts[-1] if self._parts else None
        if last is not None and last.table is new.table and last.start + last.count == new.start:
            self._parts[-1] = ReadyResults(new.table, last.start, last.count + new.count)
        else:
            self._parts.append(new)

    def frame(self) -> pl.DataFrame:
        """The columns that any of them fills, and their queries."""
        self._close_lists()
        asked = frame_of_columns({"query": self._queries}, RUN_SCHEMA)["query"]
        # Taken from a column of their own, the queries of all results share one text each.
        rows = np.repeat(np.arange(len(self._counts)), self._counts)
        of_row = asked.gather(as_series(rows))
        if not self._parts:
            return of_row.to_frame()
        parts = [part.table[part.start : part.start + part.count] for part in self._parts]
        results = parts[0] if len(parts) == 1 else pl.concat(parts, how="diagonal")
        filled = [one for one in results if one.null_count() < len(one)]
        return pl.DataFrame(
            [of_row, *(bare_names(one) if one.name == "item" else one for one in filled)]
        )

    def _close_lists(self) -> None:
        if not self.items:
            return
        columns: dict[str, list[Any]] = {"item": self.items}
        known = [one for one in self.details if one is not None]
        for name in _DETAILS if known else ():
            if len(known) == len(self.details):
                columns[name] = list(map(attrgetter(name), known))
            else:
                columns[name] = [getattr(one, name, None) for one in self.details]
        if "document" in columns:
            columns["document"] = [None if one is None else str(one) for one in columns["document"]]
        if "page" in columns:
            columns["page"] = [None if one is None else page_label(one) for one in columns["page"]]
        if "version" in columns:
            columns["version"] = [version_text(one) for one in columns["version"]]
        filled = {name: one for name, one in columns.items() if one.count(None) < len(one)}
        self._parts.append(ReadyResults(frame_of_columns(filled, RUN_SCHEMA), 0, len(self.items)))
        self.items, self.details = [], []


def bare_name(name: str) -> str:
    """The name without blanks at its ends; one of blanks alone stays as it is.

    >>> bare_name("Why? "), bare_name(" ")
    ('Why?', ' ')
    """
    return name.strip() or name


def bare_names(names: pl.Series) -> pl.Series:
    """The same for all of a column."""
    bare = names.str.strip_chars()
    empty = bare == ""
    return bare.zip_with(~empty, names) if empty.any() else bare


def _few_at_a_time(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows in frames that are neither very small nor very large."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        rows = sum(one.height for one in waiting)
        size = sum(int(one.estimated_size()) for one in waiting)
        if rows >= _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
            yield pl.concat(waiting, how="diagonal")
            waiting = []
    if waiting:
        yield pl.concat(waiting, how="diagonal")


_IDS = (pl.String, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
_INTEGERS = _IDS[1:]
_NUMBERS = (*_INTEGERS, pl.Float32, pl.Float64)
_PLAIN: dict[str, tuple[type[pl.DataType], ...]] = {
    "id": _IDS,
    "score": _NUMBERS,
    "text": (pl.String,),
    "document": _IDS,
    "start": _INTEGERS,
    "end": _INTEGERS,
    "page": _IDS,
    "tokens": _INTEGERS,
    "call": _INTEGERS,
    "version": _IDS,
    "rank": _NUMBERS,
}
"""The fields of a result, and what they may hold to need no decoding."""


def results_by_row(
    cells: pl.Series, passes_over: Callable[[str, Collection[str]], bool]
) -> dict[int, ReadyResults] | None:
    """The results of each row that has a list; None where they must be decoded row by row.

    ``passes_over`` says of a field that is unknown whether it may be left out without a word.
    """
    if not isinstance(cells.dtype, pl.List):
        return None
    lengths = cells.list.len()
    if (lengths.max() or 0) > MOST_RESULTS:  # type: ignore[operator]
        return None
    filled = cells.filter(lengths > 0).explode()
    table = None if filled.null_count() else _columns(filled, passes_over)
    if table is None:
        return None
    counts = lengths.fill_null(0).to_numpy().astype(np.int64)
    if not _may_be_ranks(filled, counts):
        return None
    starts = np.cumsum(counts) - counts
    return {
        row: ReadyResults(table, start, count)
        for row, (start, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True))
        if lengths[row] is not None
    }


def _columns(
    results: pl.Series, passes_over: Callable[[str, Collection[str]], bool]
) -> pl.DataFrame | None:
    """Single results as the columns of a run; None where a decoder must look at them."""
    kind = results.dtype
    if isinstance(kind, _IDS):
        return pl.DataFrame({"item": results.cast(pl.String)})
    if not isinstance(kind, pl.Struct):
        return None
    names = {one.name for one in kind.fields}
    for one in kind.fields:
        if one.name not in _PLAIN:
            plain = passes_over(one.name, names)
        else:
            plain = one.dtype == pl.Null or isinstance(one.dtype, _PLAIN[one.name])
        if not plain:
            return None
    known = [one.name for one in kind.fields if one.name in _PLAIN]
    given = results.struct.unnest().select(known).rename({"id": "item"}, strict=False)
    made = given.select(
        pl.col(name).cast(dtype)
        for name, dtype in RUN_SCHEMA.items()
        if name in given.columns and name != "rank"
    )
    return made if _is_sound(made) else None


def _is_sound(made: pl.DataFrame) -> bool:
    """Whether every result is named, and every number is one that can be."""
    named = [pl.col(one).is_not_null() for one in ("item", "text", "document") if one in made]
    wrong = [~pl.any_horizontal(named)] if named else [pl.lit(True)]
    if "score" in made:
        wrong.append(~pl.col("score").is_finite())
    if "start" in made and "end" in made:
        wrong.append(pl.col("end") < pl.col("start"))
    return not made.select(pl.any_horizontal(wrong).any()).item()


def _may_be_ranks(results: pl.Series, counts: np.ndarray) -> bool:
    """Whether the ranks, where results have any, rise along every list."""
    kind = results.dtype
    if not isinstance(kind, pl.Struct) or "rank" not in {one.name for one in kind.fields}:
        return True
    ranks = results.struct.field("rank")
    if ranks.null_count():
        return ranks.null_count() == len(ranks)
    rises = np.diff(ranks.to_numpy()) > 0
    ends = np.cumsum(counts[counts > 0])[:-1] - 1
    rises[ends] = True
    return bool(rises.all())
