"""The queries as data for the page's table: all rows that fit, and as many rankings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl

from calipers.model.arrays import Ints
from calipers.present.escape import clean
from calipers.questions.misses.result import Misses
from calipers.questions.report.page.details import Details
from calipers.questions.report.page.excerpt import LONGEST
from calipers.questions.report.result import FEWEST_SHOWN, Report

RANKING_BYTES = 8_000_000
"""What all rankings on the page may take; a page of 1,000 queries stays below 10 MB."""
CUTS = (LONGEST, 400, 250, 160, 100, 60)
"""Characters of a text that a page keeps: as many as all rankings have room for."""
SAMPLE = 40
"""Queries from which the room that all of them need is told."""
MOST_ROWS = 20_000
SPARE = 0.9
"""The share of the room that a sample may fill: the others may need more."""
WORST = 0.7
"""The share of the room for the worst queries; the rest is a sample of all others."""
QUERY_TEXT = 300
_FOR_SCRIPT = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


@dataclass(frozen=True)
class QueryData:
    """What the script of the page reads, and what had no room in it."""

    values: dict[str, Any]
    rows: int
    """Queries in the table."""
    all_rows: int
    left_out: tuple[str, ...]
    """Queries of the table whose rankings are not on the page."""
    positions: dict[str, int]
    """The row of each query."""
    sources: Mapping[str, Details]
    """Everything about these queries, by the name of the retriever."""
    cut: int | None = None
    """Characters that are kept of a text, where that is fewer than usual."""

    def script(self) -> str:
        """The data as JSON that may stand inside a script element."""
        return msgspec.json.encode(self.values).decode().translate(_FOR_SCRIPT)


def query_data(report: Report, first: Iterable[str] = (), *, full: bool = False) -> QueryData:
    """The rows and rankings of a report; the rankings of the queries named ``first`` come first.

    Texts are cut before a ranking is left out; with ``full`` neither happens.
    """
    head = report.systems[0].head
    names = head.queries["query"]
    kept = _worst_first(report)
    if kept.size > MOST_ROWS and not full:
        kept = _worst_and_sample(kept, MOST_ROWS)
    kept_rows = np.sort(kept)
    positions = {name: at for at, name in enumerate(names.gather(kept_rows))}
    wanted = [name for name in first if name in positions]
    # None: all of them, without looking for each.
    some = names.gather(kept) if kept.size < names.len() else None
    by_name = {one.name: Details.of_system(one, some) for one in report.systems}
    sources = list(by_name.values())
    asked = names.gather(kept).to_list()
    longest = None if full else _longest(sources, asked)
    room = float("inf") if full else RANKING_BYTES
    found = _fitting(sources, wanted, asked, longest, room)
    left_out = tuple(name for name in asked if name not in found)
    metrics = [facts.name for facts in head.metrics]
    return QueryData(
        {
            "k": report.k,
            "depth": max(report.k, FEWEST_SHOWN),
            "systems": [clean(one.name) for one in report.systems],
            "metrics": metrics,
            "lower": [facts.better == "lower" for facts in head.metrics],
            "byId": head.settings["match"] in ("id", "document"),
            "tags": [clean(name) for name in head.tags],
            "rows": _rows(report, kept_rows),
            "details": {str(positions[name]): one for name, one in found.items()},
        },
        kept_rows.size,
        names.len(),
        left_out,
        positions,
        by_name,
        None if longest is None or longest == LONGEST else longest,
    )


def _rows(report: Report, kept: Ints) -> list[list[Any]]:
    head = report.systems[0].head
    shown = head.queries[kept]
    names, texts = shown["query"].to_list(), shown["text"].to_list()
    tags = [tag.gather(kept).to_list() for tag in head.tags.values()]
    values, statuses, missed = [], [], []
    for one in report.systems:
        queries = one.head.queries.select("query", "status").with_row_index("code")
        own = shown.select("query").join(queries, on="query", how="left", maintain_order="left")
        found = own["code"].to_list()
        values.append([None if at is None else _plain(one.head.values[at]) for at in found])
        statuses.append(own["status"].fill_null("missing").to_list())
        lost = _lost(one.misses, shown["query"])
        missed.append([lost.get(name, 0) for name in names])
    return [
        [
            clean(name[:QUERY_TEXT]),
            None if text is None or text == name else clean(text[:QUERY_TEXT]),
            [None if tag[at] is None else clean(str(tag[at])[:60]) for tag in tags],
            [column[at] for column in values],
            [column[at] for column in statuses],
            [column[at] for column in missed],
        ]
        for at, (name, text) in enumerate(zip(names, texts, strict=True))
    ]


def _lost(misses: Misses | None, queries: pl.Series) -> dict[str, int]:
    """How many targets each of these queries misses."""
    if misses is None:
        return {}
    lost = misses.by_query["query"]
    return dict(lost.filter(lost.is_in(queries.implode())).value_counts().iter_rows())


def _plain(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in np.round(values, 4)]


def _worst_first(report: Report) -> Ints:
    """Lowest recall first, then lowest nDCG; queries without any value stand last."""
    head = report.systems[0].head
    stems = {facts.kind: i for i, facts in enumerate(head.metrics)}
    recall, ndcg = head.values[:, stems["recall"]], head.values[:, stems["ndcg"]]
    order: Ints = np.lexsort((ndcg, recall))
    return order


def _worst_and_sample(worst: Ints, room: int) -> Ints:
    certain = int(room * WORST)
    rest = np.random.default_rng(0).permutation(worst[certain:])[: room - certain]
    return np.concatenate([worst[:certain], rest])


def _longest(sources: Sequence[Details], kept: Sequence[str]) -> int:
    """How many characters of each text the page can keep, told from some of the queries."""
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
    """The rankings that have room, by query: those named, the worst, a sample of the others."""
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
