"""What is measured and how, settled before the first block, so that every block does the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from calipers.model.policy import Policy, Ties
from calipers.model.ranking import Order

IDENTITIES = ("item", "quote", "document")


@dataclass(frozen=True, kw_only=True)
class EnginePlan:
    """Plain values only: a plan travels to other processes and machines."""

    metrics: tuple[str, ...]
    """Their names, in full."""
    policy: Policy
    truth_columns: tuple[str, ...]
    """The columns that the ground truth has, in our names."""
    run_columns: tuple[str, ...]
    used_columns: tuple[str, ...] = ()
    """The columns of the ground truth that hold anything."""
    order: Order
    """What makes the order in the run."""
    match: str = "id"
    """How targets are recognised, as `str(MatchRule)` writes it."""
    level: Literal["evidence", "chunk", "document"] = "evidence"
    rel: float | None = None
    corpus_size: int | None = None
    grades: tuple[float, ...] = ()
    """Every grade of the ground truth: some metrics need the highest."""
    weights: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    quotes_from_ids: bool = False
    """Whether the plain strings of the ground truth are quotes."""
    texts_from_ids: bool = False
    """Whether the plain strings of the run are texts."""
    silent_queries: bool = False
    """Whether the ground truth may name queries for which there is nothing to find."""
    fingerprints: bool = True

    @property
    def identities(self) -> list[str]:
        """The columns by one of which a row of the ground truth says what should be found."""
        return [name for name in IDENTITIES if name in self.truth_columns]

    @property
    def ties(self) -> Ties:
        """The order among equal scores."""
        return self.policy.ties or "trec"
