"""Which results hold a quote word for word, alone or piece by piece.

A few quotes and results are compared each with each. Of many, where that would take the
product of both, only those are compared that an index finds: by the first characters of the
quotes, and by those with which the texts begin and end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from calipers.match.cover import Assembly, size
from calipers.match.locate import SEED, SeedFinder
from calipers.match.quote import Quote
from calipers.match.similar import ANCHOR

Result = tuple[int, str | None, str]
"""Rank, document where known, normalised text; the texts of a query are all different."""

MANY_QUOTES = 32
MANY_RESULTS = 64
"""From so many of each on an index takes less time than each with each."""


def verbatim_ranks(
    quotes: Sequence[Quote], results: Sequence[Result], *, together: bool
) -> Iterator[list[int]]:
    """For each quote the ranks that hold it, and any earlier one that completes it from pieces.

    >>> results = [(1, None, "The GIL is a"), (2, None, "lock."), (3, None, "It is a lock.")]
    >>> quotes = [Quote("is a lock"), Quote("thread")]
    >>> list(verbatim_ranks(quotes, results, together=True))
    [[2, 3], []]
    >>> list(verbatim_ranks(quotes, results, together=False))
    [[3], []]
    """
    if len(quotes) < MANY_QUOTES or len(results) < MANY_RESULTS:
        for quote in quotes:
            held = [rank for rank, _, text in results if quote.text in text]
            if together:
                held = [*_completing(quote, _above(results, held)), *held]
            yield held
        return
    holding = _holding(quotes, results)
    index = EdgeIndex(results)
    for quote in quotes:
        held = [results[number][0] for number in holding[quote.text]]
        if together:
            above = holding[quote.text][0] if held else len(results)
            held = [*index.completing(quote, above), *held]
        yield held


def _above(results: Sequence[Result], held: list[int]) -> Sequence[Result]:
    """The results above the first rank that has the whole quote: pieces matter only there."""
    return [result for result in results if result[0] < held[0]] if held else results


def _completing(quote: Quote, results: Sequence[Result]) -> Iterator[int]:
    """The rank at which pieces of one source are the whole quote, if there is one."""
    sources = {source for _, source, text in results if quote.may_be_cut(text)}
    among = (result for result in results if result[1] in sources)
    return _completed(quote, among if sources else ())


def _completed(quote: Quote, results: Iterable[Result]) -> Iterator[int]:
    assemblies: dict[str | None, Assembly] = {}
    for rank, source, text in results:
        pieces = quote.edge_pieces(text)
        if pieces and assemblies.setdefault(source, Assembly(quote.length)).add(pieces):
            yield rank
            return


def _holding(quotes: Sequence[Quote], results: Sequence[Result]) -> dict[str, list[int]]:
    """By the text of each quote, the numbers of the results that hold it, in order."""
    texts = [text for *_, text in results]
    holding: dict[str, list[int]] = {}
    by_seed: dict[str, list[str]] = {}
    for quote in dict.fromkeys(quote.text for quote in quotes):
        holding[quote] = [] if quote else [*range(len(texts))]
        if quote:
            by_seed.setdefault(quote[:SEED], []).append(quote)
    for number, seed in SeedFinder(tuple(by_seed)).find(texts):
        for quote in by_seed[seed]:
            if quote in texts[number]:
                holding[quote].append(number)
    return holding


WIDEST = 16
"""With how many characters a text is looked up, where a piece has so many; else 8 or 4."""


@dataclass(frozen=True, eq=False)
class EdgeIndex:
    """The texts of one query by the characters with which they begin and end."""

    results: Sequence[Result]

    def completing(self, quote: Quote, above: int) -> Iterator[int]:
        """The rank at which pieces of one source are the whole quote, if there is one.

        Only the results before the number ``above`` are looked at.
        """
        if len(quote.text) < 2 * ANCHOR:
            yield from _completing(quote, self.results[:above])
            return
        by_source: dict[str | None, list[int]] = {}
        for number in self._with_a_piece(quote.text):
            if number < above:
                by_source.setdefault(self.results[number][1], []).append(number)
        chosen: list[int] = []
        for source, numbers in by_source.items():
            if self._may_complete(quote, numbers):
                tiny = self._with_tiny_pieces(quote, source, above, {*numbers})
                chosen += (*numbers, *tiny)
        yield from _completed(quote, (self.results[number] for number in sorted(chosen)))

    def _with_a_piece(self, quote: str) -> set[int]:
        """The texts that hold a piece of at least ``ANCHOR`` characters, by number."""
        found: set[int] = set()
        whole = len(quote)
        for at in range(whole - ANCHOR + 1):
            for number in self._heads.get(quote[at : at + _width(whole - at)], ()):
                text = self.results[number][2]
                if text.startswith(quote[at:]) or quote.startswith(text, at):
                    found.add(number)
            for length in self._short_lengths:
                found.update(self._short.get(quote[at : at + length], ()))
        for end in range(ANCHOR, whole + 1):
            for number in self._tails.get(quote[end - _width(end) : end], ()):
                if self.results[number][2].endswith(quote[:end]):
                    found.add(number)
        return found

    def _may_complete(self, quote: Quote, numbers: Iterable[int]) -> bool:
        """Whether these texts hold all of the quote but what tiny pieces at its ends may add."""
        tiny = ANCHOR - 1
        pieces = [(0, tiny), (quote.length - tiny, quote.length)]
        for number in numbers:
            pieces += quote.edge_pieces(self.results[number][2])
        return size(pieces) >= quote.length

    def _with_tiny_pieces(
        self, quote: Quote, source: str | None, above: int, known: set[int]
    ) -> Iterator[int]:
        """The first texts of a source that hold nothing but tiny pieces, of each kind.

        A text more with the same pieces changes nothing (see ``Assembly``), and there are
        fifteen kinds: by how many characters the quote and the text overlap at either edge.
        """
        for tail, head in product(range(ANCHOR), repeat=2):
            edges = quote.text[len(quote.text) - tail :], quote.text[:head]
            pieces = quote.at_edges(tail, head)
            left = len(pieces)
            for number in self._tiny.get((source, *edges), ()) if pieces else ():
                if number >= above:
                    break
                if (
                    number in known
                    or quote.edge_pieces(self.results[number][2]) != pieces
                ):
                    continue
                yield number
                left -= 1
                if not left:
                    break

    @cached_property
    def _heads(self) -> dict[str, list[int]]:
        return self._by_edge(lambda text, size: text[:size])

    @cached_property
    def _tails(self) -> dict[str, list[int]]:
        return self._by_edge(lambda text, size: text[-size:])

    def _by_edge(self, edge: Callable[[str, int], str]) -> dict[str, list[int]]:
        by_edge: dict[str, list[int]] = {}
        for number, (*_, text) in enumerate(self.results):
            for width in (ANCHOR, 2 * ANCHOR, WIDEST):
                if len(text) >= width:
                    by_edge.setdefault(edge(text, width), []).append(number)
        return by_edge

    @cached_property
    def _short(self) -> dict[str, list[int]]:
        """The texts that are too short to be looked up with the widest window, each whole."""
        return {
            text: [number]
            for number, (*_, text) in enumerate(self.results)
            if ANCHOR <= len(text) < WIDEST
        }

    @cached_property
    def _short_lengths(self) -> list[int]:
        return sorted({len(text) for text in self._short})

    @cached_property
    def _tiny(self) -> dict[tuple[str | None, str, str], list[int]]:
        """By source and the first and last few characters, the texts, in order."""
        by_edges: dict[tuple[str | None, str, str], list[int]] = {}
        for number, (_, source, text) in enumerate(self.results):
            sizes = range(min(ANCHOR, len(text) + 1))
            for head, tail in product(sizes, repeat=2):
                edges = text[:head], text[len(text) - tail :]
                by_edges.setdefault((source, *edges), []).append(number)
        return by_edges


def _width(characters: int) -> int:
    """With how many characters a piece of so many is looked up.

    >>> [_width(n) for n in (4, 7, 8, 15, 16, 100)]
    [4, 4, 8, 8, 16, 16]
    """
    if characters >= WIDEST:
        return WIDEST
    return 2 * ANCHOR if characters >= 2 * ANCHOR else ANCHOR
