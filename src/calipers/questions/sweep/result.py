"""Every metric over k, and the k to use."""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any, ClassVar

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.recorded import Recorded
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval, with_version
from calipers.questions.recall_advice import RecallAdvice
from calipers.questions.tokens import TokenUse


@dataclass(frozen=True)
class SweepValue:
    """The mean of one metric at one k."""

    mean: float | None
    interval: Interval | None


@dataclass(frozen=True)
class SweepPoint:
    """Everything at one k."""

    k: int
    values: Mapping[str, SweepValue]
    """By the name of the metric without its cut-off."""
    tokens: TokenUse | None


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Plain, HasRows):
    """A sweep over k, with advice."""

    shown_by: ClassVar[str] = "calipers.questions.sweep.document"
    dict_keys: ClassVar[str] = (
        "queries n depth metrics advice token_source points fingerprints settings"
    )

    points: tuple[SweepPoint, ...]
    metrics: tuple[str, ...]
    queries: int
    n: int
    """The number of queries for which recall is defined."""
    depth: int
    """The longest list of results."""
    recall: RecallAdvice | None
    token_source: str | None
    fingerprints: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def recorded(self) -> Recorded:
        """The settings that this was made with, typed."""
        return Recorded(self.settings)

    def at(self, k: int) -> SweepPoint:
        """The point at one k."""
        for point in self.points:
            if point.k == k:
                return point
        looked = ", ".join(str(point.k) for point in self.points)
        raise InvalidInput(f"This sweep has no k = {short(k)}; it looked at {looked}.")

    @property
    def advice(self) -> dict[str, RecallAdvice | None]:
        """The advised k by criterion."""
        return {"recall": self.recall}

    def to_dict(self) -> dict[str, Any]:
        """The whole sweep as plain values: what ``--json`` prints."""
        return with_version(super().to_dict())
