"""Find many quotes in many texts at once.

Each quote is looked for by its first few characters, all quotes in one pass over a text
(Aho-Corasick, as polars has it); where those stand, the rest is compared. So the time hardly
grows with the number of quotes, and a long quote costs no more than a short one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from calipers.match.mapped_text import MappedText
from calipers.text import normalise

SEED = 16
"""Characters by which a quote is first recognised."""


@dataclass(frozen=True, eq=False)
class SeedFinder:
    """Where any of a set of short strings stands in texts."""

    seeds: tuple[str, ...]

    @cached_property
    def _patterns(self) -> pl.Expr:
        return pl.lit(pl.Series(self.seeds, dtype=pl.String)).implode()

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Each text, by its number, with each seed that it holds, once.

        >>> sorted(SeedFinder(("ab", "b")).find(["cab", "c", "bb"]))
        [(0, 'ab'), (0, 'b'), (2, 'b')]
        """
        if not self.seeds or not texts:
            return
        frame = pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_row_index("number")
        held = frame.select(
            "number",
            seed=pl.col("text").str.extract_many(self._patterns, overlapping=True).list.unique(),
        )
        yield from held.explode("seed").drop_nulls("seed").iter_rows()


@dataclass(frozen=True, eq=False)
class QuoteFinder:
    """Where any of a set of quotes stands in texts; quotes and texts are normalised already."""

    quotes: tuple[str, ...]

    @cached_property
    def by_seed(self) -> dict[str, list[int]]:
        """The quotes that begin with each seed, by number."""
        found: dict[str, list[int]] = {}
        for number, quote in enumerate(self.quotes):
            if quote:
                found.setdefault(quote[:SEED], []).append(number)
        return found

    @cached_property
    def _seeds(self) -> SeedFinder:
        return SeedFinder(tuple(self.by_seed))

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Every place: number of the text, number of the quote, position in the text.

        Places may overlap: "aa" stands twice in "aaa".

        >>> list(QuoteFinder(("a lock", "is")).find(["this is a lock"]))
        [(0, 1, 2), (0, 1, 5), (0, 0, 8)]
        """
        places = (
            (number, quote, at)
            for number, seed in self._seeds.find(texts)
            for at in positions(texts[number], seed)
            for quote in self.by_seed[seed]
            if texts[number].startswith(self.quotes[quote], at)
        )
        # In order of appearance within a text; texts come in order already.
        yield from sorted(places, key=lambda place: (place[0], place[2], place[1]))


def positions(text: str, part: str) -> Iterator[int]:
    """Every position of a part in a text, overlapping ones too.

    >>> list(positions("aaa", "aa"))
    [0, 1]
    """
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def locate(originals: Sequence[str], finder: QuoteFinder) -> Iterator[tuple[int, int, int, int]]:
    """Every place of every quote in texts as they are.

    Number of the text, number of the quote, start and end in characters of the original text.

    >>> finder = QuoteFinder((normalise("is a lock"),))
    >>> list(locate(["The GIL  is\\r\\na  lock."], finder))
    [(0, 0, 9, 20)]
    """
    mapped: tuple[int, MappedText] | None = None
    for number, quote, at in finder.find([normalise(text) for text in originals]):
        # The map costs far more than the search, so only texts that hold a quote get one.
        if mapped is None or mapped[0] != number:
            mapped = number, MappedText.of(originals[number])
        start, end = mapped[1].span(at, at + len(finder.quotes[quote]))
        yield number, quote, start, end
