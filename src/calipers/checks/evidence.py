"""The targets of a ground truth against a corpus that streams by."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from calipers.checks.chunks import Chunks
from calipers.checks.item_evidence import ItemEvidence
from calipers.checks.labels import with_plain_quotes
from calipers.checks.quote_evidence import QuoteEvidence, Sightings
from calipers.checks.span_evidence import SpanEvidence, SpanSightings
from calipers.io.corpus.read import Corpus
from calipers.model.ground_truth import GroundTruth

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
            holding = self.items.add(chunks)
            if self.quotes.quotes:
                holding |= self.quotes.add(chunks)
            if self.spans.spans.height:
                holding |= self.spans.add(chunks)
            for number in holding:
                self.texts.setdefault(chunks.ids[number], chunks.texts[number])
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
    def _number(self) -> dict[str, int]:
        return {quote: number for number, quote in enumerate(self.quotes.quotes)}

    def holders(self, row: Row) -> list[str]:
        """The first chunks that hold a target."""
        way = self.way(row)
        if way == "id":
            return [str(row["item"])] if self.items.seen[str(row["item"])] else []
        return (self.span_sightings(row) if way == "span" else self.sightings(row)).holders
