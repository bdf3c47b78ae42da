"""What each further call of a retriever adds."""

from dataclasses import dataclass
from typing import ClassVar

from calipers.model.result import Plain, ShowsItself


@dataclass(frozen=True)
class Call:
    """The first, the second … call of every query that made so many."""

    call: int
    queries: int
    """Queries that made this call."""
    recall: float | None
    """The mean recall after this call and all before it; a query that stopped keeps its own."""
    added: float | None
    """How much recall this call added, over all queries."""
    useless: float | None
    """The share of these calls, of queries with an answer, that found nothing new."""
    results: float
    """Results per call."""
    tokens: float | None
    """Tokens per call; None where the results have neither tokens nor texts."""


@dataclass(frozen=True, repr=False)
class CallTable(Plain, ShowsItself):
    """Every call in its order, over all queries of the ground truth."""

    shown_by: ClassVar[str] = "calipers.questions.calls.show"

    calls: tuple[Call, ...]
    k: int | None
    """How many results of each call count; None: all."""
    queries: int
    """Queries that have an answer: those that the means are over."""
    tokens_from: str | None
    """Where the tokens come from: "data", or "estimate" from the texts."""
