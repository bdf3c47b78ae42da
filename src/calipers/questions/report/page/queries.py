"""The data of the page's table of queries: rows and rankings."""

from collections.abc import Iterable, Sequence
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

MOST_QUERIES = 1_000
"""The queries on a page of one system; ``calipers serve`` lists all of them."""
WORST = 0.7
"""The share of them that are the worst; the rest is a sample of the others."""
TEXT_BYTES = 8_000_000
"""About how many bytes of texts a page holds; each is cut to its part of it."""
SHORTEST = 60
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
    """The data for the script of the page."""

    values: dict[str, Any]
    rows: int
    """Queries on the page."""
    all_rows: int
    cut: int
    """Characters kept of each text, around what was matched."""

    def script(self) -> str:
        """The data as JSON that is safe inside a script element."""
        return msgspec.json.encode(self.values).decode().translate(_FOR_SCRIPT)


def query_data(report: Report, first: Iterable[str] = ()) -> QueryData:
    """The queries of a report with their rankings; those in ``first`` are always there."""
    browse = report.systems[0].browse
    names = browse.scores.queries["query"]
    kept = _worst_and_sample(browse.worst_first, MOST_QUERIES // len(report.systems))
    always = [at for name in first if (at := browse.row_of(name)) is not None]
    kept = np.unique(np.concatenate([kept, np.array(always, dtype=kept.dtype)]))
    rows = names.gather(kept)
    # None means all, without looking up each.
    some = rows if kept.size < names.len() else None
    sources = [Details.of_system(one, some) for one in report.systems]
    depth = max(browse.k, FEWEST_SHOWN)
    cut = TEXT_BYTES // (max(1, kept.size) * depth * len(sources)) - 150  # its names and marks
    cut = max(SHORTEST, min(LONGEST, cut))
    metrics = shown_metrics(report)
    facts = {one.name: one for one in browse.scores.metrics}
    return QueryData(
        {
            "k": browse.k,
            "depth": depth,
            "systems": [clean(one.name) for one in report.systems],
            "metrics": metrics,
            "lower": [facts[name].better == "lower" for name in metrics],
            "byId": browse.by_id,
            "tags": [clean(name) for name in browse.scores.tags],
            "reasons": [reason.means for reason in REASONS],
            "rows": _rows(report, rows, metrics),
            "details": [[source.of(name, cut) for source in sources] for name in rows],
        },
        len(rows),
        names.len(),
        cut,
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


def _worst_and_sample(worst: Ints, most: int) -> Ints:
    certain = int(most * WORST)
    rest = np.random.default_rng(0).permutation(worst[certain:])[: most - certain]
    return np.concatenate([worst[:certain], rest])
