"""Random draws that are the same on every machine.

Only the raw 64-bit output of PCG64 is used, which numpy promises never to change; the methods
built on it (``integers``, ``choice``) carry no such promise. The mapping to indices is own integer
arithmetic, with rejection, so there is no bias either.
"""

from collections.abc import Iterator

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints


class IndexStream:
    """An endless stream of uniform indices below n, the same however it is cut into pieces.

    Each 32-bit half u of a raw word (low half first) becomes the index u * n // 2**32. The few
    u that would make some indices likelier than others (2**32 mod n of them) are passed over.

    >>> stream = IndexStream(6, seed=0)
    >>> pieces = stream.take(2).tolist() + stream.take(3).tolist()
    >>> pieces == IndexStream(6, seed=0).take(5).tolist()
    True
    """

    def __init__(self, n: int, seed: int) -> None:
        if not 0 < n < 1 << 32:
            raise InvalidInput(
                f"The number of values to draw from is out of range: found {n}, "
                "1 to 4294967295 is allowed."
            )
        self._n = np.uint64(n)
        self._skipped_below = (1 << 32) % n
        self._source = raw_source(seed)
        self._waiting = np.empty(0, dtype=np.int64)

    def take(self, count: int) -> Ints:
        """The next `count` indices."""
        while self._waiting.size < count:
            words = (count - self._waiting.size + 1) // 2
            self._waiting = np.concatenate([self._waiting, self._draw(words)])
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    def _draw(self, words: int) -> Ints:
        raw = self._source.random_raw(words).astype("<u8", copy=False)
        products = raw.view("<u4").astype(np.uint64) * self._n
        remainders = products.astype(np.uint32)  # the low half; unsigned casts wrap
        indices = (products >> np.uint64(32)).astype(np.int64)
        if int(remainders.min()) < self._skipped_below:
            indices = indices[remainders >= self._skipped_below]
        return indices


def raw_source(seed: int) -> np.random.PCG64:
    """The generator of raw words for a seed.

    >>> raw_source(0).random_raw(1).tolist()
    [11749869230777074271]
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidInput(
            f"The seed is not usable: found {seed!r}, a whole number from 0 up is allowed."
        )
    return np.random.PCG64(int(seed))


def blocks(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Start and stop of consecutive pieces of at most `size`.

    >>> list(blocks(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, size):
        yield start, min(start + size, total)
