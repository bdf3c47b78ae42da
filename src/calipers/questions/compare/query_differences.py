"""The queries of a comparison, those on which the systems differ most first."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.present.paging import PAGE_SIZE, page_of
from calipers.questions.compare.result import Comparison


@dataclass(frozen=True)
class ContrastRow:
    """One query, with its value in every system."""

    query: str
    text: str | None
    values: tuple[float | None, ...]
    """In the order of the systems."""
    difference: float | None
    """The largest difference from the baseline, with its sign."""


@dataclass(frozen=True)
class ContrastPage:
    """One page of queries."""

    rows: tuple[ContrastRow, ...]
    found: int
    total: int
    page: int
    pages: int


def places_won(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int | None]:
    """How many places each result of a ranking stands higher than in another; None: it is new.

    >>> places_won({"a": 1, "b": 2}, {"b": 1, "a": 2, "c": 3})
    {'b': 1, 'a': -1, 'c': None}
    """
    return {name: before[name] - rank if name in before else None for name, rank in after.items()}


def contrast(
    comparison: Comparison,
    metric: str,
    *,
    text: str = "",
    different: bool = False,
    page: int = 1,
    size: int = PAGE_SIZE,
) -> ContrastPage:
    """The queries by how far the systems lie apart in a metric."""
    column = [facts.name for facts in comparison.metrics].index(metric)
    values = np.column_stack([comparison.values[name][:, column] for name in comparison.systems])
    at = comparison.systems.index(comparison.baseline)
    apart = values - values[:, [at]]
    size_of = np.nan_to_num(np.abs(apart))
    furthest = size_of.argmax(axis=1)
    largest = np.take_along_axis(apart, furthest[:, None], axis=1)[:, 0]
    order = np.argsort(-size_of.max(axis=1), kind="stable")
    if different:
        order = order[size_of.max(axis=1)[order] > 0]
    words = text.strip().lower()
    if words:
        searched = comparison.queries.select(
            pl.concat_str("query", pl.col("text").fill_null(""), separator="\n")
            .str.to_lowercase()
            .str.contains(words, literal=True)
        ).to_series()
        order = order[searched.to_numpy()[order]]
    within, page, pages = page_of(int(order.size), page, size)
    chosen = order[within]
    names = comparison.queries[chosen]
    rows = tuple(
        ContrastRow(
            query,
            said,
            tuple(None if np.isnan(v) else float(v) for v in values[i]),
            None if np.isnan(largest[i]) else float(largest[i]),
        )
        for i, (query, said) in zip(chosen, names.select("query", "text").iter_rows(), strict=True)
    )
    return ContrastPage(rows, int(order.size), int(values.shape[0]), page, pages)
