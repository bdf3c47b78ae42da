"""One question, what came back, and what became of each target."""

from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from calipers.model.result import HasRows, Plain
from calipers.questions.misses.result import REASONS


@dataclass(frozen=True)
class ShownResult:
    """One result, in the order of the retriever."""

    rank: int
    id: str | None
    score: float | None
    text: str | None
    """Its beginning."""
    target: bool | None
    """Whether it holds a target, or was kept as one; None where nobody said what is one."""


@dataclass(frozen=True)
class TargetFate:
    """One piece of ground truth: its rank, or why it is not in the first k."""

    name: str
    grade: float
    rank: int | None
    found: bool
    """Whether it stands in the first k."""
    reason: str | None = None
    """One of the reasons of ``misses``; None where it was found, or an alternative to it."""

    @property
    def means(self) -> str:
        """The reason in words."""
        return next((one.means for one in REASONS if one.name == self.reason), "")

    @property
    def remedy(self) -> str:
        """What to do about it; of one that was not returned, only the corpus may tell more."""
        if self.reason == "not_returned":
            return "give --corpus to learn why"
        return next((one.remedy for one in REASONS if one.name == self.reason), "")


@dataclass(frozen=True, repr=False)
class Explanation(Plain, HasRows):
    """What a retriever returned for one question, and why targets are not among it."""

    shown_by: ClassVar[str] = "calipers.questions.explain.show"

    question: str
    id: str | None
    """The id of the question in the ground truth; None where that does not have it."""
    retriever: str
    k: int
    latency_ms: float | None
    results: tuple[ShownResult, ...]
    targets: tuple[TargetFate, ...]
    sought: int
    """Targets that should be found; alternatives for one another count as one."""
    found: int
    """Those of them in the first k."""
    kept: str | None
    """The file that the question was appended to."""
    notes: tuple[str, ...]

    @property
    def table(self) -> pl.DataFrame:
        """The results as rows."""
        schema: dict[str, Any] = {
            "rank": pl.Int64,
            "id": pl.String,
            "score": pl.Float64,
            "text": pl.String,
            "target": pl.Boolean,
        }
        return pl.DataFrame([vars(one) for one in self.results], schema=schema)
