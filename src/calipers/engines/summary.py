"""Mean, median and interval of every metric over the queries for which it is defined."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.arrays import Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import (
    ANSWERED,
    EMPTY,
    EXAMPLES,
    FAILED,
    MISSING,
    Matches,
    Tally,
)
from calipers.model.policy import Policy
from calipers.model.scores import InputCounts, Interval, MetricFacts, Scores, Summary
from calipers.statistics.clusters import Units, as_units
from calipers.statistics.score_interval import Bounds, units_intervals


def summarise(
    metrics: Sequence[MetricFacts],
    values: Floats,
    confidence: float,
    clusters: ArrayLike | None = None,
    query_weights: Floats | None = None,
) -> dict[str, Summary]:
    """One summary per metric by name.

    ``query_weights`` say how much each query counts in a mean; sums count every query
    once.
    """
    columns = list(zip(metrics, values.T, strict=True))
    counts = [None if facts.aggregate == "sum" else query_weights for facts, _ in columns]
    units = [
        as_units(column, clusters, each)
        for column, each in zip(values.T, counts, strict=True)
    ]
    intervals = _intervals(units, [facts for facts, _ in columns], confidence)
    rows = zip(columns, units, intervals, counts, strict=True)
    return {
        facts.name: _summary(facts, column, unit.mean, interval, each)
        for (facts, column), unit, interval, each in rows
    }


def facts_by_name(scores: Scores) -> dict[str, MetricFacts]:
    """The facts of every metric."""
    return {metric.name: metric for metric in scores.metrics}


def value_bounds(facts: MetricFacts) -> Bounds | None:
    """The bounds of the values whose mean is taken; None where there is no upper one."""
    low, high = facts.bounds
    return None if high is None else (low, high)


def _summary(
    facts: MetricFacts,
    column: Floats,
    mean: float,
    interval: Interval | None,
    weights: Floats | None,
) -> Summary:
    defined = column[~np.isnan(column)]
    n = defined.size
    undefined = column.size - defined.size
    if not n:
        return Summary(facts.name, None, None, None, 0, undefined)
    median = (
        _median(defined)
        if weights is None
        else _weighted_median(defined, weights[~np.isnan(column)])
    )
    if facts.aggregate == "mean":
        return Summary(facts.name, mean, median, interval, n, undefined)
    ends = interval and replace(interval, low=interval.low * n, high=interval.high * n)
    return Summary(facts.name, math.fsum(defined), median, ends, n, undefined)


def _median(values: Floats) -> float:
    """As ``np.median``, which loads numpy.ma."""
    ordered = np.sort(values)
    return float(ordered[(values.size - 1) // 2 : values.size // 2 + 1].mean())


def _weighted_median(values: Floats, weights: Floats) -> float:
    """The value at half of the weight, or halfway between the two there."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    ends = (
        np.searchsorted(below, half * (1 - 1e-12)),
        np.searchsorted(below, half * (1 + 1e-12)),
    )
    low, high = (float(values[order[min(at, values.size - 1)]]) for at in ends)
    return (low + high) / 2


def interval_of_metric(
    column: Floats,
    facts: MetricFacts,
    level: float,
    clusters: ArrayLike | None = None,
    query_weights: Floats | None = None,
) -> Interval | None:
    """The interval of the mean of one metric, cut at the bounds that the metric has."""
    return _intervals([as_units(column, clusters, query_weights)], [facts], level)[0]


def _intervals(
    units: Sequence[Units], metrics: Sequence[MetricFacts], level: float
) -> list[Interval | None]:
    bounds = map(value_bounds, metrics)
    intervals = units_intervals(list(zip(units, bounds, strict=True)), level)
    for at, (facts, interval) in enumerate(zip(metrics, intervals, strict=True)):
        if interval is not None and interval.method == "t":
            intervals[at] = replace(interval, low=max(interval.low, facts.bounds[0]))
    return intervals


def audit_counts(
    ground_truth: GroundTruth,
    matches: Matches,
    tally: Tally,
    *,
    depth: int | None,
    rel: float | None,
) -> InputCounts:
    """Every count behind a result."""
    answerable = matches.answerable(rel)
    missing = matches.having_status(MISSING)
    shown = matches.retrieved if depth is None else np.minimum(matches.retrieved, depth)
    judged = (
        matches.is_new_rank
        if depth is None
        else (matches.is_new_rank & (matches.edge_rank <= depth))
    )
    copies = tally.copy_ranks >= 0 if depth is None else tally.copy_ranks <= depth
    tied = ground_truth.grades[tally.tied_targets]
    return InputCounts(
        queries=matches.n_queries,
        answered=int(matches.having_status(ANSWERED).sum()),
        empty=int(matches.having_status(EMPTY).sum()),
        missing=int(missing.sum()),
        missing_examples=tuple(
            matches.query_rows["query"][np.flatnonzero(missing)[:EXAMPLES]].to_list()
            if missing.any()
            else ()
        ),
        errors=int(matches.having_status(FAILED).sum()),
        error_examples=tally.error_examples,
        unanswerable=int((~answerable).sum()),
        unanswerable_silent=int((~answerable & (matches.retrieved == 0)).sum()),
        unknown=tally.unknown,
        unknown_examples=tally.unknown_examples,
        targets=int(matches.relevant(rel).sum()),
        judgements=matches.target_grade.size,
        repeated_judgements=ground_truth.repeated,
        retrieved=int(matches.retrieved.sum()),
        duplicates=tally.duplicates,
        ties=tally.ties,
        ties_on_targets=int((tied > 0 if rel is None else tied >= rel).sum()),
        depth=depth,
        shown=int(shown.sum()),
        # A copy of a judged item is judged, although it does not count.
        unjudged=int(shown.sum())
        - int(judged.sum())
        - int(copies.sum())
        - _forbidden_results(matches, depth),
    )


def _forbidden_results(matches: Matches, depth: int | None) -> int:
    """How many results are forbidden, and so were judged, and hold no target."""
    leaked = matches.leaked
    if leaked is None:
        return 0
    within = leaked.rank >= 0 if depth is None else leaked.rank <= depth
    targets = set(
        zip(matches.edge_query.tolist(), matches.edge_rank.tolist(), strict=True)
    )
    places = zip(leaked.query[within].tolist(), leaked.rank[within].tolist(), strict=True)
    return len({*places} - targets)


def enforce(policy: Policy, audit: InputCounts) -> None:
    """Raise where a policy says that a counted case is an error."""
    cases = (
        (
            "missing",
            audit.missing,
            "in the ground truth and not in the run",
            audit.missing_examples,
            "run the retriever on them",
        ),
        (
            "unknown",
            audit.unknown,
            "in the run and not in the ground truth",
            audit.unknown_examples,
            "remove them",
        ),
        (
            "errors",
            audit.errors,
            "with a failure of the retriever",
            (),
            "repair the retriever",
        ),
        (
            "unanswerable",
            audit.unanswerable,
            "without any relevant target",
            (),
            "label them",
        ),
    )
    for name, count, what, examples, remedy in cases:
        if getattr(policy, name) == "error" and count:
            named = (
                " "
                f"({', '.join(map(repr, examples))}{', …' if count > len(examples) else ''})"
            )
            raise InvalidInput(
                f"There {'is 1 query' if count == 1 else f'are {count} queries'} {what}"
                f"{named if examples else ''}, and {name}=error forbids it; {remedy}, or choose "
                f"another policy for {name}."
            )
