"""What was counted while measuring: nothing leaves a denominator without a number here."""

from dataclasses import dataclass
from typing import Any

from calipers.model.result import Plain


@dataclass(frozen=True, kw_only=True)
class InputCounts(Plain):
    """The counts behind a result."""

    queries: int
    """Queries in the ground truth."""
    answered: int
    empty: int
    """Queries in the run for which nothing came back."""
    missing: int
    """Queries of the ground truth that the run does not have."""
    missing_examples: tuple[str, ...]
    errors: int
    """Queries on which the retriever failed."""
    unanswerable: int
    """Queries without any relevant target."""
    unanswerable_silent: int
    """How many of those rightly got nothing back."""
    unknown: int
    """Queries of the run that the ground truth does not have; they are not measured."""
    unknown_examples: tuple[str, ...]
    targets: int
    """Relevant targets."""
    judgements: int
    """All targets, relevant or not."""
    repeated_judgements: int
    retrieved: int
    """Results for queries of the ground truth."""
    duplicates: int
    """Results that had been returned before for the same query."""
    ties: int
    """Results that share their score with a neighbour, where scores make the order."""
    ties_on_targets: int
    """How many of those hold a relevant target: the tie rule decides their rank."""
    depth: int | None
    """The largest cut-off in use, over which the unjudged rate is taken; None: all ranks."""
    shown: int
    """Results within that depth."""
    unjudged: int
    """How many of those nobody judged."""

    @property
    def unjudged_rate(self) -> float | None:
        """The share of the results within ``depth`` that nobody judged."""
        return self.unjudged / self.shown if self.shown else None

    def to_dict(self) -> dict[str, Any]:
        """The counts by name."""
        return {**super().to_dict(), "unjudged_rate": self.unjudged_rate}
