"""Some texts that are searched as one, for many short strings at a time.

Every place of the texts is hashed once, by the bytes that stand there; where a hash is that of a
wanted string, the bytes themselves are compared. So a search costs one look at each place,
however many strings are wanted.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calipers.model.arrays import Ints

OCCURRENCES = 16
"""How many places of one seed in one text are looked at; more means a text that repeats itself."""

Seed = tuple[int, str]
"""Start in the quote, and what stands there."""
Hit = tuple[int, int, int]
"""A seed that a text has: start in the quote, start in the text, length."""

_BETWEEN = "\n"
"""What stands between two texts: no normalised text has it."""
_WIDE, _NARROW = 8, 4
_MIX = 0x9E3779B97F4A7C15
_BITS = 16


class Shelf:
    """Some texts, normalised."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._joined = _BETWEEN.join(texts)
        self._bytes = self._joined.encode("utf-8", "surrogatepass")
        self._starts = [0]
        for text in texts[:-1]:
            self._starts.append(self._starts[-1] + len(text) + len(_BETWEEN))
        self._hashed: dict[int, Ints] = {}
        self._found: dict[str, list[tuple[int, int]]] = {}

    def look_for(self, seeds: Iterable[str]) -> None:
        """Find these seeds, too, in one search for all of them."""
        new = [seed for seed in dict.fromkeys(seeds) if seed not in self._found]
        wide, narrow = [one for one in new if len(one) >= _WIDE], [o for o in new if len(o) < _WIDE]
        for some in filter(None, (wide, narrow)):
            places = self._places([seed.encode("utf-8", "surrogatepass") for seed in some])
            self._found.update(zip(some, map(self._held, some, places), strict=True))

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

    def _held(self, seed: str, candidates: list[int]) -> list[tuple[int, int]]:
        """The first places of a seed in each text, as number of the text and place in it."""
        joined, starts = self._joined, self._starts
        held: list[tuple[int, int]] = []
        last, left = -1, 0
        for there in candidates:
            number = bisect_right(starts, there) - 1
            if number != last:
                last, left = number, OCCURRENCES
            if left and joined.startswith(seed, there):
                left -= 1
                held.append((number, there - starts[number]))
        return held

    def _places(self, wanted: list[bytes]) -> list[list[int]]:
        """For each string the characters at which it may stand, in order."""
        width = _WIDE if min(map(len, wanted), default=_WIDE) >= _WIDE else _NARROW
        keys = [int.from_bytes(one[:width], "little") for one in wanted]
        places: dict[int, list[int]] = {key: [] for key in keys}
        if len(self._bytes) >= width:
            marked = np.zeros(1 << _BITS, dtype=np.bool_)
            marked[[_hash(key) for key in keys]] = True
            rows = np.flatnonzero(marked.take(self._hashes(width)))
            at = rows if self._characters is None else self._characters[rows]
            for key, place in zip(self._windows(width)[rows].tolist(), at.tolist(), strict=True):
                if key in places:
                    places[key].append(place)
        return [places[key] for key in keys]

    def _windows(self, width: int) -> npt.NDArray[np.unsignedinteger]:
        """At each byte, that and the next ones as one number."""
        kind = np.dtype(f"<u{width}")
        size = len(self._bytes) - width + 1
        return np.ndarray((size,), dtype=kind, buffer=self._bytes, strides=(1,))

    def _hashes(self, width: int) -> Ints:
        if width not in self._hashed:
            mixed = self._windows(width).astype(np.uint64) * np.uint64(_MIX)
            self._hashed[width] = (mixed >> np.uint64(64 - _BITS)).view(np.int64)
        return self._hashed[width]

    @cached_property
    def _characters(self) -> Ints | None:
        """The character to which each byte belongs; None where each byte is one."""
        if len(self._bytes) == len(self._joined):
            return None
        lead = (np.frombuffer(self._bytes, dtype=np.uint8) & 0xC0) != 0x80
        characters: Ints = np.cumsum(lead) - 1
        return characters


def _hash(key: int) -> int:
    return (key * _MIX & 0xFFFFFFFFFFFFFFFF) >> (64 - _BITS)
