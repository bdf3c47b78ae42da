"""What the ranks of a table say: two results at one rank, and ranks at which nothing stands."""

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.scan import Table


def check_ranks(rows: pl.DataFrame, table: Table, seen: int) -> None:
    """Refuse two results of one query at one rank: nobody could tell which comes first."""
    if "rank" not in rows.columns or "call" in rows.columns:
        return
    twice = rows.select("query", "rank").is_duplicated().arg_true()
    if len(twice):
        row = int(twice[-1])
        raise InvalidInput(
            f"Two results of the query {rows['query'][row]!r:.60} have the rank "
            f"{rows['rank'][row]}, one of them at {table.where(seen + row)}; give each a rank of "
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
