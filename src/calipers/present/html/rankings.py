"""Whole rankings as JSON lines: what a page has no room for, made without objects of Python."""

from collections.abc import Iterator, Sequence

import msgspec
import polars as pl

from calipers.model.report import Report, SystemReport

AT_ONCE = 16 << 20
"""Bytes of rankings that are in memory a second time, as lines."""
RESULT = ("rank", "item", "score", "text", "document", "start", "end", "grade", "state")
MISS = ("item", "quote", "document", "start", "end", "reason")


def ranking_lines(report: Report, queries: pl.Series) -> Iterator[bytes]:
    """A line for every query: what each system retrieved, and what it missed."""
    tables = [_Tables(one, queries) for one in report.systems]
    size = sum(one.rankings.estimated_size() for one in report.systems)
    rows = 1 + AT_ONCE * len(report.scores) // (size + 1)
    for first in range(0, queries.len(), rows):
        asked = pl.DataFrame({"query": queries[first : first + rows]})
        systems = [one.members(first, asked.height) for one in tables]
        lines = asked.select(
            pl.concat_str(
                pl.lit("{"), _object(asked, ["query"]), pl.lit(',"systems":{'),
                pl.concat_str(systems, separator=","), pl.lit("}}\n"),
            ).str.join("")
        )  # fmt: skip
        yield lines.item().encode()


class _Tables:
    """The rankings and misses of one system, with the place in the file of every query."""

    def __init__(self, system: SystemReport, queries: pl.Series) -> None:
        places = pl.DataFrame({"query": queries}).with_row_index("place")
        codes = system.head.queries.select("query").with_row_index("code")
        codes = codes.join(places, on="query", how="left", maintain_order="left")
        self._name = msgspec.json.encode(system.name).decode()
        self._rankings = system.rankings
        self._ranked_at = codes["place"].gather(system.rankings["query"])
        missed = None if system.misses is None else system.misses.table
        self._missed = (
            pl.DataFrame(schema=dict.fromkeys(MISS, pl.Null)) if missed is None else missed
        )
        self._missed_at = (
            pl.Series(dtype=pl.UInt32)
            if missed is None
            else missed.select("query").join(places, on="query", how="left", maintain_order="left")[
                "place"
            ]
        )

    def members(self, first: int, count: int) -> pl.Series:
        """What the system has of some queries of the file, each a member of a JSON object."""
        lists = {
            "retrieved": _listed(self._rankings, self._ranked_at, first, count, RESULT),
            "missed": _listed(self._missed, self._missed_at, first, count, MISS),
        }
        parts = (pl.lit(self._name + ':{"retrieved":['), "retrieved", pl.lit('],"missed":['),
                 "missed", pl.lit("]}"))  # fmt: skip
        return pl.DataFrame(lists).select(pl.concat_str(parts)).to_series()


def _listed(
    table: pl.DataFrame, places: pl.Series, first: int, count: int, fields: Sequence[str]
) -> pl.Series:
    """The rows at some places, as the insides of JSON lists, one for every place."""
    here = places.is_between(first, first + count, closed="left")
    some = table.select(fields).filter(here)
    rows = some.select(
        place=places.filter(here),
        row=pl.concat_str(pl.lit("{"), _object(some, fields), pl.lit("}")),
    )
    lists = rows.lazy().group_by("place", maintain_order=True).agg(pl.col("row").str.join(","))
    wanted = pl.LazyFrame(
        {"place": pl.int_range(first, first + count, dtype=pl.UInt32, eager=True)}
    )
    found = wanted.join(lists, on="place", how="left", maintain_order="left").collect()
    return found["row"].fill_null("")


def _object(table: pl.DataFrame, fields: Sequence[str]) -> pl.Expr:
    """The members of a JSON object; a value that is not known has none."""
    known = [name for name in fields if table[name].null_count() < table.height]
    members = (
        pl.when(pl.col(name).is_not_null()).then(
            pl.concat_str(pl.lit(f'"{name}":'), _value(name, table.schema[name]))
        )
        for name in known
    )  # fmt: skip
    return pl.concat_str(members, separator=",", ignore_nulls=True) if known else pl.lit("")


def _value(name: str, kind: pl.DataType) -> pl.Expr:
    """A number as it is, a text as JSON spells it."""
    if kind != pl.String:
        return pl.col(name).cast(pl.String)
    member = pl.struct(pl.col(name).alias("")).struct.json_encode()
    return member.str.strip_prefix('{"":').str.strip_suffix("}")
