"""Results with values that were drawn, for the operations that take a result."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import polars as pl

import calipers
from calipers.engines.summary import summarise
from calipers.model.scores import Scores
from simulations.shapes import Floats


@lru_cache(maxsize=64)
def _measured(n: int, metrics: tuple[str, ...]) -> Scores:
    truth = {f"q{i:05d}": ["a"] for i in range(n)}
    return calipers.evaluate(ground_truth=truth, run=truth, metrics=metrics)


def result(
    values: Floats,
    tags: Mapping[str, Sequence[object]] | None = None,
    metrics: tuple[str, ...] = ("recall@10",),
) -> Scores:
    """A result in which every query has the value (or row of values) drawn for it."""
    columns = values.reshape(len(values), -1)
    base = _measured(len(values), metrics)
    named = {name: pl.Series([str(one) for one in column]) for name, column in (tags or {}).items()}
    return replace(
        base,
        values=columns,
        tags=named,
        summaries=summarise(base.metrics, columns, base.recorded.confidence),
    )


def pair_of(differences: Floats) -> dict[str, Scores]:
    """Two results, between 0 and 1, that differ by so much in recall, or in recall and nDCG."""
    metrics = ("recall@10", "ndcg@10")[: differences[0].size]
    return {
        "old": result(np.maximum(-differences, 0.0), metrics=metrics),
        "new": result(np.maximum(differences, 0.0), metrics=metrics),
    }
