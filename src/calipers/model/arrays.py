"""The numpy types the nouns and the kernels share."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Hashes: TypeAlias = NDArray[np.uint64]


def frozen_array(values: Floats) -> Floats:
    """The same values, read-only, so that no result can be changed after the fact."""
    view = values.view()
    view.flags.writeable = False
    return view


LARGEST = (1 << 63) - 1


def too_large(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The sentence about the first whole number beyond 64 bits.

    >>> too_large(("start", "end"), [(0, 1 << 70)])
    'A number is too large: found the end 1180591620717411303424; a place in a text and a count \
are at most 9223372036854775807.'
    """
    name, value = next(
        (name, value)
        for row in rows
        for name, value in zip(names, row, strict=True)
        if isinstance(value, int) and abs(value) > LARGEST
    )
    return (
        f"A number is too large: found the {name} {value!r:.40}; a place in a text and a count are "
        f"at most {LARGEST}."
    )
