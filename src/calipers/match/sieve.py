"""Quick tests on hashes that leave few rows for the exact ones.

What passes may still be wrong, and is compared in full afterwards; what is held back is certain.
"""

import numpy as np
import polars as pl

from calipers.model.arrays import Hashes, Ints
from calipers.model.ranking import mixed_hashes

_PLACES_PER_TARGET = 32
_FEWEST_BITS, _MOST_BITS = 12, 27


class Sieve:
    """Holds back the rows of a run that belong to no target."""

    def __init__(self, query: pl.Series, item: pl.Series) -> None:
        wanted = (len(item) * _PLACES_PER_TARGET).bit_length()
        bits = min(max(wanted, _FEWEST_BITS), _MOST_BITS)
        self._shift = np.uint64(64 - bits)
        self._marked = np.zeros(1 << bits, dtype=np.bool_)
        hashes = mixed_hashes(query.hash().to_numpy(), item.hash().to_numpy())
        self._marked[(hashes >> self._shift).view(np.int64)] = True

    def passing(self, hashes: Hashes) -> Ints:
        """The rows that may belong to a target."""
        return np.flatnonzero(self._marked[(hashes >> self._shift).view(np.int64)])


def suspected_duplicates(hashes: Hashes) -> Ints:
    """The rows that may occur more than once, none of them missing.

    >>> suspected_duplicates(np.array([7, 8, 7], dtype=np.uint64) << np.uint64(40)).tolist()
    [0, 2]
    """
    # Half the bits sort in half the time, and collide seldom enough.
    upper = (hashes >> np.uint64(32)).astype(np.uint32)
    ordered = np.sort(upper)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not repeated.size:
        return np.empty(0, dtype=np.int64)
    near = np.zeros(1 << 16, dtype=np.bool_)
    near[repeated >> 16] = True
    rows = np.flatnonzero(near[upper >> 16])
    # Now all bits, for the few that are left.
    _, which, counts = np.unique(hashes[rows], return_inverse=True, return_counts=True)
    return rows[counts[which] > 1]
