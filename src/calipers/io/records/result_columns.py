"""Lists of plain results in the cells of a table, such as a Parquet file has them.

They are columns already, and are taken as such, many rows at once, two to three times as quick as
one row after the other. Whatever is not plain there, or wrong, is left to the decoder of rows,
which says what is wrong with it.
"""

from collections.abc import Callable

import numpy as np
import polars as pl

from calipers.io.records.gather import ReadyResults
from calipers.model.run import MOST_RESULTS, RUN_SCHEMA

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
    cells: pl.Series, passes_over: Callable[[str], bool]
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


def _columns(results: pl.Series, passes_over: Callable[[str], bool]) -> pl.DataFrame | None:
    """Single results as the columns of a run; None where a decoder must look at them."""
    kind = results.dtype
    if isinstance(kind, _IDS):
        return pl.DataFrame({"item": results.cast(pl.String)})
    if not isinstance(kind, pl.Struct):
        return None
    for one in kind.fields:
        if one.name not in _PLAIN:
            plain = passes_over(one.name)
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
