"""A quick test on hashes that leaves few rows for the exact one.

What passes may still be wrong, and is compared in full afterwards; what is held back is certain.
"""

import numpy as np
import polars as pl

from calipers.model.arrays import Hashes, Ints
from calipers.model.hashes import mixed_hashes

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
