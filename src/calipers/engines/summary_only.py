"""Scores whose queries are not in memory: what is here are summaries and counts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from calipers.engines.part import Part
from calipers.engines.plan import EnginePlan
from calipers.engines.summary import score_facts, summarise
from calipers.io.records.results import QUERY_SCHEMA
from calipers.model.arrays import Floats
from calipers.model.counts import InputCounts
from calipers.model.scores import MetricFacts, Scores
from calipers.model.summary import Summary
from calipers.questions.compare.rule import facts_by_name


class ScoresElsewhere(Scores):
    """Scores whose queries are somewhere else."""

    place: ClassVar[str]
    """Where the queries are, in words."""

    def __len__(self) -> int:
        return self.audit.queries

    def __repr__(self) -> str:
        means = (
            f"{one.metric} {'undefined' if one.mean is None else format(one.mean, '.3f')}"
            for one in list(self.summaries.values())[:12]
        )
        return f"<Scores of {len(self):,} queries in {self.place}: {', '.join(means)}>"

    def brought_here(
        self,
        metrics: Sequence[str],
        values: Floats,
        queries: pl.DataFrame,
        tags: Mapping[str, pl.Series],
    ) -> Scores:
        """Scores in memory, of some metrics, with as much of the queries as was brought here."""
        known = facts_by_name(self)
        return Scores(
            metrics=tuple(known[name] for name in metrics),
            values=values,
            queries=queries,
            tags=tags,
            audit=self.audit,
            policy=self.policy,
            fingerprints=self.fingerprints,
            settings=self.settings,
            summaries=self.summaries,
        )


T = TypeVar("T", bound=ScoresElsewhere)


def scores_elsewhere(
    kind: type[T],
    plan: EnginePlan,
    metrics: tuple[MetricFacts, ...],
    part: Part,
    audit: InputCounts,
    *,
    tags: Iterable[str],
    fingerprints: Mapping[str, str],
    settings: Mapping[str, Any],
    **place: Any,
) -> T:
    """The result of all parts; ``place`` are the fields of that kind of scores."""
    return kind(
        metrics=metrics,
        values=np.empty((0, len(metrics))),
        queries=pl.DataFrame(schema=QUERY_SCHEMA),
        tags={name: pl.Series(name, [], dtype=pl.String) for name in tags},
        audit=audit,
        policy=plan.policy,
        fingerprints=fingerprints,
        settings=settings,
        summaries=_summaries(metrics, part, plan, settings),
        weights=plan.weights,
        **place,
    )


def _summaries(
    metrics: Sequence[MetricFacts], part: Part, plan: EnginePlan, settings: Mapping[str, Any]
) -> dict[str, Summary]:
    columns = [*metrics, *([score_facts(metrics, plan.weights)] if plan.weights else [])]
    found: dict[str, Summary] = {}
    for one in columns:
        # Each by itself: sorted, the values of two metrics are no longer those of one query.
        found |= summarise([one], part.column(one.name)[:, np.newaxis], {}, settings)
    return found
