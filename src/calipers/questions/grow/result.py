"""What is found in a corpus of another size."""

from collections.abc import Mapping
from typing import Any, ClassVar

from calipers.frozen import dataclass
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval, with_version

FEWEST = 20
"""Below so many queries nothing is projected."""
WIDEST = 0.2
"""The widest interval that is shown."""


@dataclass(frozen=True)
class GrowthValue:
    """The mean of one metric in a corpus of another size."""

    times: float
    """The size of the corpus, as a multiple of the one that was searched."""
    metric: str
    mean: float
    low: float
    high: float
    printed: bool
    """Whether it is sure enough to be shown."""
    reason: str | None = None
    """What it needs to be shown; None where it is."""


@dataclass(frozen=True)
class TodayValue:
    """The mean of one metric in the corpus that was searched."""

    metric: str
    mean: float
    interval: Interval | None


@dataclass(frozen=True)
class GrowthSlice:
    """The same for the queries of one slice."""

    by: str
    value: str
    queries: int
    today: tuple[TodayValue, ...]
    growth: tuple[GrowthValue, ...]


@dataclass(frozen=True)
class NeededK:
    """The k that finds as much in the larger corpus as a smaller one does today."""

    times: float
    metric: str
    k: int | None
    """None where no k up to ``most`` does."""
    most: int


@dataclass(frozen=True, eq=False, repr=False)
class Growth(Plain, HasRows):
    """How much is found when the corpus has other sizes."""

    shown_by: ClassVar[str] = "calipers.questions.grow.document"
    dict_keys: ClassVar[str] = (
        "queries n corpus_size by_documents today leads growth needed_k slices notes fingerprints "
        "settings"
    )

    queries: int
    n: int
    """The number of queries (or clusters) for which the metrics are defined."""
    corpus_size: int | None
    """Documents or items in the corpus that was searched, where it is known."""
    by_documents: bool
    """Whether competitors were counted by document, as one may have several results."""
    today: tuple[TodayValue, ...]
    leads: GrowthValue | None
    """The value of the first sentence; None where none is sure enough to be shown."""
    growth: tuple[GrowthValue, ...]
    """One for each size and metric; empty below 20 queries."""
    needed_k: NeededK | None
    slices: tuple[GrowthSlice, ...]
    notes: tuple[str, ...]
    fingerprints: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def times(self) -> tuple[float, ...]:
        """The sizes, rising."""
        return tuple(dict.fromkeys(row.times for row in self.growth))

    def at(self, times: float, metric: str) -> GrowthValue:
        """The value of one metric at one size."""
        return next(
            row for row in self.growth if (row.times, row.metric) == (times, metric)
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole answer as plain values: what ``--json`` prints."""
        return with_version(super().to_dict())
