"""The queries that find less than they did in an older result."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures.spec import Metric, parse
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.questions.compare.comparable import align
from calipers.questions.default_metrics import FOUND
from calipers.questions.inputs import ReadInputs, matched_like, only_queries, only_where
from calipers.questions.misses.result import Misses
from calipers.questions.reading import MatchingSettings
from calipers.questions.systems import measured_before, name_of
from calipers.statistics.paired_units import SMALLEST

if TYPE_CHECKING:
    from calipers.questions.baseline import Baseline

REPAIR = "Give the result of the same queries, measured in the same way."
NOW = "this run"


@dataclass(frozen=True, eq=False)
class LostQueries:
    """Some queries of a pair: those that find less than in an older result."""

    pair: Matched
    """The pair of these queries alone, or of all where none finds less."""
    name: str
    """The older result."""
    count: int

    @classmethod
    def of(
        cls,
        pair: Matched,
        k: int,
        older: Any,
        matching: MatchingSettings,
        where: Mapping[str, str] | None,
    ) -> Self:
        """Measure what is found in the first k results, and what was found there before.

        ``where`` leaves out queries afterwards: an older result is of all of them.
        """
        kept = measured_before(older, matching.store)
        if kept is None:
            before = matched_like(pair, older, matching)
            metric = parse(f"recall@{k}")[0].with_rel(pair.rel)
            lost = _lost(pair, name_of(older), score(before, [metric]), metric)
            name = name_of(older)
        else:
            metric = _metric_of(kept, k, pair.rel)
            lost = _lost(pair, kept.name, kept.scores, metric)
            name = kept.name
        truth, run = pair.as_read
        chosen = truth.queries["query"].is_in(lost.implode())
        truth, run = only_queries(truth, run, chosen)
        if where:
            truth, run = only_where(truth, run, where)
        if not truth.queries.height:
            return cls(pair, name, 0)
        part = ReadInputs(truth, run, pair.asked_again, whole=pair.as_read)
        return cls(part.matched(), name, truth.queries.height)

    def within(self, misses: Misses) -> Misses:
        """The misses of these queries, with the result that they are compared with."""
        if self.count:
            return replace(misses, worse_than=self.name, queries=self.count)
        return replace(
            misses,
            targets=0,
            found=0,
            missed=0,
            reasons={},
            table=misses.table.clear(),
            numbers=misses.numbers[:0],
            map_ids=None,
            worse_than=self.name,
            queries=0,
        )


def _lost(pair: Matched, name: str, older: Scores, metric: Metric) -> pl.Series:
    """The queries of which a metric is lower than it was."""
    before = name if name != NOW else f"the older {name}"
    both = {NOW: score(pair, [metric]), before: older}
    aligned = align(both, [str(metric)], anyway=False, repair=REPAIR)
    lost = aligned.gains(NOW, before, str(metric)) < -SMALLEST
    return aligned.queries["query"].filter(pl.Series(lost))


def _metric_of(kept: "Baseline", k: int, rel: float | None) -> Metric:
    """The metric of a saved result that says what a query finds in its first k results."""
    names = [metric.name for metric in kept.scores.metrics]
    for kind in FOUND:
        metric = parse(f"{kind}@{k}")[0].with_rel(rel)
        if str(metric) in names:
            return metric
    depths = [
        str(metric.k)
        for metric in kept.scores.metrics
        if metric.kind == FOUND[0] and metric.k is not None
    ]
    use = f"give -k {depths[-1]}" if depths else f"save it again with -m recall@{k}"
    raise InvalidInput(
        f"{kept.name} holds no recall@{k}, so which queries find less in their first {k} "
        f"results is not known; {use}."
    )
