"""Metrics over matches: each view is built once and shared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calipers.metrics.spec import Metric
from calipers.model.arrays import Bools, Floats
from calipers.model.matches import FAILED, MISSING, Matches
from calipers.model.policy import Policy


def compute(matches: Matches, metrics: Sequence[Metric], policy: Policy) -> Floats:
    """One column of values per metric, one row per query; NaN where it is undefined."""
    views: dict[tuple[Any, tuple[tuple[str, Any], ...]], Any] = {}
    # Column by column in memory, as every reader of them goes.
    values = np.empty((matches.n_queries, len(metrics)), order="F")
    left_out = _left_out(matches, policy)
    hopeless: dict[float | None, Bools] = {}
    for column, metric in enumerate(metrics):
        definition = metric.definition
        given = dict(metric.parameters)
        for_view = {n: v for n, v in given.items() if n in definition.view_parameters}
        own: dict[str, Any] = {n: v for n, v in given.items() if n not in for_view}
        if definition.cutoff != "none":
            own["k"] = metric.k
        key = (definition.view, tuple(for_view.items()))
        if key not in views:
            views[key] = definition.view.of(matches, **for_view)
        value = np.array(definition.function(views[key], **own), dtype=np.float64)
        if definition.without_targets == "undefined":
            if metric.rel not in hopeless:
                hopeless[metric.rel] = ~matches.answerable(metric.rel)
            _settle_unanswerable(value, hopeless[metric.rel], metric, policy)
        value[left_out] = np.nan
        values[:, column] = value
    return values


def _settle_unanswerable(value: Floats, hopeless: Bools, metric: Metric, policy: Policy) -> None:
    if policy.unanswerable == "zero":
        # 0 is the worst value only where more is better; a first rank of 0 would be the best.
        if metric.definition.better == "higher":
            value[hopeless & np.isnan(value)] = 0.0
    else:
        value[hopeless] = np.nan


def _left_out(matches: Matches, policy: Policy) -> Bools:
    out = np.zeros(matches.n_queries, dtype=np.bool_)
    if policy.missing == "exclude":
        out |= matches.having_status(MISSING)
    if policy.errors == "exclude":
        out |= matches.having_status(FAILED)
    return out
