"""The numpy types the nouns and the kernels share."""

from typing import TypeAlias

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
