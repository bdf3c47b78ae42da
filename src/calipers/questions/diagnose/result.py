"""What is wrong with a retriever, the evidence, and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.claim import Claim
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Summary, with_version
from calipers.words import number, plural, whole_commands

Confidence = Literal["high", "moderate", "low"]
"""high: the intervals also lie beyond the thresholds; low: based on fewer than 20 queries."""
FEW = 20
"""With fewer queries than this a finding has low confidence."""


@dataclass(frozen=True)
class Finding(Plain):
    """One failure mode found in the data."""

    rule: str
    title: str
    confidence: Confidence
    evidence: tuple[str, ...]
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with commands ready to paste."""
        return {**super().to_dict(), "advice": [*map(whole_commands, self.advice)]}


@dataclass(frozen=True)
class Unchecked:
    """A rule that could not be checked on this data."""

    rule: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Plain, HasRows):
    """The findings on one system."""

    shown_by: ClassVar[str] = "calipers.questions.diagnose.document"
    dict_keys: ClassVar[str] = (
        "k queries n summaries claim findings fine unchecked fingerprints settings"
    )

    k: int
    queries: int
    n: int
    """Queries for which recall is defined."""
    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    fine: tuple[str, ...]
    """The titles of the rules that were checked and found nothing."""
    unchecked: tuple[Unchecked, ...]
    fingerprints: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def claim(self) -> Claim:
        """The most serious finding with its evidence, or that none was found."""
        if not self.findings:
            return self._nothing_found
        first = self.findings[0]
        return Claim(
            "no clear difference" if first.confidence == "low" else "failed",
            f"{first.title}: {first.evidence[0]}",
            next=first.advice[0] if first.advice else None,
        )

    @property
    def _nothing_found(self) -> Claim:
        """The claim if nothing was found, which says that smaller or other faults are possible."""
        recall = next(one for one in self.summaries if one.metric.startswith("recall"))
        between = ""
        if recall.interval:
            low, high = number(recall.interval.low), number(recall.interval.high)
            between = f"Recall lies between {low} and {high} as far as these queries can tell. "
        hits = next(one.mean for one in self.summaries if one.metric.startswith("hit_rate"))
        empty = round(self.n * (1.0 - (1.0 if hits is None else hits)))
        but = f"; {empty} {'finds' if empty == 1 else 'find'} nothing in the first {self.k} results"
        return Claim(
            "no clear difference" if self.n < FEW else "passed",
            f"No known failure mode in {plural(self.n, 'query', 'queries')}{but if empty else ''}.",
            next="See why: `calipers misses`" if empty else None,
            range=f"{between}Smaller faults than the thresholds, and faults no rule looks for, are "
            "possible.",
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole diagnosis as plain values: what ``--json`` prints."""
        return with_version(super().to_dict())
