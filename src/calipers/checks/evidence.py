"""Look up the targets of a ground truth in a streamed corpus."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import polars as pl

from calipers.checks.ground_truth import with_plain_quotes
from calipers.io.corpus import Corpus
from calipers.match.cover import Assembly, Piece, enough, size
from calipers.match.locate import QuoteFinder
from calipers.match.quote import Quote, near_pairs
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import LEAST
from calipers.text import normalise

KEPT = 3
"""The most chunks per target that are kept with id and text."""
MOST_PLACES = 100
"""The most places of one quote that are recorded; beyond that it is ambiguous anyway."""

Batches = Callable[[], Iterator[pl.DataFrame]]
"""The corpus from its beginning: tables of id, document, text, start, end."""
Row = dict[str, object]
Way = Literal["id", "quote", "span"]


@dataclass(eq=False)
class Sightings:
    """Where one target was found."""

    chunks: int = 0
    """The number of chunks that contain it."""
    holders: list[str] = field(default_factory=list)
    """The ids of the first of them."""
    documents: set[str] = field(default_factory=set)
    times: int = 0
    """The most occurrences in a single chunk."""
    places: list[tuple[str, Piece | None]] = field(default_factory=list)
    """Its documents and spans; overlapping chunks count as one."""
    pieces: set[Piece] = field(default_factory=set)
    """The parts of a span that chunks cover, in characters of the document."""
    moved: str | None = None
    """The text at a span if it differs from the target's quote."""

    def hold(
        self, chunk: str, document: str, place: Piece | None = None, times: int = 1
    ) -> bool:
        """Record a chunk that contains the target; return whether its id is kept."""
        self.chunks += 1
        self.times = max(self.times, times)
        if len(self.places) < MOST_PLACES:
            self.documents.add(document)
            # A place may be known from an earlier, overlapping chunk.
            if not any(
                document == other and _meet(place, there) for other, there in self.places
            ):
                self.places.append((document, place))
        if self.chunks > KEPT:
            return False
        self.holders.append(chunk)
        return True


def _meet(piece: Piece | None, other: Piece | None) -> bool:
    return piece is None or other is None or (piece[0] < other[1] and other[0] < piece[1])


def split_quotes(
    batches: Batches, quotes: Sequence[Quote], ignore_case: bool = False
) -> dict[str, str]:
    """The quotes that chunks of one document contain together, with that document.

    No chunk contains one of these quotes alone. The chunks of a document are only
    compared with the quotes of which another of its chunks has half.
    """

    def plain(texts: pl.Series) -> list[str]:
        return [normalise(text, ignore_case=ignore_case) for text in texts]

    near: dict[str, set[int]] = defaultdict(set)
    for batch in batches() if quotes else ():
        documents = batch["document"].to_list()
        for number, at in near_pairs(quotes, plain(batch["text"])):
            near[documents[at]].add(number)
    split: dict[str, str] = {}
    assemblies: dict[tuple[str, int], Assembly] = {}
    for batch in batches() if near else ():
        there = among(batch, "document", near)
        for document, text in zip(there["document"], plain(there["text"]), strict=True):
            for number in near[document]:
                quote = quotes[number]
                held = quote.edge_pieces(text)
                if held and assemblies.setdefault(
                    (document, number), Assembly(quote.length)
                ).add(held):
                    split.setdefault(quote.text, document)
    return split


def among(batch: pl.DataFrame, column: str, wanted: Collection[str]) -> pl.DataFrame:
    """The rows with a wanted name; the set is built once, not for every batch."""
    return batch.filter(
        pl.Series([value in wanted for value in batch[column]], dtype=pl.Boolean)
    )


@dataclass(eq=False)
class SpanEvidence:
    """Searches chunks for spans (row, document, start, end, plain)."""

    spans: pl.DataFrame
    least: float = LEAST["span"]
    """The share of a span that a chunk must cover."""
    seen: dict[int, Sightings] = field(default_factory=lambda: defaultdict(Sightings))
    """By target row."""
    reach: dict[str, int] = field(default_factory=dict)
    """The documents of spans that are in the corpus, with the end of the last chunk."""
    unplaced: set[str] = field(default_factory=set)
    """Those of them with a chunk that has no offsets."""

    def add(self, batch: pl.DataFrame) -> set[int]:
        """Search some chunks; return the numbers of those kept as covering a span."""
        named = batch.with_row_index("number").join(
            self.spans.select("document").unique(), on="document", how="semi"
        )
        known = named.group_by("document").agg(
            pl.col("end").max(), pl.col("start").null_count()
        )
        for document, end, without in known.iter_rows():
            self.reach[document] = max(self.reach.get(document, 0), end or 0)
            if without:
                self.unplaced.add(document)
        meeting = named.join(self.spans, on="document", suffix="_span").filter(
            pl.col("start") < pl.col("end_span"), pl.col("end") > pl.col("start_span")
        )
        return {
            row["number"] for row in meeting.iter_rows(named=True) if self._holds(row)
        }

    def _holds(self, row: dict[str, Any]) -> bool:
        start = row["start_span"]
        end = row["end_span"]
        seen = self.seen[row["row"]]
        piece = max(row["start"], start), min(row["end"], end)
        seen.pieces.add(piece)
        if row["plain"] is not None and piece == (start, end):
            there = str(row["text"])[start - row["start"] : end - row["start"]]
            seen.moved = None if normalise(there) == row["plain"] else there
        is_enough = piece[1] - piece[0] >= enough(end - start, self.least)
        return is_enough and seen.hold(str(row["id"]), str(row["document"]))

    def is_placed(self, document: object) -> bool:
        """Whether all chunks of the document have offsets."""
        return document in self.reach and document not in self.unplaced

    def is_split(self, row: int, start: int, end: int) -> bool:
        """Whether chunks cover enough of a span together, and none alone."""
        seen = self.seen.get(row, Sightings())
        return not seen.chunks and size(seen.pieces) >= enough(end - start, self.least)


@dataclass(eq=False)
class CorpusEvidence:
    """Where the corpus contains every target.

    A target is looked up in one way: by id, else by span if the chunks of the corpus have
    offsets, else by quote.
    """

    targets: pl.DataFrame
    """The targets with ``row`` and ``plain``, the normalised quote."""
    items: Counter[str]
    """The number of chunks that have the id of a target."""
    sample: list[str]
    """A few ids of the corpus, as examples beside ids that are not in it."""
    quotes: dict[str, Sightings]
    split: dict[str, str]
    """The quotes that only chunks of one document contain together."""
    spans: SpanEvidence
    chunks: int = 0
    documents_known: bool = False
    """Whether the corpus distinguishes chunks from documents."""
    texts: dict[str, str] = field(default_factory=dict)
    """The texts of chunks that contain a target, by id."""

    @classmethod
    def of(cls, ground_truth: GroundTruth, corpus: Corpus) -> "CorpusEvidence":
        """Search the whole corpus, and again for quotes that no chunk contains alone."""
        targets = with_plain_quotes(ground_truth).with_row_index("row")
        without_id = targets.filter(pl.col("item").is_null())
        spans = without_id.filter(pl.col("start").is_not_null())
        quotes = without_id["plain"].drop_nulls().unique(maintain_order=True)
        evidence = cls(
            targets,
            Counter(),
            [],
            {quote: Sightings() for quote in quotes},
            {},
            SpanEvidence(spans.select("row", "document", "start", "end", "plain")),
        )
        finder = QuoteFinder(tuple(quotes))
        items = set(targets["item"].drop_nulls())
        for batch in corpus.batches():
            evidence._add(batch, items, finder)
        lacking = [
            Quote(quote) for quote, seen in evidence.quotes.items() if not seen.chunks
        ]
        # Chunks that name no document may all belong together.
        together = (
            pl.when("named").then("document").otherwise(pl.lit("")).alias("document")
        )
        evidence.split.update(
            split_quotes(
                lambda: (batch.with_columns(together) for batch in corpus.batches()),
                lacking,
            )
        )
        return evidence

    def _add(self, batch: pl.DataFrame, items: set[str], finder: QuoteFinder) -> None:
        ids, documents, texts = (
            batch[name].to_list() for name in ("id", "document", "text")
        )
        self.chunks += batch.height
        self.sample += ids[: KEPT - len(self.sample)]
        self.documents_known |= bool(batch["named"].any())
        holding = {number for number, name in enumerate(ids) if name in items}
        self.items.update(ids[number] for number in holding)
        if finder.quotes:
            places = Counter(
                (number, quote)
                for number, quote, _ in finder.find([*map(normalise, texts)])
            )
            for (number, quote), times in sorted(places.items()):
                start = batch["start"][number]
                end = batch["end"][number]
                place = None if start is None else (start, end)
                seen = self.quotes[finder.quotes[quote]]
                if seen.hold(ids[number], documents[number], place, times):
                    holding.add(number)
        if self.spans.spans.height:
            holding |= self.spans.add(batch)
        for number in holding:
            self.texts.setdefault(ids[number], texts[number])

    def way(self, row: Row) -> Way:
        """How a target was looked up."""
        if row["item"] is not None:
            return "id"
        placed = row["start"] is not None and self.spans.is_placed(row["document"])
        return "span" if row["plain"] is None or placed else "quote"

    def sightings(self, row: Row) -> Sightings:
        """Where the quote or span of a target was found."""
        if self.way(row) == "span":
            return self.spans.seen.get(int(str(row["row"])), Sightings())
        return self.quotes[str(row["plain"])]

    def is_split(self, row: Row) -> bool:
        """Whether chunks contain the quote or span of a target together, and none alone."""
        if self.way(row) == "span":
            number, start, end = (int(str(row[name])) for name in ("row", "start", "end"))
            return self.spans.is_split(number, start, end)
        return str(row["plain"]) in self.split

    @cached_property
    def held(self) -> list[tuple[str, list[str]]]:
        """The query of each relevant target, and the first chunks that contain it."""
        rows = self.targets.filter(pl.col("grade") > 0).iter_rows(named=True)
        return [(str(row["query"]), self.holders(row)) for row in rows]

    def holders(self, row: Row) -> list[str]:
        """The ids of the first chunks that contain a target."""
        if row["item"] is None:
            return self.sightings(row).holders
        return [str(row["item"])] if self.items[str(row["item"])] else []
