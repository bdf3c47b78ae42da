"""Scores whose queries are not in memory: what is here are summaries and counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import polars as pl

from calipers.engines.blocks import EnginePlan, Part
from calipers.engines.summary import facts_by_name, score_facts, summarise
from calipers.io.records.results import QUERY_SCHEMA
from calipers.io.tables.cells import TAG
from calipers.io.tables.scan import in_batches
from calipers.measures.spec import find_name
from calipers.model.arrays import Floats
from calipers.model.scores import ROWS_AT_ONCE, InputCounts, MetricFacts, Scores, Summary
from calipers.model.slicing import FROM_TEXT, with_computed


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
            find_name=self.find_name,
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
        policy=plan.matching.policy,
        fingerprints=fingerprints,
        settings=settings,
        summaries=_summaries(metrics, part, plan, settings),
        weights=plan.weights,
        **place,
        find_name=find_name,
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


@dataclass(frozen=True, eq=False, repr=False)
class WrittenScores(ScoresElsewhere):
    """Scores that read from their file what is asked of single queries."""

    place: ClassVar[str] = "a file"
    path: str = ""
    """The file, with one row per query in the order in which the run has them."""

    @property
    def _file(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.path, glob=False)

    @property
    def per_query(self) -> pl.DataFrame:
        """The whole file as a table."""
        return self._file.collect()

    def query_blocks(self, rows: int = ROWS_AT_ONCE) -> Iterator[pl.DataFrame]:
        """The same in pieces."""
        return in_batches(self._file, rows)

    def of(self, name: str) -> Floats:
        """The values of one metric, in the order of the file."""
        column = self._file.select(self[name].metric).collect().to_series()
        return column.fill_null(np.nan).to_numpy()

    def to_slice(self, by: Sequence[str], metrics: Sequence[str]) -> Scores:
        """Scores in memory of what the slices need: these metrics, tags and queries."""
        by = with_computed(by)
        tags = [name for name in by if name in self.tags]
        read = any(name in FROM_TEXT and name not in tags for name in by)
        texts = ["query", "text"] if read else []
        asked = self._file.select(*texts, "targets", *(TAG + name for name in tags)).collect()
        return self.brought_here(
            metrics,
            np.column_stack([self.of(name) for name in metrics]),
            asked.select(*texts, "targets"),
            {name: asked[TAG + name].alias(name) for name in tags}
            | {name: tag for name, tag in self.tags.items() if name not in tags},
        )
