"""Metrics by a machine's labels, corrected by the labels of people on a sample of the queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calipers.model.result import Plain, ShowsItself
from calipers.model.scores import SCHEMA, Interval


@dataclass(frozen=True)
class CorrectedMetric:
    """One metric as people would have found it over all queries."""

    metric: str
    value: float
    interval: Interval
    machine: float
    """The mean by the machine's labels."""
    people: float
    """The mean of the sample by the people's labels alone."""
    weight: float
    """How much of the machine's word was used: 0 nothing, 1 all."""
    sampled: int
    n: int


@dataclass(frozen=True, repr=False)
class CorrectedScores(Plain, ShowsItself):
    """Every metric, corrected by people."""

    shown_by: ClassVar[str] = "calipers.questions.corrected.show"
    dict_keys: ClassVar[str] = "queries sampled metrics skipped settings"

    metrics: tuple[CorrectedMetric, ...]
    queries: int
    sampled: int
    """Queries that people judged."""
    skipped: tuple[str, ...]
    """Metrics that are defined for too few of these."""
    settings: Mapping[str, Any]

    def __getitem__(self, name: str) -> CorrectedMetric:
        return next(one for one in self.metrics if one.metric == name)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}
