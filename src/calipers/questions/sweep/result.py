"""Every metric over k, and the k to use."""

from collections.abc import Mapping
from reprlib import repr as short
from typing import Any, ClassVar

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.model.claim import Claim, QueriesToDetect
from calipers.model.recorded import Recorded
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval, with_version
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


@dataclass(frozen=True, kw_only=True)
class RecallAdvice:
    """The smallest k that keeps recall: the best guess, its loss, and the safe k."""

    claim: Claim
    best_guess: int
    """The smallest k that loses at most half of the margin in these queries, or the safe
    k."""
    best_guess_recall: float
    best_guess_loss: float
    """Recall at the largest k minus recall at the best guess."""
    best_guess_bound: float
    """The upper confidence bound of the best guess's loss on queries like these."""
    takes: QueriesToDetect | None
    """How many queries detect a loss of the margin; None where the guess is safe, or
    where too few queries lost anything to tell."""
    fewest: int
    """With fewer queries no k below the largest is safe, even if none of them loses
    anything."""
    safe_k: int
    """The smallest k that is shown to lose at most the margin; the largest where none
    is."""
    safe_recall: float
    safe_bound: float
    """The upper confidence bound of the safe k's loss on queries like these."""
    below: int | None
    """The next smaller k than the best guess, or None."""
    below_loss: float | None
    largest_k: int
    largest_recall: float
    first_recall: float
    """Recall at the smallest k."""
    margin: float
    confidence: float
    n: int
    """The number of queries (or clusters) with a recall."""

    @property
    def says(self) -> str:
        """The claim in one paragraph."""
        further = (self.claim.range, self.claim.next)
        return " ".join(
            [self.claim.fact, *(sentence for sentence in further if sentence)]
        )


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
