"""Cells that a spreadsheet would run as a formula, made harmless, and back again.

Such a cell gets an apostrophe in front. So does one that already has apostrophes in front of a
formula; that is why what is read back is what was written, to the last character.
"""

import re

import polars as pl

ARMED = r"^'*[=+\-@＝＋－＠\t\r\n]"
"""What a spreadsheet may run, with any apostrophes that already disarm it."""
_ARMED = re.compile(ARMED)


def guard(text: str) -> str:
    """The text as a cell that no spreadsheet runs.

    >>> guard("=1+1"), guard("'=1"), guard("a")
    ("'=1+1", "''=1", 'a')
    """
    return f"'{text}" if _ARMED.match(text) else text


def unguard(cell: str) -> str:
    """The text that :func:`guard` made the cell of.

    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _ARMED.match(cell) else cell


def is_armed(texts: pl.Expr) -> pl.Expr:
    """Whether each text would get an apostrophe."""
    return texts.str.contains(ARMED)


def guarded(texts: pl.Expr) -> pl.Expr:
    """:func:`guard` for columns."""
    return pl.when(is_armed(texts)).then(pl.lit("'") + texts).otherwise(texts).name.keep()


def unguarded(cells: pl.Expr) -> pl.Expr:
    """:func:`unguard` for columns."""
    # Far quicker than to replace what a pattern finds, as hardly any cell has a guard.
    has_guard = cells.str.starts_with("'") & is_armed(cells)
    return pl.when(has_guard).then(cells.str.slice(1)).otherwise(cells).name.keep()


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with all its texts guarded, and the names of its columns."""
    safe = frame.with_columns(guarded(pl.col(pl.String)))
    return safe.rename({name: guard(name) for name in frame.columns})
