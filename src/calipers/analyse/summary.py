"""Mean, median and interval of every metric over the queries for which it is defined."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from calipers.ahead import ahead
from calipers.analyse.intervals import LARGEST_BOOTSTRAP, Bounds, exact_mean, mean_intervals
from calipers.measures.aggregate import Aggregate, from_scale, to_scale
from calipers.model.arrays import Floats
from calipers.model.scores import MetricFacts, Summary, combine
from calipers.model.summary import Interval


def summarise(
    metrics: Sequence[MetricFacts],
    values: Floats,
    weights: Mapping[str, float],
    settings: Mapping[str, Any],
) -> dict[str, Summary]:
    """One summary per metric by name, and one for the combined score where there are weights.

    Intervals are made when somebody looks at one: they take longer than all the rest.
    """
    names = [metric.name for metric in metrics]
    aggregates: list[Aggregate] = [metric.aggregate for metric in metrics]
    values = np.column_stack(
        [to_scale(column, how) for column, how in zip(values.T, aggregates, strict=True)]
    ) if set(aggregates) != {"mean"} else values  # fmt: skip
    bounds = [_limits(metric) for metric in metrics]
    if weights:
        combined = combine(metrics, values, weights)
        names.append("score")
        aggregates.append("mean")
        bounds.append((-math.inf, math.inf))
        values = np.column_stack([values, combined])
    numbers = range(len(names))

    def intervals(columns: Floats, limits: Sequence[Bounds]) -> list[Interval | None]:
        return mean_intervals(
            columns,
            level=settings["confidence"],
            resamples=settings["resamples"],
            seed=settings["seed"],
            bounds=limits,
        )

    @cache
    def all_intervals() -> list[Interval | None]:
        if len(values) <= LARGEST_BOOTSTRAP:
            # Together they share the draws of the bootstrap.
            return intervals(values, bounds)
        alone = ahead(lambda i: intervals(values[:, [i]], bounds[i : i + 1]), iter(numbers))
        return list(chain.from_iterable(alone))

    def summary(i: int) -> Summary:
        return _summary(names[i], values[:, i], aggregates[i], lambda: all_intervals()[i])

    many = len(values) > LARGEST_BOOTSTRAP
    made = ahead(summary, iter(numbers)) if many else map(summary, numbers)
    return dict(zip(names, made, strict=True))


def _limits(metric: MetricFacts) -> Bounds:
    """The bounds of the values whose mean is taken."""
    low, high = metric.bounds
    if metric.aggregate == "geometric":
        return -math.inf, math.inf if high is None else math.log(high)
    return low, math.inf if high is None else high


def _summary(
    name: str, column: Floats, aggregate: Aggregate, interval: Callable[[], Interval | None]
) -> Summary:
    defined = column[~np.isnan(column)]
    n, undefined = defined.size, column.size - defined.size
    if not n:
        return Summary(name, None, None, None, 0, undefined)
    mean, median = exact_mean(defined), float(np.median(defined))
    if aggregate == "mean":
        return Summary(name, mean, median, interval, n, undefined)

    def scaled() -> Interval | None:
        found = interval()
        return found and replace(
            found,
            low=from_scale(found.low, n, aggregate), high=from_scale(found.high, n, aggregate),
        )  # fmt: skip

    # The typical query is one query, whatever all of them make together.
    typical = from_scale(median, 1, aggregate)
    total = math.fsum(defined) if aggregate == "sum" else from_scale(mean, n, aggregate)
    return Summary(name, total, typical, scaled, n, undefined)
