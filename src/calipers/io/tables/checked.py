"""The columns of a table as the types they must have, or a sentence about the first bad cell."""

from collections.abc import Callable
from typing import Any

import polars as pl

from calipers.errors import InvalidInput

WANTED = {"Float64": "a finite number", "Int64": "a whole number", "String": "a text"}


def cast_columns(
    frame: pl.DataFrame,
    schema: dict[str, pl.DataType],
    where: Callable[[int], str],
    offset: int,
    decimal_comma: bool = False,
) -> pl.DataFrame:
    """The table with the types of a schema; ``where`` says where a row stands."""
    columns = []
    needed = _needed(frame.columns)
    for name in frame.columns:
        column, dtype = frame[name], schema[name]
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Boolean, pl.Object):
            raise InvalidInput(
                f"The column {name!r} holds {column.dtype} at {where(offset)}; "
                f"it must hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
            )
        if column.dtype.is_float() and dtype == pl.String():
            whole = column.cast(pl.Int64, strict=False)
            column = whole if (whole.cast(pl.Float64) == column).all() else column
        if column.dtype == pl.String and dtype.is_numeric():
            column = column.str.strip_chars().replace("", None)
            if decimal_comma:
                column = column.str.replace(",", ".", literal=True)
        cast = column.cast(dtype, strict=False)
        bad = cast.is_null() & column.is_not_null()
        if dtype == pl.Int64() and column.dtype.is_float():
            bad |= cast.cast(pl.Float64).ne_missing(column)
        if dtype == pl.Float64():
            bad |= ~cast.is_finite().fill_null(True)
        if name in needed:
            bad |= column.is_null()
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InvalidInput(
                f"The column {name!r} holds {_shown(column[row])} at {where(offset + row)}; it "
                f"must hold {WANTED[str(dtype)]} in every row."
            )
        columns.append(cast)
    made = pl.DataFrame(columns)
    identity = _identities(made.columns)
    if identity:
        nameless = made.select(pl.all_horizontal(pl.col(identity).is_null())).to_series()
        if nameless.any():
            row = int(nameless.arg_true()[0])
            raise InvalidInput(
                f"A row names nothing at {where(offset + row)}: "
                f"{', '.join(identity)} hold nothing; fill one of them."
            )
    return made


def _identities(columns: list[str]) -> list[str]:
    """The columns by one of which a row says what it is about."""
    return [name for name in ("item", "text", "quote", "document") if name in columns]


def _needed(columns: list[str]) -> set[str]:
    """The columns that must be filled in every row; ranks make scores dispensable."""
    identity = _identities(columns)
    score = set() if "rank" in columns else {"score"}
    return {"query", "rank", *score, *(identity if len(identity) == 1 else ())}


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)[:60]
