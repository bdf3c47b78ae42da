"""Compare scores with a baseline, query by query: is there a loss, and is it significant?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.measures import Metric
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.scores import Scores
from calipers.model.slicing import (
    QuerySlice,
    everything,
    query_weights_in,
    slices_by,
    units_of,
)
from calipers.questions.baseline import Baseline
from calipers.questions.compare.comparable import Aligned, align
from calipers.questions.compare.paired_claim import claim_of, difference_of
from calipers.questions.default_metrics import asked_metrics
from calipers.questions.gate.conditions import summary_of
from calipers.questions.gate.result import (
    ACCEPT,
    SIGNIFICANT,
    Check,
    GateRule,
    Status,
    check_of,
    worst_queries,
)
from calipers.statistics.clusters import as_units
from calipers.statistics.paired_rows import PairedRow, paired_rows, sign_test
from calipers.statistics.paired_units import SMALLEST

if TYPE_CHECKING:
    from calipers.questions.gate.settings import GateSettings

SIGN_LEVEL = 0.01
"""A row whose one-sided sign test for a loss is below this p does not pass."""
FEWEST_LOST = 3
"""A slice fails by its mean only if at least this many more queries lost than gained."""
REPAIR = "Save the baseline again (`calipers gate save`), or compare all the same with --anyway."


def standing(
    row: PairedRow, rule: GateRule, *, whole: bool
) -> tuple[Status, tuple[str, ...]]:
    """The status of one row, of all queries (``whole``) or of a slice, and the reasons.

    Whether these queries lost is a fact; whether new ones would is left to the paired test.
    """
    loss = -(row.difference or 0.0)
    failed = []
    if row.standing == "worse":
        failed.append(SIGNIFICANT)
    fell = loss > rule.allow + SMALLEST and (whole or row.net_lost >= FEWEST_LOST)
    if fell and not rule.only_shown:
        failed.append(f"over the {rule.allow:g} allowed")
    if failed:
        return "failed", tuple(failed)
    gained = row.standing == "better" or (loss < 0 and row.better > row.worse)
    sides = ((row.better, "better"), (row.worse, "worse"))
    counts = ", ".join(f"{many:,} {way}" for many, way in sides if many)
    if (gained or not row.worse) and sign_test(row.worse, row.better) >= SIGN_LEVEL:
        return "passed", (counts,) if row.better else (
            "no query changed",
        ) if row.n else ()
    return "no clear difference", (f"{counts}: no clear difference",)


def check_baseline(
    scores: Scores,
    kept: Baseline,
    wanted: Sequence[Metric],
    rule: GateRule,
    settings: "GateSettings",
    by: Sequence[str],
    clusters: Ints | None,
) -> tuple[list[Check], list[str], list[str]]:
    """Check every deciding metric and slice for a loss, and for a significant one.

    Returned are the checks, the metrics that decide, and what ``anyway`` overrode. All rows are
    tested together, as in a comparison.
    """
    names = [str(metric) for metric in wanted]
    if not names:
        raise InvalidInput(
            f"The baseline {kept.name} holds no metric of which more or less is better; save it "
            "again with the metrics to watch."
        )
    both = {"this result": scores, f"the baseline {kept.name}": kept.scores}
    now, before = both
    aligned = align(both, names, anyway=settings.anyway, repair=REPAIR)
    named = settings.metrics is not None
    asked = asked_metrics(aligned.facts, settings.primary, named=named)
    places = [
        (part, name)
        for part in (everything(scores), *slices_by(scores, by))
        for name in asked
    ]
    shared = scores.rows_of(aligned.queries["query"])
    gains = [
        np.where(part.chosen[shared], aligned.gains(now, before, name), np.nan)
        for part, name in places
    ]
    weights = query_weights_in(scores)
    weights = None if weights is None else weights[shared]
    units = units_of(aligned.queries, {}, None) if clusters is None else clusters[shared]
    rows = paired_rows(gains, units, alpha=rule.alpha, weights=weights)
    beside = _BesideBaseline(scores, kept, aligned, rule, clusters, weights)
    checks = [
        beside.check(part, name, column, row)
        for (part, name), column, row in zip(places, gains, rows, strict=True)
    ]
    return checks, asked, aligned.overridden


@dataclass(frozen=True, eq=False)
class _BesideBaseline:
    """A result beside its baseline, on the queries that both have."""

    scores: Scores
    kept: Baseline
    aligned: Aligned
    rule: GateRule
    clusters: Ints | None
    """The cluster of each query of the result."""
    weights: Floats | None
    """The weight of each query that both have."""

    def check(self, part: QuerySlice, name: str, gains: Floats, row: PairedRow) -> Check:
        """One metric for one slice: what changed, whether that fails, and where it was worst."""
        at = [fact.name for fact in self.aligned.facts].index(name)
        facts = self.aligned.facts[at]
        now, before = (values[:, at] for values in self.aligned.values.values())
        there = ~np.isnan(gains)
        old = self._mean(before, there)
        new = self._mean(now, there)
        status, because = standing(row, self.rule, whole=part.name is None)
        claim = claim_of(
            row,
            facts,
            old,
            new,
            place=part.name or "",
            standing=status,
            unit="query" if self.clusters is None else "cluster",
        )
        place = "" if part.name is None else f" for {part.name}"
        lost = np.where(gains < 0, gains, np.nan)
        names = (self.kept.name, "this result")
        return check_of(
            summary_of(self.scores, name, part, self.clusters),
            name=f"{name} not worse than {self.kept.name}{place}",
            metric=name,
            slice=part.name,
            status=status,
            change=difference_of(row, facts, names, (old, new)),
            loss=-(row.difference or 0.0),
            because=because,
            claim=replace(claim, next=ACCEPT) if status == "failed" else claim,
            worst=worst_queries(self.aligned.queries, lost, now, before),
        )

    def _mean(self, values: Floats, there: Bools) -> float | None:
        """The weighted mean of the queries that are compared; None where there is none."""
        if not there.any():
            return None
        weights = None if self.weights is None else self.weights[there]
        return as_units(values[there], None, weights).mean
