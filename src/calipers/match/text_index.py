"""An index over texts to search for many strings at once.

Every position of the texts is hashed once, by the bytes there; where a hash is that of a wanted
string, the characters themselves are compared. So a search costs one lookup per position, however
many strings are wanted.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from calipers.model.arrays import Hashes, Ints

OCCURRENCES = 16
"""How many places of a seed in a text are compared; more means that the text repeats itself."""

Seed = tuple[int, str]
"""Start in the quote, and its characters there."""
Hit = tuple[int, int, int]
"""A seed that a text has: start in the quote, start in the text, length."""

_BETWEEN = "\n"
"""The separator of texts: no normalised text has it."""
_WIDTHS = (12, 8, 4)
"""Bytes by which a string is searched: the largest number that it has."""
_MIX = 0x9E3779B97F4A7C15
_ROOMY = 4
"""Bits beyond those needed to number the wanted strings, so that false positives are few."""


class Shelf:
    """Normalised texts, indexed for search."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._joined = _BETWEEN.join(texts)
        self._bytes = self._joined.encode("utf-8", "surrogatepass")
        self._starts = [0]
        for text in texts[:-1]:
            self._starts.append(self._starts[-1] + len(text) + len(_BETWEEN))
        self._hashed: dict[int, Hashes] = {}
        self._found: dict[str, Sequence[tuple[int, int]]] = {}

    def look_for(self, seeds: Iterable[str]) -> None:
        """Search for these seeds, all at once; each has four bytes or more."""
        by_width: dict[int, list[str]] = {}
        for seed in dict.fromkeys(seeds):
            if seed not in self._found:
                size = len(seed)
                if size < _WIDTHS[0]:
                    size = len(seed.encode("utf-8", "surrogatepass"))
                width = next(width for width in _WIDTHS if width <= size)
                by_width.setdefault(width, []).append(seed)
        for width, some in by_width.items():
            self._found.update(dict.fromkeys(some, ()))
            for seed, places in self._places(some, width):
                self._found[seed] = self._positions(seed, places)

    def hits(self, seeds: Sequence[Seed]) -> dict[int, list[Hit]]:
        """By the number of the text, the seeds that it has, in the order of the seeds.

        >>> Shelf(["so", "a lock", "for locks"]).hits([(0, "a lo"), (2, "lock")])
        {1: [(0, 0, 4), (2, 2, 4)], 2: [(2, 4, 4)]}
        """
        self.look_for(seed for _, seed in seeds)
        found: dict[int, list[Hit]] = {}
        for at, seed in seeds:
            for number, there in self._found[seed]:
                found.setdefault(number, []).append((at, there, len(seed)))
        return found

    def _positions(self, seed: str, candidates: list[int]) -> list[tuple[int, int]]:
        """The first positions of a seed in each text, as number of the text and position in it."""
        joined, starts = self._joined, self._starts
        found: list[tuple[int, int]] = []
        last, left = -1, 0
        for there in candidates:
            number = bisect_right(starts, there) - 1
            if number != last:
                last, left = number, OCCURRENCES
            if left and joined.startswith(seed, there):
                left -= 1
                found.append((number, there - starts[number]))
        return found

    def _places(self, wanted: list[str], width: int) -> Iterator[tuple[str, list[int]]]:
        """The strings that may occur, each with its candidate positions in order."""
        if len(self._bytes) < width:
            return
        hashes = self._hashes(width)
        begins = (one.encode("utf-8", "surrogatepass")[:width] for one in wanted)
        keys, which = np.unique(_hashed(b"".join(begins), width)[::width], return_inverse=True)
        shift = np.uint64(64 - max(16, len(keys).bit_length() + _ROOMY))
        marked = np.zeros(1 << (64 - int(shift)), dtype=np.bool_)
        marked[keys >> shift] = True
        rows = np.flatnonzero(marked.take((hashes >> shift).view(np.int64)))
        key = np.minimum(np.searchsorted(keys, hashes[rows]), len(keys) - 1)
        same = keys[key] == hashes[rows]
        rows, key = rows[same], key[same]
        order = np.argsort(key, kind="stable")
        at = (rows if self._characters is None else self._characters[rows])[order]
        ends = np.searchsorted(key[order], np.arange(len(keys) + 1))
        for number in np.flatnonzero(np.diff(ends)[which]).tolist():
            one = which[number]
            yield wanted[number], at[ends[one] : ends[one + 1]].tolist()

    def _hashes(self, width: int) -> Hashes:
        if width not in self._hashed:
            self._hashed[width] = _hashed(self._bytes, width)
        return self._hashed[width]

    @cached_property
    def _characters(self) -> Ints | None:
        """The character to which each byte belongs; None where each byte is one."""
        if len(self._bytes) == len(self._joined):
            return None
        lead = (np.frombuffer(self._bytes, dtype=np.uint8) & 0xC0) != 0x80
        characters: Ints = np.cumsum(lead) - 1
        return characters


def _hashed(text: bytes, width: int) -> Hashes:
    """A hash of the ``width`` bytes from each byte on."""
    size = len(text) - width + 1

    def windows(kind: str, first: int) -> Hashes:
        found = np.ndarray((size,), dtype=kind, buffer=text, offset=first, strides=(1,))
        mixed = found.astype(np.uint64)
        mixed *= np.uint64(_MIX)
        return mixed

    if width == 4:
        return windows("<u4", 0)
    hashed = windows("<u8", 0)
    if width == 12:
        hashed ^= windows("<u4", 8)
    return hashed
