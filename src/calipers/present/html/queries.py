"""The queries as data for the page's table: all rows that fit, and as many rankings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from calipers.model.report import FEWEST_SHOWN, Report
from calipers.present.html.details import Details
from calipers.present.html.texts import LONGEST, clean

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
_FOR_SCRIPT = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026",
               0x2028: "\\u2028", 0x2029: "\\u2029"}  # fmt: skip


@dataclass(frozen=True)
class QueryData:
    """What the script of the page reads, and what had no room in it."""

    values: dict[str, Any]
    rows: int
    """Queries in the table."""
    all_rows: int
    left_out: tuple[str, ...]
    """Queries whose rankings are not on the page, or that are not on it at all."""
    positions: dict[str, int]
    """The row of each query."""
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
    names = head.queries["query"].to_list()
    worst = _worst_first(report)
    kept = worst
    if len(worst) > MOST_ROWS and not full:
        kept = _worst_and_sample(worst, MOST_ROWS)
    kept_rows = sorted(kept)
    positions = {names[i]: at for at, i in enumerate(kept_rows)}
    wanted = [name for name in first if name in positions]
    sources = [Details.of_system(one) for one in report.systems]
    asked = [names[i] for i in kept]
    longest = None if full else _longest(sources, asked)
    room = float("inf") if full else RANKING_BYTES
    found, left_out = _fitting(sources, wanted, asked, longest, room)
    outside = [name for name in names if name not in positions]
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
        len(kept_rows), len(names), (*left_out, *outside), positions,
        None if longest is None or longest == LONGEST else longest,
    )  # fmt: skip


def _rows(report: Report, kept: Sequence[int]) -> list[list[Any]]:
    head = report.systems[0].head
    names, texts = head.queries["query"].to_list(), head.queries["text"].to_list()
    tags = [tag.to_list() for tag in head.tags.values()]
    values, statuses, missed = [], [], []
    for one in report.systems:
        codes = {name: code for code, name in enumerate(one.head.queries["query"])}
        order = [codes.get(names[i], -1) for i in kept]
        table = np.round(one.head.values, 4)
        values.append([None if code < 0 else _plain(table[code]) for code in order])
        status = one.head.queries["status"].to_list()
        statuses.append(["missing" if code < 0 else status[code] for code in order])
        lost = {} if one.misses is None else dict(
            one.misses.table["query"].value_counts().iter_rows()
        )  # fmt: skip
        missed.append([lost.get(names[i], 0) for i in kept])
    return [
        [
            clean(names[i][:QUERY_TEXT]),
            None if texts[i] is None or texts[i] == names[i] else clean(texts[i][:QUERY_TEXT]),
            [None if tag[i] is None else clean(str(tag[i])[:60]) for tag in tags],
            [column[at] for column in values],
            [column[at] for column in statuses],
            [column[at] for column in missed],
        ]
        for at, i in enumerate(kept)
    ]


def _plain(values: Any) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _worst_first(report: Report) -> list[int]:
    """Lowest recall first, then lowest nDCG; queries without any value stand last."""
    head = report.systems[0].head
    stems = {facts.stem.partition("(")[0]: i for i, facts in enumerate(head.metrics)}
    recall, ndcg = head.values[:, stems["recall"]], head.values[:, stems["ndcg"]]
    order: list[int] = np.lexsort((ndcg, recall)).tolist()
    return order


def _worst_and_sample(worst: list[int], room: int) -> list[int]:
    certain = int(room * WORST)
    rest = np.random.default_rng(0).permutation(worst[certain:])[: room - certain]
    return [*worst[:certain], *rest.tolist()]


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
) -> tuple[dict[str, Any], list[str]]:
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
    left_out = [name for name in kept if name not in found]
    return found, left_out
