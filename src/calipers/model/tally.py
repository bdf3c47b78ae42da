"""What was counted in a run against a ground truth."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from calipers.model.arrays import Ints
from calipers.model.fingerprint import RankingFingerprint

EXAMPLES = 3
"""How many names an error or an audit shows."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of one run against one ground truth, per query and in all."""

    retrieved: Ints
    status: pl.Series
    unknown: int
    unknown_examples: tuple[str, ...]
    duplicates: int
    ties: int
    fingerprint: RankingFingerprint | None
    """Of the run; None where nobody wants it."""
    sample_queries: tuple[str, ...]
    sample_items: tuple[str, ...]
    tied_targets: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows of the ground truth whose rank is a matter of the tie rule."""
    copy_ranks: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Ranks at which an item of the ground truth was returned again."""
