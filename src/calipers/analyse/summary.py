"""Mean, median and interval of every metric over the queries for which it is defined."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np

from calipers.analyse.intervals import LARGEST_BOOTSTRAP, exact_mean, mean_intervals
from calipers.model.arrays import Floats
from calipers.model.interval import Interval
from calipers.model.scores import Scores, Summary


def summarise(scores: Scores) -> tuple[Summary, ...]:
    """One summary per metric, and one for the combined score where there is one."""
    names = [metric.name for metric in scores.metrics]
    highest = [math.inf if m.bounds[1] is None else m.bounds[1] for m in scores.metrics]
    bounds = [(m.bounds[0], high) for m, high in zip(scores.metrics, highest, strict=True)]
    values = scores.values
    if scores.weights:
        names.append("score")
        bounds.append((-math.inf, math.inf))
        values = np.column_stack([values, scores.combined])
    settings = scores.settings

    def summaries(first: int, behind: int) -> list[Summary]:
        columns = values[:, first:behind]
        intervals = mean_intervals(
            columns,
            level=settings["confidence"],
            resamples=settings["resamples"],
            seed=settings["seed"],
            bounds=bounds[first:behind],
        )
        of_columns = zip(names[first:behind], columns.T, intervals, strict=True)
        return [_summary(*one) for one in of_columns]

    if len(values) <= LARGEST_BOOTSTRAP:
        # Together they share the draws of the bootstrap.
        return tuple(summaries(0, len(names)))
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda i: summaries(i, i + 1), range(len(names)))
        return tuple(chain.from_iterable(parts))


def _summary(name: str, column: Floats, interval: Interval | None) -> Summary:
    defined = column[~np.isnan(column)]
    if not defined.size:
        return Summary(name, None, None, None, 0, column.size)
    return Summary(
        name, exact_mean(defined), float(np.median(defined)), interval,
        defined.size, column.size - defined.size,
    )  # fmt: skip
