"""What the history knows of one evaluation without opening its per-query data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from calipers.model.summary import Summary

SHORT = 8
"""How many characters of an id are shown; a beginning is enough to name an evaluation."""


@dataclass(frozen=True)
class SliceSummary:
    """One metric over the queries that share a value of a tag."""

    tag: str
    value: str
    summary: Summary


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One saved evaluation: when, of what, how good."""

    id: str
    name: str
    saved: datetime
    calipers: str
    commit: str | None
    branch: str | None
    dirty: bool | None
    queries: int
    tags: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    """One for the ground truth, one for the run and, where it was given, one for the corpus."""
    changed: tuple[str, ...] = ()
    """What differs from the evaluation of the same name before it: ground truth, corpus."""
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    slices: tuple[SliceSummary, ...] = ()
    number: int = field(default=0, repr=False)
    """Its row in this store; another store gives it another."""

    @property
    def short(self) -> str:
        """The beginning of the id."""
        return self.id[:SHORT]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        from dataclasses import asdict

        return {
            "id": self.id,
            "name": self.name,
            "saved": moment(self.saved),
            "calipers": self.calipers,
            "commit": self.commit,
            "branch": self.branch,
            "dirty": self.dirty,
            "queries": self.queries,
            "tags": dict(self.tags),
            "fingerprints": dict(self.fingerprints),
            "changed": list(self.changed),
            "summaries": [asdict(summary) for summary in self.summaries.values()],
        }


def moment(when: datetime) -> str:
    """A time as the store keeps it: UTC, to the microsecond, sorting as it reads.

    >>> moment(datetime(2026, 1, 31, 6, tzinfo=UTC))
    '2026-01-31T06:00:00.000000Z'
    """
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_moment(text: str) -> datetime:
    """The time that ``moment`` wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
