"""Look up the targets of a ground truth in a streamed corpus."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from calipers.checks.ground_truth import with_plain_quotes
from calipers.checks.versions import superseded, versioned
from calipers.io.corpus import Corpus
from calipers.match.cover import Piece, enough, size
from calipers.match.locate import SEED, QuoteFinder, SeedFinder, positions
from calipers.model.arrays import Hashes
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import LEAST
from calipers.text import normalise

KEPT = 3
"""The most chunks per target that are kept with id and text."""

UNNAMED = ""
"""The document of chunks that do not name one."""


@dataclass(frozen=True, eq=False)
class Chunks:
    """One batch of a corpus: its columns, and the normalised texts."""

    frame: pl.DataFrame

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each chunk."""
        return self.frame["id"].to_list()

    @cached_property
    def documents(self) -> Sequence[str]:
        """The document of each chunk; its own id where none is given."""
        return self.frame["document"].to_list()

    @cached_property
    def together(self) -> Sequence[str]:
        """The group of each chunk: its document, or the whole corpus if none is named."""
        named = self.frame.select(pl.when("named").then("document").otherwise(pl.lit(UNNAMED)))
        return named.to_series().to_list()

    @cached_property
    def texts(self) -> list[str]:
        """The original text of each chunk."""
        return self.frame["text"].to_list()

    @cached_property
    def normalised(self) -> list[str]:
        """The text of each chunk, normalised for comparison with quotes."""
        return [normalise(text) for text in self.texts]

    @cached_property
    def places(self) -> list[tuple[int, int] | None]:
        """Start and end of each chunk in its document; None where unknown."""
        ends = zip(self.frame["start"], self.frame["end"], strict=True)
        return [None if start is None else (start, end) for start, end in ends]


ENOUGH = 0.8
"""The share of a quote that chunks must contain together for it to count as split, not absent:
chunk edges lose spaces and, if no documents are named, pieces shorter than a seed."""
MOST_PLACES = 100
"""The most places of one quote that are recorded; beyond that it is ambiguous anyway."""


@dataclass(eq=False)
class Sightings:
    """Where one quote was found."""

    chunks: int = 0
    """The number of chunks that contain all of it."""
    holders: list[str] = field(default_factory=list)
    """The ids of the first of them."""
    documents: set[str] = field(default_factory=set)
    times: int = 0
    """The most occurrences in a single chunk."""
    places: list[tuple[str, Piece | None]] = field(default_factory=list)
    """Its documents and spans; overlapping chunks count as one."""
    pieces: dict[str, set[Piece]] = field(default_factory=lambda: defaultdict(set))
    """By document, the parts of the quote at the edge of a chunk."""

    def hold(self, chunk: str, document: str, place: Piece | None, times: int = 1) -> bool:
        """Record a chunk that contains the quote; return whether its id is kept."""
        self.chunks += 1
        self.times = max(self.times, times)
        remembered = len(self.holders) < KEPT
        if remembered:
            self.holders.append(chunk)
        if len(self.documents) < MOST_PLACES:
            self.documents.add(document)
        if len(self.places) < MOST_PLACES and not self._knows(document, place):
            self.places.append((document, place))
        return remembered

    def _knows(self, document: str, place: Piece | None) -> bool:
        """Whether the place may be known from an earlier, overlapping chunk."""
        return any(
            document == other and (place is None or there is None or _meet(place, there))
            for other, there in self.places
        )

    def share(self, length: int) -> float:
        """The share of the quote that chunks of one document contain together."""
        best = max((size(pieces) for pieces in self.pieces.values()), default=0)
        return best / length


def _meet(one: Piece, other: Piece) -> bool:
    return one[0] < other[1] and other[0] < one[1]


@dataclass(eq=False)
class QuoteEvidence:
    """Searches chunks for quotes; texts are normalised."""

    quotes: tuple[str, ...]
    seen: dict[int, Sightings] = field(default_factory=lambda: defaultdict(Sightings))
    """By quote number."""

    def __post_init__(self) -> None:
        self._by_beginning: dict[str, list[int]] = defaultdict(list)
        self._by_end: dict[str, list[int]] = defaultdict(list)
        for number, quote in enumerate(self.quotes):
            length = min(SEED, (len(quote) + 1) // 2)
            self._by_beginning[quote[:length]].append(number)
            self._by_end[quote[-length:]].append(number)
        self._seeds = SeedFinder(tuple({**self._by_beginning, **self._by_end}))
        self._longest = max(map(len, self.quotes), default=0)

    def add(self, chunks: Chunks) -> set[int]:
        """Search some chunks; return the numbers of those kept as containing a quote."""
        texts = chunks.normalised
        held: set[tuple[int, int]] = set()
        for number, seed in self._seeds.find(texts):
            for quote in self._by_beginning.get(seed, ()):
                found = self._from_beginning(texts[number], quote, seed)
                if found == len(self.quotes[quote]):
                    held.add((number, quote))
                elif found:
                    self.seen[quote].pieces[chunks.together[number]].add((0, found))
            for quote in self._by_end.get(seed, ()):
                for piece in self._from_end(texts[number], quote, seed):
                    self.seen[quote].pieces[chunks.together[number]].add(piece)
        self._add_inside(chunks)
        return {number for number, quote in sorted(held) if self._hold(chunks, number, quote)}

    def _hold(self, chunks: Chunks, number: int, quote: int) -> bool:
        times = sum(1 for _ in positions(chunks.normalised[number], self.quotes[quote]))
        return self.seen[quote].hold(
            chunks.ids[number], chunks.documents[number], chunks.places[number], times
        )

    def _from_beginning(self, text: str, quote: int, seed: str) -> int:
        """How much of the quote's beginning the text contains: all, or what the text ends with."""
        whole, longest = self.quotes[quote], 0
        for at in positions(text, seed):
            if text.startswith(whole, at):
                return len(whole)
            if len(text) - at < len(whole) and whole.startswith(text[at:]):
                longest = max(longest, len(text) - at)
        return longest

    def _from_end(self, text: str, quote: int, seed: str) -> Iterator[Piece]:
        """The parts of the quote, up to its end, that the text begins with."""
        whole = self.quotes[quote]
        for at in positions(text, seed):
            end = at + len(seed)
            if end >= len(whole):
                return
            if whole.endswith(text[:end]):
                yield len(whole) - end, len(whole)

    def _add_inside(self, chunks: Chunks) -> None:
        """Record chunks so small that they lie inside a quote."""
        small = [
            (number, text)
            for number, text in enumerate(chunks.normalised)
            if SEED <= len(text) < self._longest
        ]
        finder = QuoteFinder(tuple(text for _, text in small))
        for quote, which, at in finder.find(self.quotes):
            number, text = small[which]
            if len(text) < len(self.quotes[quote]):
                pieces = self.seen[quote].pieces[chunks.together[number]]
                pieces.add((at, at + len(text)))

    def unclear(self) -> dict[str, list[int]]:
        """By document, the quotes that were found there only in part so far."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, seen in self.seen.items():
            if not seen.chunks and seen.share(len(self.quotes[number])) < ENOUGH:
                for document in seen.pieces.keys() - {UNNAMED}:
                    found[document].append(number)
        return dict(found)

    def complete(self, chunks: Chunks, unclear: dict[str, list[int]]) -> None:
        """Search the documents of unclear quotes for pieces of any length."""
        for document, text in zip(chunks.together, chunks.normalised, strict=True):
            for number in unclear.get(document, ()):
                self.seen[number].pieces[document].update(edges(self.quotes[number], text))


def edges(quote: str, text: str) -> Iterator[Piece]:
    """The start of the quote that ends the text, and the end of the quote that begins it.

    >>> list(edges("a lock for all", "for all threads a"))
    [(0, 1), (7, 14)]
    """
    most = min(len(quote), len(text))
    end = next((length for length in range(most, 0, -1) if text.endswith(quote[:length])), 0)
    if end:
        yield 0, end
    start = next((length for length in range(most, 0, -1) if text.startswith(quote[-length:])), 0)
    if start:
        yield len(quote) - start, len(quote)
    if text:
        yield from ((at, at + len(text)) for at in positions(quote, text))


@dataclass(eq=False)
class ItemEvidence:
    """Counts the chunks that have the id of a target."""

    items: frozenset[str]
    seen: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    """A few ids of the corpus, as examples beside ids that are not in it."""

    def __post_init__(self) -> None:
        self._wanted = pl.DataFrame({"id": list(self.items)}, schema={"id": pl.String})

    def add(self, chunks: Chunks) -> set[int]:
        """Search some chunks; return the numbers of those that are targets."""
        if len(self.sample) < 3:
            self.sample += chunks.ids[: 3 - len(self.sample)]
        found = chunks.frame.select("id").with_row_index().join(self._wanted, on="id", how="semi")
        self.seen.update(found["id"].to_list())
        return set(found["index"].to_list())


ENOUGH_OF_SPAN = LEAST["span"]
"""The share of a span that a chunk must cover, as in matching by span."""


@dataclass(eq=False)
class SpanSightings:
    """Where one span was found."""

    holders: list[str] = field(default_factory=list)
    """The ids of the first chunks that cover enough of it."""
    pieces: set[Piece] = field(default_factory=set)
    """The parts that chunks cover, in characters of the document."""
    moved: str | None = None
    """The text at the span if it differs from the target's quote."""

    def share(self, start: int, end: int) -> float:
        """The share of the span that the chunks cover together."""
        return size(self.pieces) / (end - start)


@dataclass(eq=False)
class SpanEvidence:
    """Searches chunks for spans (row, document, start, end, plain)."""

    spans: pl.DataFrame
    seen: dict[int, SpanSightings] = field(default_factory=lambda: defaultdict(SpanSightings))
    """By target row."""
    reach: dict[str, int] = field(default_factory=dict)
    """The documents of spans that are in the corpus, with the end of the last chunk."""
    placed: set[str] = field(default_factory=set)
    """Those of them whose chunks all have offsets."""

    def add(self, chunks: Chunks) -> set[int]:
        """Search some chunks; return the numbers of those kept as covering a span."""
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
    """Where the corpus contains every target.

    A target is looked up in one way: by id, else by span if the chunks of the corpus have
    offsets, else by quote.
    """

    targets: pl.DataFrame
    """The targets with ``row`` and ``plain``, the normalised quote."""
    items: ItemEvidence
    quotes: QuoteEvidence
    spans: SpanEvidence
    chunks: int = 0
    documents_known: bool = False
    """Whether the corpus distinguishes chunks from documents."""
    texts: dict[str, str] = field(default_factory=dict)
    """The texts of chunks that contain a target, by id."""
    document_of: dict[str, str] = field(default_factory=dict)
    """Their documents."""
    documents: list[Hashes] = field(default_factory=list)
    """The hashed document of every chunk, by batch."""
    versions: list[pl.DataFrame] = field(default_factory=list)
    """The chunks that name their document version, by batch."""

    @classmethod
    def of(cls, ground_truth: GroundTruth) -> "CorpusEvidence":
        """Empty evidence, before any chunk is read."""
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
        """Search the whole corpus, and once more for quotes that were found in part."""
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
        """How a target was looked up."""
        if row["item"] is not None:
            return "id"
        if row["plain"] is None or (row["start"] is not None and self.knows_places(row)):
            return "span"
        return "quote"

    def knows_places(self, row: Row) -> bool:
        """Whether the chunks of a target's document have offsets."""
        return row["document"] in self.spans.placed

    def sightings(self, row: Row) -> Sightings:
        """Where the quote of a target was found."""
        number = self._number[str(row["plain"])]
        return self.quotes.seen.get(number, Sightings())

    def span_sightings(self, row: Row) -> SpanSightings:
        """Where the span of a target was found."""
        return self.spans.seen.get(int(str(row["row"])), SpanSightings())

    @cached_property
    def several_versions(self) -> pl.DataFrame:
        """The chunks of documents with several versions (see ``superseded``)."""
        return superseded(pl.concat(self.versions))

    @cached_property
    def held(self) -> list[tuple[str, list[str]]]:
        """The query of each relevant target, and the first chunks that contain it."""
        rows = self.targets.filter(pl.col("grade") > 0).iter_rows(named=True)
        return [(str(row["query"]), self.holders(row)) for row in rows]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {quote: number for number, quote in enumerate(self.quotes.quotes)}

    def holders(self, row: Row) -> list[str]:
        """The ids of the first chunks that contain a target."""
        way = self.way(row)
        if way == "id":
            return [str(row["item"])] if self.items.seen[str(row["item"])] else []
        return (self.span_sightings(row) if way == "span" else self.sightings(row)).holders
