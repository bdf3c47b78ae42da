"""Mean, median and interval of every metric over the queries for which it is defined."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from calipers.ahead import ahead
from calipers.analyse.intervals import LARGEST_BOOTSTRAP, Bounds, exact_mean, mean_intervals
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
    highest = [math.inf if m.bounds[1] is None else m.bounds[1] for m in metrics]
    bounds = [(m.bounds[0], high) for m, high in zip(metrics, highest, strict=True)]
    if weights:
        combined = combine(metrics, values, weights)
        names.append("score")
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
        return _summary(names[i], values[:, i], lambda: all_intervals()[i])

    many = len(values) > LARGEST_BOOTSTRAP
    made = ahead(summary, iter(numbers)) if many else map(summary, numbers)
    return dict(zip(names, made, strict=True))


def _summary(name: str, column: Floats, interval: Callable[[], Interval | None]) -> Summary:
    defined = column[~np.isnan(column)]
    if not defined.size:
        return Summary(name, None, None, None, 0, column.size)
    return Summary(
        name, exact_mean(defined), float(np.median(defined)), interval,
        defined.size, column.size - defined.size,
    )  # fmt: skip
