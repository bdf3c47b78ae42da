"""The data of the page's table of queries: the rows and rankings that fit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.model.arrays import Ints
from calipers.present.escape import clean
from calipers.questions.misses.result import REASONS
from calipers.questions.report.browse import FEWEST_SHOWN
from calipers.questions.report.page.details import Details
from calipers.questions.report.page.excerpt import LONGEST
from calipers.questions.report.result import Report, SystemReport

RANKING_BYTES = 8_000_000
"""The most bytes of all rankings on the page; a page of 1,000 queries stays below 10 MB."""
CUTS = (LONGEST, 400, 250, 160, 100, 60)
"""Characters of a text that a page keeps: the first of these with which all rankings fit."""
SAMPLE = 40
"""Queries from which the size of all rankings is estimated."""
MOST_ROWS = 20_000
SPARE = 0.9
"""The share of the limit that the estimate may fill: other queries may need more."""
WORST = 0.7
"""The share of the limit for the worst queries; the rest is for a sample of the others."""
QUERY_TEXT = 300
_REASONS = {reason.name: at for at, reason in enumerate(REASONS)}
_FOR_SCRIPT = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


@dataclass(frozen=True)
class QueryData:
    """The data for the script of the page, and what did not fit."""

    values: dict[str, Any]
    rows: int
    """Queries in the table."""
    all_rows: int
    left_out: tuple[str, ...]
    """Queries of the table whose rankings are not on the page."""
    sources: Mapping[str, Details]
    """The details of these queries, by the name of the retriever."""
    cut: int | None = None
    """Characters kept of each text, if fewer than usual."""

    def script(self) -> str:
        """The data as JSON that is safe inside a script element."""
        return msgspec.json.encode(self.values).decode().translate(_FOR_SCRIPT)


def query_data(report: Report, first: Iterable[str] = (), *, full: bool = False) -> QueryData:
    """The rows and rankings of a report; the rankings of the queries in ``first`` take precedence.

    Texts are cut before a ranking is left out; with ``full`` neither happens.
    """
    browse = report.systems[0].browse
    names, kept = browse.scores.queries["query"], browse.worst_first
    if kept.size > MOST_ROWS and not full:
        kept = _worst_and_sample(kept, MOST_ROWS)
    rows = names.gather(np.sort(kept))
    positions = {name: at for at, name in enumerate(rows)}
    # None means all, without looking up each.
    some = rows if kept.size < names.len() else None
    by_name = {one.name: Details.of_system(one, some) for one in report.systems}
    sources, asked = list(by_name.values()), names.gather(kept).to_list()
    longest = None if full else _longest(sources, asked)
    room = float("inf") if full else RANKING_BYTES
    wanted = [name for name in first if name in positions]
    found = _fitting(sources, wanted, asked, longest, room)
    metrics = shown_metrics(report)
    facts = {one.name: one for one in browse.scores.metrics}
    return QueryData(
        {
            "k": browse.k,
            "depth": max(browse.k, FEWEST_SHOWN),
            "systems": [clean(one.name) for one in report.systems],
            "metrics": metrics,
            "lower": [facts[name].better == "lower" for name in metrics],
            "byId": browse.by_id,
            "tags": [clean(name) for name in browse.scores.tags],
            "reasons": [reason.means for reason in REASONS],
            "rows": _rows(report, rows, metrics),
            "details": {str(positions[name]): one for name, one in found.items()},
        },
        len(rows),
        names.len(),
        tuple(name for name in asked if name not in found),
        by_name,
        None if longest is None or longest == LONGEST else longest,
    )


def shown_metrics(report: Report) -> list[str]:
    """The metrics of the table: those that decide a comparison, and the main ones."""
    asked = report.comparison.asked if report.comparison else ()
    every = [set(one.browse.metrics) for one in report.systems]
    names = dict.fromkeys([*asked, *report.systems[0].browse.shown])
    return [name for name in names if all(name in known for known in every)]


def _rows(report: Report, names: pl.Series, metrics: Sequence[str]) -> list[list[Any]]:
    """One row per query: its id, text and tags, and the result of every system."""
    shown = names.to_frame("query").join(
        report.systems[0].browse.table, on="query", how="left", maintain_order="left"
    )
    cells = [_cells(one, names, metrics) for one in report.systems]
    tags = [f"tag.{name}" for name in report.systems[0].scores.tags]
    return [
        [
            clean(row["query"][:QUERY_TEXT]),
            None if row["text"] in (None, row["query"]) else clean(row["text"][:QUERY_TEXT]),
            [None if row[tag] is None else clean(str(row[tag])[:60]) for tag in tags],
            [column[at] for column in cells],
        ]
        for at, row in enumerate(shown.iter_rows(named=True))
    ]


def _cells(system: SystemReport, names: pl.Series, metrics: Sequence[str]) -> list[Any]:
    """The result of one system for each query: values, status, misses, failed or not, reason."""
    table = names.to_frame("query").join(
        system.browse.table, on="query", how="left", maintain_order="left"
    )
    why: dict[str, int] = {}
    if system.misses is not None:
        lost = system.misses.by_query.select("query", "reason").unique("query", keep="first")
        why = {query: _REASONS[reason] for query, reason in lost.iter_rows()}
    columns = table.select(
        pl.concat_list(pl.col(metrics).cast(pl.Float64).round(4)),
        pl.col("status").fill_null("missing"),
        pl.col("missed").fill_null(0),
        pl.col("failed").fill_null(False),
    )
    rows = zip(names, columns.iter_rows(), strict=True)
    return [[*row, why.get(query)] for query, row in rows]


def _worst_and_sample(worst: Ints, room: int) -> Ints:
    certain = int(room * WORST)
    rest = np.random.default_rng(0).permutation(worst[certain:])[: room - certain]
    return np.concatenate([worst[:certain], rest])


def _longest(sources: Sequence[Details], kept: Sequence[str]) -> int:
    """How many characters of each text fit, estimated from some of the queries."""
    some = kept[:: max(1, len(kept) // SAMPLE)]
    encode = msgspec.json.encode
    for cut in CUTS:
        used = sum(len(encode(source.of(name, cut))) for name in some for source in sources)
        if used / max(1, len(some)) * len(kept) <= RANKING_BYTES * SPARE:
            return cut
    return CUTS[-1]


def _fitting(
    sources: Sequence[Details],
    first: list[str],
    kept: list[str],
    longest: int | None,
    room: float,
) -> dict[str, Any]:
    """The rankings that fit, by query: those in ``first``, the worst, a sample of the others."""
    found: dict[str, Any] = {}
    used = 0

    def add(names: Iterable[str], until: float) -> None:
        nonlocal used
        for name in names:
            if name in found:
                continue
            one = [source.of(name, longest) for source in sources]
            size = len(msgspec.json.encode(one)) + len(name) + 8
            if used + size > until:
                return
            used += size
            found[name] = one

    add(first, room)
    add(kept, room * WORST)
    rest = [name for name in kept if name not in found]
    add((rest[i] for i in np.random.default_rng(0).permutation(len(rest))), room)
    return found
