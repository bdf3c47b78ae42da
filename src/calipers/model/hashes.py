"""Hashes that tell most different things apart at once; equal ones are compared in full.

They are good within one process: the library does not promise the same ones tomorrow.
"""

import numpy as np

from calipers.model.arrays import Hashes, Ints


def mixed_hashes(of_query: Hashes, of_item: Hashes) -> Hashes:
    """One hash from two."""
    return of_item ^ (of_query * np.uint64(0x9E3779B97F4A7C15))


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
