"""One query before and after a change, scored by every metric in one go."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import calipers
from calipers.measures import Metric
from tests.strategies import ALL_METRICS, VALUES, World

RELS: tuple[Any, ...] = (None, *VALUES["rel"])
"""Every threshold of relevance that is tried; None: a grade above 0."""


@dataclass(frozen=True)
class Case:
    """The same query, answered in two ways."""

    grades: dict[str, float]
    before: list[str]
    after: list[str]
    rels: tuple[Any, ...] = RELS
    """The thresholds of relevance for which the change is what it is meant to be."""


def values_of(world: World, **settings: Any) -> dict[tuple[str, Metric], float]:
    """The value of every metric for every query; NaN where it is undefined."""
    scores = calipers.evaluate(
        ground_truth=world.ground_truth_value(),
        run=world.run_value(),
        metrics=ALL_METRICS,
        corpus_size=1000,
        **settings,
    )
    return {
        (query, metric): value
        for query, row in zip(scores.queries["query"], scores.values.tolist(), strict=True)
        for metric, value in zip(ALL_METRICS, row, strict=True)
    }


def both_values(cases: list[Case]) -> Iterator[tuple[Case, Metric, float, float]]:
    """Every case with every metric: its value before and after the change."""
    truth: dict[str, dict[str, float]] = {}
    run: dict[str, list[tuple[str, float]]] = {}
    for number, case in enumerate(cases):
        for moment, ranking in (("before", case.before), ("after", case.after)):
            truth[f"{number} {moment}"] = case.grades
            run[f"{number} {moment}"] = in_this_order(ranking)
    values = values_of(World(truth, run).anchored())
    for number, case in enumerate(cases):
        for metric in ALL_METRICS:
            if metric.rel not in case.rels:
                continue
            yield (
                case,
                metric,
                values[f"{number} before", metric],
                values[f"{number} after", metric],
            )


def in_this_order(ranking: list[str]) -> list[tuple[str, float]]:
    return [(item, -float(rank)) for rank, item in enumerate(ranking)]


def worth(metric: Metric, value: float) -> float:
    """The value turned so that more is better; undefined is the worst there is."""
    if math.isnan(value):
        return -math.inf
    return -value if metric.definition.better == "lower" else value
