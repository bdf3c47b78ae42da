"""What is wrong with a retriever, in words, with evidence and what to do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from calipers.model.result import Plain, ShowsItself, plain
from calipers.model.scores import Summary, with_version
from calipers.questions.compare.result import Comparison

Confidence = Literal["high", "moderate", "low"]
"""high: the intervals too lie beyond the thresholds; low: fewer than 20 queries bear on it."""
Change = Literal["new", "gone", "still there"]


@dataclass(frozen=True)
class Finding:
    """One failure mode that the data shows."""

    rule: str
    title: str
    confidence: Confidence
    evidence: tuple[str, ...]
    advice: tuple[str, ...]
    numbers: Mapping[str, float]
    """What was compared with the thresholds, by the threshold's name."""


@dataclass(frozen=True)
class Unchecked:
    """A rule that the data does not allow to check."""

    rule: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Plain, ShowsItself):
    """The findings on one system, and what changed since another."""

    shown_by: ClassVar[str] = "calipers.questions.diagnose.show"
    dict_keys: ClassVar[str] = (
        "k queries n summaries findings fine unchecked thresholds "
        "token_source fingerprints settings"
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
    thresholds: Mapping[str, float]
    token_source: str | None
    fingerprints: Mapping[str, str]
    settings: Mapping[str, Any]
    before: "Diagnosis | None" = None
    comparison: Comparison | None = None

    @property
    def changes(self) -> dict[str, Change]:
        """What became of each finding since the system before, by the name of the rule."""
        if self.before is None:
            return {}
        now = [finding.rule for finding in self.findings]
        then = [finding.rule for finding in self.before.findings]
        return {
            **{rule: "still there" if rule in then else "new" for rule in now},
            **{rule: "gone" for rule in then if rule not in now},
        }

    def to_dict(self) -> dict[str, Any]:
        """The whole diagnosis as plain values: what ``--json`` prints."""
        result = with_version(super().to_dict())
        if self.before is not None:
            result |= plain({"before": self.before, "changes": self.changes})
        if self.comparison is not None:
            result["comparison"] = self.comparison.to_dict()
        return result
