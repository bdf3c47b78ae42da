"""Nearest neighbours, and how many of them an approximate index finds."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calipers.model.arrays import Ints
from calipers.model.result import Plain


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest vectors of each query, best first; equal scores stand in order of number."""

    ids: Ints
    """One row per query: row numbers among the vectors."""
    scores: NDArray[np.float32]
    """Cosine or dot product; for euclidean the negative distance, so that higher is nearer."""


@dataclass(frozen=True)
class IndexRecall(Plain):
    """The recall of one index at one cut-off, against exact search."""

    dict_keys: ClassVar[str] = (
        "name k recall worst perfect queries queries_per_second speedup per_query"
    )

    name: str
    k: int
    recall: float
    """Mean share of the exact first k that are among the first k of the index."""
    worst: float
    """The lowest share of any query."""
    perfect: float
    """Share of the queries for which nothing is missing."""
    queries: int
    per_query: tuple[float, ...] = field(repr=False)
    queries_per_second: float | None = None
    speedup: float | None = None
    """How many times faster than exact search, where both were timed."""
