"""Whole rankings as JSON lines: what a page has no room for, made without objects of Python."""

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from calipers.model.report import Report, SystemReport

AT_ONCE = 100_000
"""Queries whose lines are in memory together."""
RESULT = ("rank", "item", "score", "text", "document", "start", "end", "grade", "state")
MISS = ("item", "quote", "document", "start", "end", "reason")


def ranking_lines(report: Report, queries: pl.Series) -> Iterator[bytes]:
    """A line for every query: what each system retrieved, and what it missed."""
    for first in range(0, queries.len(), AT_ONCE):
        asked = pl.DataFrame({"query": queries[first : first + AT_ONCE]})
        systems = [_of_system(one, asked["query"]) for one in report.systems]
        lines = asked.select(
            pl.concat_str(
                pl.lit("{"), _object(["query"]), pl.lit(',"systems":{'),
                pl.concat_str(systems, separator=","), pl.lit("}}\n"),
            ).str.join("")
        )  # fmt: skip
        yield lines.item().encode()


def _of_system(system: SystemReport, asked: pl.Series) -> pl.Series:
    """What one system has of each query that is asked for, as a member of a JSON object."""
    known = system.head.queries.select("query").with_row_index("code")
    codes = asked.to_frame("query").join(known, on="query", how="left", maintain_order="left")
    lists = {"retrieved": _listed(system.rankings, codes["code"].cast(pl.Int64), RESULT)}
    if system.misses is None:
        lists["missed"] = pl.Series([""]).new_from_index(0, asked.len())
    else:
        lists["missed"] = _listed(system.misses.table, asked, MISS)
    name = msgspec.json.encode(system.name).decode()
    members = (pl.lit(name + ':{"retrieved":['), "retrieved", pl.lit('],"missed":['), "missed",
               pl.lit("]}"))  # fmt: skip
    return pl.DataFrame(lists).select(pl.concat_str(members)).to_series()


def _listed(table: pl.DataFrame, asked: pl.Series, fields: Sequence[str]) -> pl.Series:
    """The rows of each query that is asked for, as the inside of a JSON list."""
    rows = (
        table.lazy()
        .filter(pl.col("query").is_in(asked.implode()))
        .select("query", row=pl.concat_str(pl.lit("{"), _object(fields), pl.lit("}")))
        .group_by("query", maintain_order=True)
        .agg(pl.col("row").str.join(","))
    )
    wanted = pl.LazyFrame({"query": asked})
    found = wanted.join(rows, on="query", how="left", maintain_order="left").collect()
    return found["row"].fill_null("")


def _object(fields: Sequence[str]) -> pl.Expr:
    """The members of a JSON object; a value that is not known has none."""
    members = (
        pl.when(pl.col(name).is_not_null()).then(
            pl.struct(name).struct.json_encode().str.strip_prefix("{").str.strip_suffix("}")
        )
        for name in fields
    )  # fmt: skip
    return pl.concat_str(members, separator=",", ignore_nulls=True)
