"""Which chunks hold which spans of documents."""

from collections import defaultdict
from dataclasses import dataclass, field

import polars as pl

from calipers.checks.chunks import KEPT, Chunks
from calipers.match.choose import LEAST
from calipers.match.cover import Piece, enough, size
from calipers.text import normalise

ENOUGH = LEAST["span"]
"""The share of a span that a chunk must hold, as in matching by span."""


@dataclass(eq=False)
class SpanSightings:
    """Where one span was seen."""

    holders: list[str] = field(default_factory=list)
    """The first chunks that hold enough of it."""
    pieces: set[Piece] = field(default_factory=set)
    """What chunks hold of it, in characters of the document."""
    moved: str | None = None
    """What stands at the span, where that is not the quote of the target."""

    def share(self, start: int, end: int) -> float:
        """The share of the span that the chunks hold together."""
        return size(self.pieces) / (end - start)


@dataclass(eq=False)
class SpanEvidence:
    """Looks for spans (row, document, start, end, plain) in chunk after chunk."""

    spans: pl.DataFrame
    seen: dict[int, SpanSightings] = field(default_factory=lambda: defaultdict(SpanSightings))
    """By the row of the target."""
    reach: dict[str, int] = field(default_factory=dict)
    """Documents of spans that the corpus has, each with the end of its last chunk."""
    placed: set[str] = field(default_factory=set)
    """Those of them whose chunks all say where they stand."""

    def add(self, chunks: Chunks) -> set[int]:
        """Look at some chunks; the numbers of those that are remembered as holding a span."""
        named = chunks.frame.with_row_index("number").join(
            self.spans.select("document").unique(), on="document", how="semi"
        )
        if named.is_empty():
            return set()
        known = named.group_by("document").agg(pl.col("end").max(), pl.col("start").null_count())
        for document, end, without in known.iter_rows():
            first = document not in self.reach
            self.reach[document] = max(self.reach.get(document, 0), end or 0)
            if without:
                self.placed.discard(document)
            elif first:
                self.placed.add(document)
        meeting = named.join(self.spans, on="document", suffix="_span").filter(
            pl.col("start") < pl.col("end_span"), pl.col("end") > pl.col("start_span")
        )
        rows = meeting.iter_rows(named=True)
        return {int(row["number"]) for row in rows if self._holds(row)}

    def _holds(self, row: dict[str, object]) -> bool:
        start, end, from_, to, number = (
            int(str(row[name])) for name in ("start", "end", "start_span", "end_span", "row")
        )
        sightings = self.seen[number]
        piece = max(start, from_), min(end, to)
        sightings.pieces.add(piece)
        if row["plain"] is not None and piece == (from_, to):
            there = str(row["text"])[from_ - start : to - start]
            sightings.moved = None if normalise(there) == row["plain"] else there
        holds = piece[1] - piece[0] >= enough(to - from_, ENOUGH)
        if holds and len(sightings.holders) < KEPT:
            sightings.holders.append(str(row["id"]))
            return True
        return False
