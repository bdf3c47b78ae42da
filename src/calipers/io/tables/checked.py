"""What the columns of a table must hold: numbers and texts, one rank for each result, one tag."""

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.records.gather import bare_names

WANTED = {"Float64": "a finite number", "Int64": "a whole number", "String": "a text"}


def cast_columns(
    frame: pl.DataFrame,
    schema: dict[str, pl.DataType],
    where: Callable[[int], str],
    offset: int,
    decimal_comma: bool = False,
    called: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The table with the types of a schema; ``where`` says where a row stands.

    ``called`` are the names that the columns have in the file.
    """
    theirs = called or {}
    columns = []
    needed = _needed(frame.columns)
    for name in frame.columns:
        column, dtype = frame[name], schema[name]
        if name == "version" and not _is_plain(column.dtype):
            # A column of that name may hold something else: then nothing is known of versions.
            column = pl.Series(name, [None], dtype).new_from_index(0, len(column))
        if not _is_plain(column.dtype):
            raise InvalidInput(
                f"The column {theirs.get(name, name)!r} holds {column.dtype} at {where(offset)}; "
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
        if name in ("query", "item"):
            # What an export pads, or a hand types behind a question, is no part of it.
            cast = bare_names(cast)
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
                f"The column {theirs.get(name, name)!r} holds {_shown(column[row])} at "
                f"{where(offset + row)}; it must hold {_wanted(name, dtype)} in every row."
                f"{_or_ignored(name, theirs)}"
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


def _is_plain(dtype: pl.DataType) -> bool:
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Boolean, pl.Object)


def _wanted(name: str, dtype: pl.DataType) -> str:
    return WANTED[str(dtype)] + (", or yes or no," if name == "grade" else "")


def _or_ignored(name: str, called: Mapping[str, str]) -> str:
    theirs = called.get(name, name)
    if name != "grade" or theirs == name:
        return ""
    return f" If it is no grade, say --column ignore={theirs}."


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


def check_ranks(rows: pl.DataFrame, where: Callable[[int], str], seen: int = 0) -> None:
    """Refuse two results of one query at one rank: nobody could tell which comes first."""
    if "rank" not in rows.columns or "call" in rows.columns:
        return
    twice = rows.select("query", "rank").is_duplicated().arg_true()
    if len(twice):
        row = int(twice[-1])
        raise InvalidInput(
            f"Two results of the query {rows['query'][row]!r:.60} have the rank "
            f"{rows['rank'][row]}, one of them at {where(seen + row)}; give each a rank of "
            "its own, or scores in place of ranks."
        )


def gap_notes(rows: pl.DataFrame, *, whole: bool) -> tuple[str, ...]:
    """A note where ranks are left out; rows that are not the ``whole`` are taken as they stand.

    >>> rows = pl.DataFrame({"query": ["q", "q"], "rank": [1.0, 5.0]})
    >>> print(*gap_notes(rows, whole=True))
    The ranks of 1 query have gaps, such as those of 'q' (1, then 5): its results move up and count
    at 1, 2, 3 …, so a metric may be too high. Write the results at the other ranks, too.
    """
    if "call" in rows.columns:
        return ()
    rows = rows.sort("query", "rank", maintain_order=True) if whole else rows
    same = pl.col("query") == pl.col("query").shift(1)
    steps = rows.with_columns(before=pl.when(same).then(pl.col("rank").shift(1)))
    gaps = steps.filter(pl.col("rank") - pl.col("before") > 1)
    if not gaps.height or (steps["rank"] < steps["before"]).any():
        return ()
    first, n = gaps.row(0, named=True), gaps["query"].n_unique()
    return (
        f"The ranks of {n:,} {'query' if n == 1 else 'queries'} have gaps, such as those of "
        f"{first['query']!r:.60} ({first['before']:g}, then {first['rank']:g}): its results move "
        "up and count at 1, 2, 3 …, so a metric may be too high. Write the results at the other "
        "ranks, too.",
    )


TAG = "tag."
"""How such columns are called, here and among the scores of queries."""


def tags_in(rows: pl.DataFrame, queries: pl.Series) -> dict[str, pl.Series]:
    """The tags of each of the ``queries``; ``rows`` have their query and the columns of tags."""
    columns = [name for name in rows.columns if name.startswith(TAG)]
    given = rows.select("query", pl.col(columns).cast(pl.String))
    several = given.group_by("query", maintain_order=True).agg(pl.all().drop_nulls().unique())
    for name in columns:
        split = several.filter(pl.col(name).list.len() > 1)
        if split.height:
            one, other = sorted(split[name][0])[:2]
            raise InvalidInput(
                f"The query {split['query'][0]!r:.60} has two values in the column {name!r}: "
                f"{one!r:.60} and {other!r:.60}; a tag says one thing of a query, so give all its "
                "rows the same."
            )
    first = several.with_columns(pl.col(columns).list.first())
    asked = pl.DataFrame({"query": queries})
    return tag_columns(asked.join(first, on="query", how="left", maintain_order="left"))


def tag_columns(rows: pl.DataFrame) -> dict[str, pl.Series]:
    """The columns of tags, by the names of the tags."""
    tags = {name: name.removeprefix(TAG) for name in rows.columns if name.startswith(TAG)}
    return {tag: rows[name].cast(pl.String).alias(tag) for name, tag in tags.items()}
