"""The targets of a ground truth against a corpus that streams by."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from calipers.checks.labels import with_plain_quotes
from calipers.checks.quote_evidence import KEPT, Chunks, QuoteEvidence, Sightings
from calipers.checks.versions import superseded, versioned
from calipers.io.corpus import Corpus
from calipers.match.cover import Piece, enough, size
from calipers.model.arrays import Hashes
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import LEAST
from calipers.text import normalise


@dataclass(eq=False)
class ItemEvidence:
    """Counts the chunks that have the id of a target."""

    items: frozenset[str]
    seen: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    """A few ids of the corpus, to show beside ids that are not in it."""

    def __post_init__(self) -> None:
        self._wanted = pl.DataFrame({"id": list(self.items)}, schema={"id": pl.String})

    def add(self, chunks: Chunks) -> set[int]:
        """Look at some chunks; the numbers of those that are targets."""
        if len(self.sample) < 3:
            self.sample += chunks.ids[: 3 - len(self.sample)]
        found = chunks.frame.select("id").with_row_index().join(self._wanted, on="id", how="semi")
        self.seen.update(found["id"].to_list())
        return set(found["index"].to_list())


ENOUGH_OF_SPAN = LEAST["span"]
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
        holds = piece[1] - piece[0] >= enough(to - from_, ENOUGH_OF_SPAN)
        if holds and len(sightings.holders) < KEPT:
            sightings.holders.append(str(row["id"]))
            return True
        return False


Row = dict[str, object]
Way = Literal["id", "quote", "span"]


@dataclass(eq=False)
class CorpusEvidence:
    """What the corpus says about every target.

    A target is looked for in one way: by its id, else by its span where the corpus says where
    its chunks stand, else by its quote.
    """

    targets: pl.DataFrame
    """The targets with ``row`` and ``plain``, the quote as it is compared."""
    items: ItemEvidence
    quotes: QuoteEvidence
    spans: SpanEvidence
    chunks: int = 0
    documents_known: bool = False
    """Whether the corpus tells chunks from documents."""
    texts: dict[str, str] = field(default_factory=dict)
    """The texts of chunks that hold a target, by id."""
    document_of: dict[str, str] = field(default_factory=dict)
    """Their documents."""
    documents: list[Hashes] = field(default_factory=list)
    """The document of every chunk, as a number, batch by batch."""
    versions: list[pl.DataFrame] = field(default_factory=list)
    """The chunks that say of which version of a document they are, batch by batch."""

    @classmethod
    def of(cls, ground_truth: GroundTruth) -> "CorpusEvidence":
        """Nothing seen yet."""
        targets = with_plain_quotes(ground_truth).with_row_index("row")
        spans = targets.filter(pl.col("item").is_null(), pl.col("start").is_not_null())
        quotes = targets.filter(pl.col("item").is_null())["plain"].drop_nulls()
        return cls(
            targets,
            ItemEvidence(frozenset(targets["item"].drop_nulls())),
            QuoteEvidence(tuple(quotes.unique(maintain_order=True))),
            SpanEvidence(spans.select("row", "document", "start", "end", "plain")),
        )

    def look_through(self, corpus: Corpus) -> None:
        """Look at every chunk of the corpus, and again for quotes that were found in part."""
        for batch in corpus.batches():
            chunks = Chunks(batch)
            self.chunks += batch.height
            if not self.documents_known:
                self.documents_known = bool(batch["named"].any())
            self.documents.append(batch["document"].hash().to_numpy())
            self.versions.append(versioned(batch))
            holding = self.items.add(chunks)
            if self.quotes.quotes:
                holding |= self.quotes.add(chunks)
            if self.spans.spans.height:
                holding |= self.spans.add(chunks)
            for number in holding:
                self.texts.setdefault(chunks.ids[number], chunks.texts[number])
                self.document_of.setdefault(chunks.ids[number], chunks.documents[number])
        unclear = self.quotes.unclear()
        if unclear:
            for batch in corpus.batches():
                some = batch.filter(pl.col("document").is_in(list(unclear)))
                self.quotes.complete(Chunks(some), unclear)

    def way(self, row: Row) -> Way:
        """How a target was looked for."""
        if row["item"] is not None:
            return "id"
        if row["plain"] is None or (row["start"] is not None and self.knows_places(row)):
            return "span"
        return "quote"

    def knows_places(self, row: Row) -> bool:
        """Whether the corpus says where the chunks of a target's document stand."""
        return row["document"] in self.spans.placed

    def sightings(self, row: Row) -> Sightings:
        """Where the quote of a target was seen."""
        number = self._number[str(row["plain"])]
        return self.quotes.seen.get(number, Sightings())

    def span_sightings(self, row: Row) -> SpanSightings:
        """Where the span of a target was seen."""
        return self.spans.seen.get(int(str(row["row"])), SpanSightings())

    @cached_property
    def several_versions(self) -> pl.DataFrame:
        """The chunks of documents of which there are several versions (see ``superseded``)."""
        return superseded(pl.concat(self.versions))

    @cached_property
    def held(self) -> list[tuple[str, list[str]]]:
        """Each relevant target: its query, and the first chunks that hold it."""
        rows = self.targets.filter(pl.col("grade") > 0).iter_rows(named=True)
        return [(str(row["query"]), self.holders(row)) for row in rows]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {quote: number for number, quote in enumerate(self.quotes.quotes)}

    def holders(self, row: Row) -> list[str]:
        """The first chunks that hold a target."""
        way = self.way(row)
        if way == "id":
            return [str(row["item"])] if self.items.seen[str(row["item"])] else []
        return (self.span_sightings(row) if way == "span" else self.sightings(row)).holders
