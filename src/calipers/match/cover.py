"""How much of a target the ranks so far cover, and at which ranks that is enough."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

Piece = tuple[int, int]
"""Start and end within the target; the end is not part of it."""


@dataclass(frozen=True)
class Sighting:
    """What one rank shows of a target."""

    rank: int
    source: str | None
    """The document of the chunk, None where it is not known."""
    pieces: tuple[Piece, ...]


def union(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces without overlaps, in order.

    >>> union([(5, 8), (0, 3), (2, 4)])
    [(0, 4), (5, 8)]
    """
    merged: list[Piece] = []
    for start, end in sorted(pieces):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def size(pieces: Iterable[Piece]) -> int:
    """The size that the pieces cover, with overlaps counted once.

    >>> size([(0, 3), (2, 4)])
    4
    """
    return sum(end - start for start, end in union(pieces))


@dataclass(eq=False)
class Cover:
    """A growing union of pieces: each is put where it belongs, without a look at all others.

    >>> cover = Cover()
    >>> cover.add([(5, 8), (0, 3), (2, 4)]), cover.size
    (None, 7)
    """

    size: int = 0
    """The size that the pieces cover, with overlaps counted once."""
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)

    def add(self, pieces: Iterable[Piece]) -> None:
        """Add some pieces; those that touch become one."""
        for start, end in pieces:
            if end <= start:
                continue
            first = bisect_left(self._ends, start)
            last = bisect_right(self._starts, end)
            met = slice(first, last)
            begin = min([start, *self._starts[met]])
            finish = max([end, *self._ends[met]])
            self.size += finish - begin - sum(self._ends[met]) + sum(self._starts[met])
            self._starts[met] = [begin]
            self._ends[met] = [finish]


def enough(length: int, least: float) -> int:
    """The share ``least`` of a target of that length, rounded up to whole characters.

    Whole, so that 0.8 of 10 is 8 and not a rounding error more.

    >>> enough(10, 0.8), enough(3, 0.5)
    (8, 2)
    """
    return max(1, math.ceil(least * length - 1e-9))


def holding_ranks(
    sightings: Iterable[Sighting], length: int, least: float, *, together: bool
) -> list[tuple[int, float]]:
    """The ranks that hold a target of that length, each with the share held so far.

    A rank holds the target if it shows at least the share ``least`` by itself, or if it is
    the one with which the ranks so far reach that share ``together``. Pieces complete each
    other only within one document, as far as documents are known. Sightings come in rank order.

    >>> halves = [Sighting(1, None, ((0, 5),)), Sighting(4, None, ((5, 10),))]
    >>> holding_ranks(halves, 10, 1.0, together=True)
    [(4, 1.0)]
    >>> holding_ranks(halves, 10, 1.0, together=False)
    []
    """
    needed = enough(length, least)
    covered: dict[str | None, Cover] = {}
    held: list[tuple[int, float]] = []
    most = 0
    for sighting in sightings:
        alone = size(sighting.pieces)
        so_far = alone
        if together:
            cover = covered.setdefault(sighting.source, Cover())
            cover.add(sighting.pieces)
            so_far = cover.size
        most = max(most, so_far)
        if alone >= needed or (not held and so_far >= needed):
            held.append((sighting.rank, most / length))
    return held


STEPS = 1000
"""How many pieces are tried before a target counts as incomplete."""


@dataclass(eq=False)
class Assembly:
    """Texts that together cover a target; each contributes one piece.

    A text with two pieces, at its two edges, has one of them by chance: together they would make
    up a target that is not there. The other texts decide which piece counts.

    >>> both_edges, rest = ((0, 5), (9, 10)), ((5, 10),)
    >>> alone, together = Assembly(10), Assembly(10)
    >>> alone.add(((0, 5), (5, 10))), together.add(both_edges), together.add(rest)
    (False, False, True)
    """

    length: int
    _covered: list[Piece] = field(default_factory=list)
    _shown: Counter[tuple[Piece, ...]] = field(default_factory=Counter)

    def add(self, pieces: tuple[Piece, ...]) -> bool:
        """Add the pieces of one more text; return whether the target is complete."""
        self._covered = union([*self._covered, *pieces])
        # More texts with the same pieces could not all be used.
        self._shown[pieces] = min(self._shown[pieces] + 1, len(pieces))
        if size(self._covered) < self.length:
            return False
        return self._completes(0, Counter(self._shown), iter(range(STEPS)))

    def _completes(
        self, reach: int, left: Counter[tuple[Piece, ...]], steps: Iterator[int]
    ) -> bool:
        """Whether the remaining texts cover the rest after ``reach``; long pieces come first."""
        if reach >= self.length:
            return True
        further = sorted(
            (
                (end, pieces)
                for pieces in +left
                for start, end in pieces
                if start <= reach < end
            ),
            reverse=True,
        )
        for end, pieces in further:
            if next(steps, None) is None:
                return False
            left[pieces] -= 1
            if self._completes(end, left, steps):
                return True
            left[pieces] += 1
        return False
