"""One quote, and which pieces of it a text holds."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from calipers.match.cover import Piece
from calipers.match.locate import Seed, Shelf, positions
from calipers.match.similar import (
    ANCHOR,
    fuzzy_library,
    seed_size,
    seeds_of,
    similar_stretches,
)

Pieces = tuple[Piece, ...]
EDGE = 16
"""Characters at the edge of a text by which it is seen whether it may end in half of a
quote."""


class Quote:
    """A normalised quote. Its length and its pieces are counted without spaces.

    Spaces do not count because a chunk that ends at a space does not carry it, and the
    quote would never be whole again.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.length = len(text) - text.count(" ")
        self.whole: tuple[Piece, ...] = ((0, self.length),)
        short = range(1, min(ANCHOR, len(text)))
        self._heads = tuple(text[:n] for n in short)
        self._tails = tuple(text[-n:] for n in short)
        self._edge = min(max(1, len(text) // 2), EDGE)

    def edge_pieces(self, text: str) -> Pieces:
        """The pieces of the quote in a text that does not have all of it.

        They are the longest end of the quote with which the text begins, the longest
        beginning of the quote with which the text ends, and every occurrence of the whole
        text inside the quote. Only one of them can count for one text (see ``Assembly``).

        >>> Quote("a lock for threads").edge_pieces("s. The GIL is a lock for")
        ((0, 8), (14, 15))
        """
        quote = self.text
        pieces = []
        if not text:
            return ()
        if len(text) >= ANCHOR:
            pieces += [(at, at + len(text)) for at in positions(quote, text)]
        if text[:ANCHOR] in quote or text.startswith(self._tails):
            start = _longest_end(quote, text)
            pieces += [(start, len(quote))] if start else []
        if text[-ANCHOR:] in quote or text.endswith(self._heads):
            end = _longest_beginning(quote, text)
            pieces += [(0, end)] if end else []
        return self._without_spaces(sorted(set(pieces)))

    def at_edges(self, tail: int, head: int) -> Pieces:
        """The pieces of a text that has so many characters of the quote's end, and its beginning.

        >>> Quote("a lock for threads").at_edges(tail=3, head=2)
        ((0, 1), (12, 15))
        """
        whole = len(self.text)
        pieces = {(whole - tail, whole)} if tail else set()
        return self._without_spaces(sorted(pieces | ({(0, head)} if head else set())))

    def may_be_cut(self, text: str) -> bool:
        """Whether an edge of the text may be of half of the quote, or the text lies within it.

        Texts that complete a quote hold its beginning or its end, or lie in between, so
        one of them always does.
        """
        return text[: self._edge] in self.text or text[-self._edge :] in self.text

    def is_near(self, text: str) -> bool:
        """Whether the text has all of the quote, or half of it at an edge."""
        pieces = self.whole if self.text in text else self.edge_pieces(text)
        return any(2 * (end - start) >= self.length for start, end in pieces)

    def on_shelf(self, shelf: Shelf, needed: int) -> Iterator[tuple[int, Pieces]]:
        """The numbers of the texts that hold the quote, or a part cut off at their edge, in order.

        Each with the unchanged stretches at its most similar place: ``needed`` characters
        of the quote, or fewer where the quote runs over the edge of the text.
        """
        fuzzy_library()
        if not self.seeds:
            yield from (
                (n, self.whole) for n, text in enumerate(shelf.texts) if self.text in text
            )
            return
        pieces = self._cut_short(shelf)
        for number, hits in shelf.hits(self.seeds).items():
            text = shelf.texts[number]
            if self.text in text:
                pieces[number] = [(0, len(self.text))]
            elif stretches := similar_stretches(self.text, hits, text, needed):
                pieces[number] = stretches
        yield from (
            (number, self._without_spaces(pieces[number])) for number in sorted(pieces)
        )

    def _cut_short(self, shelf: Shelf) -> dict[int, list[Piece]]:
        """Pieces at the edges of texts that are too short for the search by seeds."""
        pieces: dict[int, list[Piece]] = {}
        whole = len(self.text)
        sizes = range(ANCHOR, min(seed_size(self.text), whole))
        for size in sizes:
            for number in shelf.beginning_with(self.text[-size:]):
                pieces.setdefault(number, []).append((whole - size, whole))
        for size in sizes:
            for number in shelf.ending_with(self.text[:size]):
                pieces.setdefault(number, []).append((0, size))
        return pieces

    @cached_property
    def seeds(self) -> list[Seed]:
        """Short stretches of the quote; a text without any of them holds no piece of it."""
        return seeds_of(self.text)

    @cached_property
    def _spaces(self) -> list[int]:
        return [at for at, character in enumerate(self.text) if character == " "]

    def _without_spaces(self, pieces: list[Piece]) -> tuple[Piece, ...]:
        spaces = self._spaces
        return tuple(
            (start - bisect_left(spaces, start), end - bisect_left(spaces, end))
            for start, end in pieces
        )


def near_pairs(quotes: Sequence[Quote], texts: Sequence[str]) -> set[tuple[int, int]]:
    """Which texts hold a quote, half of it at an edge, or lie within it, as pairs of numbers.

    Texts that complete a quote hold its beginning or its end, or lie in between. So one
    of them is always near, and a quote without a near text need not be pieced together.

    >>> sorted(near_pairs([Quote("a lock for threads")], ["lock for threads.", "threads", "other"]))
    [(0, 0), (0, 1)]
    """
    halves = [
        (number, half)
        for number, quote in enumerate(quotes)
        for size in (max(1, len(quote.text) // 2),)
        for half in (quote.text[:size], quote.text[-size:])
    ]
    longest = max((len(quote.text) for quote in quotes), default=0)
    inside = [(n, text) for n, text in enumerate(texts) if ANCHOR <= len(text) <= longest]
    near = {
        (n, text) for n, text in _holding(halves, texts) if quotes[n].is_near(texts[text])
    }
    near.update(
        (quote, n) for n, quote in _holding(inside, [quote.text for quote in quotes])
    )
    return near


def _holding(
    parts: list[tuple[int, str]], texts: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """The number of each part with the numbers of the texts that hold it, in one search."""
    shelf = Shelf(texts)
    shelf.look_for(part for _, part in parts)
    for number, part in parts:
        yield from ((number, n) for n in shelf.hits([(0, part)]))


def _longest_end(quote: str, text: str) -> int:
    """The start of the longest end of the quote with which the text begins; 0 for none."""
    start = max(1, len(quote) - len(text))
    while (start := quote.find(text[0], start)) >= 0:
        if text.startswith(quote[start:]):
            return start
        start += 1
    return 0


def _longest_beginning(quote: str, text: str) -> int:
    """The length of the longest beginning of the quote with which the text ends."""
    end = min(len(quote) - 1, len(text))
    while (at := quote.rfind(text[-1], 0, end)) >= 0:
        if text.endswith(quote[: at + 1]):
            return at + 1
        end = at
    return 0
