"""Mean, median and interval of every metric over the queries for which it is defined."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from typing import TypeVar

import numpy as np

from calipers.analyse.intervals import LARGEST_BOOTSTRAP, Bounds, exact_mean, mean_intervals
from calipers.model.arrays import Floats
from calipers.model.interval import Interval
from calipers.model.scores import Scores, Summary

T = TypeVar("T")


def summarise(scores: Scores) -> tuple[Summary, ...]:
    """One summary per metric, and one for the combined score where there is one.

    Intervals are made when somebody looks at one: they take longer than all the rest.
    """
    names = [metric.name for metric in scores.metrics]
    highest = [math.inf if m.bounds[1] is None else m.bounds[1] for m in scores.metrics]
    bounds = [(m.bounds[0], high) for m, high in zip(scores.metrics, highest, strict=True)]
    values = scores.values
    if scores.weights:
        names.append("score")
        bounds.append((-math.inf, math.inf))
        values = np.column_stack([values, scores.combined])
    settings = scores.settings

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
        alone = _each(lambda i: intervals(values[:, [i]], bounds[i : i + 1]), len(names))
        return list(chain.from_iterable(alone))

    def summary(i: int) -> Summary:
        return _summary(names[i], values[:, i], lambda: all_intervals()[i])

    many = len(values) > LARGEST_BOOTSTRAP
    return tuple(_each(summary, len(names)) if many else map(summary, range(len(names))))


def _each(make: Callable[[int], T], n: int) -> list[T]:
    """What is made for every number below n, on two threads."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(make, range(n)))


def _summary(name: str, column: Floats, interval: Callable[[], Interval | None]) -> Summary:
    defined = column[~np.isnan(column)]
    if not defined.size:
        return Summary(name, None, None, None, 0, column.size)
    return Summary(
        name, exact_mean(defined), float(np.median(defined)), interval,
        defined.size, column.size - defined.size,
    )  # fmt: skip
