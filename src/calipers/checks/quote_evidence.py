"""Chunks on their way through an audit, and which of them hold which quotes: whole, or cut."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from calipers.match.cover import Piece, size
from calipers.match.locate import SEED, QuoteFinder, SeedFinder, positions
from calipers.text import normalise

KEPT = 3
"""How many of the chunks that hold a target are remembered by name and text."""

UNNAMED = ""
"""The document of chunks that name none."""


@dataclass(frozen=True, eq=False)
class Chunks:
    """One batch of a corpus: with its columns, and the texts as they are compared."""

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
        """What each chunk belongs to: its document; the whole corpus where none is named."""
        named = self.frame.select(pl.when("named").then("document").otherwise(pl.lit(UNNAMED)))
        return named.to_series().to_list()

    @cached_property
    def texts(self) -> list[str]:
        """The text of each chunk as the corpus has it."""
        return self.frame["text"].to_list()

    @cached_property
    def normalised(self) -> list[str]:
        """The text of each chunk as it is compared with quotes."""
        return [normalise(text) for text in self.texts]

    @cached_property
    def places(self) -> list[tuple[int, int] | None]:
        """Start and end of each chunk in its document, None where they are not known."""
        ends = zip(self.frame["start"], self.frame["end"], strict=True)
        return [None if start is None else (start, end) for start, end in ends]


ENOUGH = 0.8
"""The share of a quote that chunks must hold together for it to count as split, not as absent:
the edges of chunks lose spaces, and where no documents are named, pieces shorter than a seed."""
MOST_PLACES = 100
"""Places of one quote that are told apart; beyond that it is ambiguous anyway."""


@dataclass(eq=False)
class Sightings:
    """Where one quote was seen."""

    chunks: int = 0
    """Chunks that hold all of it."""
    holders: list[str] = field(default_factory=list)
    """The first of them, by id."""
    documents: set[str] = field(default_factory=set)
    times: int = 0
    """How often it stands in one chunk, in that which has it most often."""
    places: list[tuple[str, Piece | None]] = field(default_factory=list)
    """Documents and stretches in which it stands; overlapping chunks are one stretch."""
    pieces: dict[str, set[Piece]] = field(default_factory=lambda: defaultdict(set))
    """By document, the parts of the quote that stand at the edge of a chunk."""

    def hold(self, chunk: str, document: str, place: Piece | None, times: int = 1) -> bool:
        """A chunk holds the quote; whether it is one of those that are remembered."""
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
        """Whether it may be the place of an earlier chunk, as chunks overlap."""
        return any(
            document == other and (place is None or there is None or _meet(place, there))
            for other, there in self.places
        )

    def share(self, length: int) -> float:
        """The share of the quote that chunks of one document hold together."""
        best = max((size(pieces) for pieces in self.pieces.values()), default=0)
        return best / length


def _meet(one: Piece, other: Piece) -> bool:
    return one[0] < other[1] and other[0] < one[1]


@dataclass(eq=False)
class QuoteEvidence:
    """Looks for quotes in chunk after chunk; texts are normalised."""

    quotes: tuple[str, ...]
    seen: dict[int, Sightings] = field(default_factory=lambda: defaultdict(Sightings))
    """By the number of the quote."""

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
        """Look at some chunks; the numbers of those that are remembered as holding a quote."""
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
        """How much of the quote, from its beginning, the text holds: all, or up to its end."""
        whole, longest = self.quotes[quote], 0
        for at in positions(text, seed):
            if text.startswith(whole, at):
                return len(whole)
            if len(text) - at < len(whole) and whole.startswith(text[at:]):
                longest = max(longest, len(text) - at)
        return longest

    def _from_end(self, text: str, quote: int, seed: str) -> Iterator[Piece]:
        """The end of the quote where the text begins with it."""
        whole = self.quotes[quote]
        for at in positions(text, seed):
            end = at + len(seed)
            if end >= len(whole):
                return
            if whole.endswith(text[:end]):
                yield len(whole) - end, len(whole)

    def _add_inside(self, chunks: Chunks) -> None:
        """Chunks so small that they lie inside a quote."""
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
        """By document, the quotes of which only a part was seen there so far."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, seen in self.seen.items():
            if not seen.chunks and seen.share(len(self.quotes[number])) < ENOUGH:
                for document in seen.pieces.keys() - {UNNAMED}:
                    found[document].append(number)
        return dict(found)

    def complete(self, chunks: Chunks, unclear: dict[str, list[int]]) -> None:
        """Look in the documents of unclear quotes for pieces of any length."""
        for document, text in zip(chunks.together, chunks.normalised, strict=True):
            for number in unclear.get(document, ()):
                self.seen[number].pieces[document].update(edges(self.quotes[number], text))


def edges(quote: str, text: str) -> Iterator[Piece]:
    """The beginning of the quote with which the text ends, its end with which the text begins.

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
