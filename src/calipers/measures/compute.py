"""Metrics over matches: each view is built once and shared."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from calipers.measures.parameter import regraded
from calipers.measures.spec import Metric
from calipers.model.arrays import Bools, Floats
from calipers.model.matched import FAILED, MISSING, Matches
from calipers.model.policy import Policy

ViewKey = tuple[Any, tuple[tuple[str, Any], ...]]
"""A view, and the parameters of a metric that are the view's."""

_AT_ONCE = 1_000_000
"""Queries that are measured together: their views take some 150 bytes for each."""


def compute(matches: Matches, metrics: Sequence[Metric], policy: Policy) -> Floats:
    """One column of values per metric, one row per query; NaN where it is undefined."""
    # Column by column in memory, as every reader of them goes.
    values = np.empty((matches.n_queries, len(metrics)), order="F")
    done = 0
    for part in matches.portions(_AT_ONCE):
        behind = done + part.n_queries
        _compute(part, metrics, policy, values[done:behind])
        done = behind
    return values


def _compute(matches: Matches, metrics: Sequence[Metric], policy: Policy, values: Floats) -> None:
    """Fill in the values of some whole queries."""
    views = {key: _view(matches, key) for key in dict.fromkeys(map(_view_key, metrics))}
    hopeless = {need: _hopeless(matches, need) for need in dict.fromkeys(map(_need, metrics))}
    left_out = _left_out(matches, policy)

    for column, metric in enumerate(metrics):
        view, own = views[_view_key(metric)], _own_parameters(metric)
        value = np.array(metric.definition.function(view, **own), dtype=np.float64)
        if metric.definition.without_targets == "undefined":
            _settle_unanswerable(value, hopeless[_need(metric)], metric, policy)
        value[left_out] = np.nan
        values[:, column] = value


def _need(metric: Metric) -> tuple[float | None, Any]:
    """What decides whether a query has anything for the metric: a threshold, a table of gains."""
    return metric.rel, dict(metric.parameters).get("gains")


def _hopeless(matches: Matches, need: tuple[float | None, Any]) -> Bools:
    rel, gains = need
    graded = matches if gains is None else regraded(matches, gains)
    return ~graded.answerable(rel)


def _view(matches: Matches, key: ViewKey) -> Any:
    view, parameters = key
    return view.of(matches, **dict(parameters))


def _view_key(metric: Metric) -> ViewKey:
    names = metric.definition.view_parameters
    return metric.definition.view, tuple((n, v) for n, v in metric.parameters if n in names)


def _own_parameters(metric: Metric) -> dict[str, Any]:
    """Those that the metric's function takes itself."""
    definition = metric.definition
    own = {n: v for n, v in metric.parameters if n not in definition.view_parameters}
    return own if definition.cutoff == "none" else {**own, "k": metric.k}


def _settle_unanswerable(value: Floats, hopeless: Bools, metric: Metric, policy: Policy) -> None:
    if policy.unanswerable == "zero":
        # 0 is the worst value only where more is better; a first rank of 0 would be the best.
        if metric.definition.better == "higher":
            value[hopeless & np.isnan(value)] = metric.definition.bounds[0]
    else:
        value[hopeless] = np.nan


def _left_out(matches: Matches, policy: Policy) -> Bools:
    out = np.zeros(matches.n_queries, dtype=np.bool_)
    if policy.missing == "exclude":
        out |= matches.having_status(MISSING)
    if policy.errors == "exclude":
        out |= matches.having_status(FAILED)
    return out
