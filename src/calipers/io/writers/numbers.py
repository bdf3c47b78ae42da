"""Numbers as people write them."""

import polars as pl


def plain_number(value: float) -> int | float:
    """A whole number without its ``.0``.

    >>> plain_number(3.0), plain_number(0.5)
    (3, 0.5)
    """
    return int(value) if value.is_integer() else value


def number_text(column: str) -> pl.Expr:
    """The digits of each number, whole ones without a point, all of them exact."""
    value = pl.col(column)
    # Beyond 2^53 a whole float no longer names one whole number.
    whole = (value == value.round()) & (value.abs() < 2**53)
    return (
        pl.when(whole).then(value.cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(value.cast(pl.String))
    )  # fmt: skip
