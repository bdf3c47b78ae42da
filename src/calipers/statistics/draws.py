"""Random draws that are the same on every machine.

Only the raw 64-bit output of PCG64 is used, which numpy promises never to change; the methods
built on it (``integers``, ``choice``) carry no such promise.
"""

import numpy as np
from numpy.typing import NDArray

from calipers.errors import InvalidInput

WORDS = 1 << 16


def words(rows: int, columns: int, seed: int) -> NDArray[np.uint16]:
    """Random whole numbers below WORDS; with more rows, the first ones stay as they are.

    Each raw word gives four, the low bits first.

    >>> words(1, 4, seed=0).tolist()
    [[33375, 55746, 60367, 41743]]
    """
    source, count = _source(seed), rows * columns
    raw = source.random_raw((count + 3) // 4).astype("<u8", copy=False)
    return raw.view("<u2")[:count].reshape(rows, columns)


def _source(seed: int) -> np.random.PCG64:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InvalidInput(
            f"The seed is not usable: found {seed!r}, a whole number from 0 up is allowed."
        )
    return np.random.PCG64(int(seed))
