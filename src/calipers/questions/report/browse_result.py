"""A part of an evaluation that fits on a screen: what was asked for, and what there is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from calipers.model.result import Plain
from calipers.present.paging import PAGE_SIZE
from calipers.questions.misses.result import Misses


@dataclass(frozen=True, kw_only=True)
class View:
    """Which queries are shown, in which order; an address can hold all of it."""

    text: str = ""
    """Words in the query or its id."""
    slices: Mapping[str, str] = field(default_factory=dict)
    """Tags with the value that a query must have."""
    metric: str | None = None
    below: float | None = None
    """Only queries whose ``metric`` is below this."""
    reason: str | None = None
    """Only queries with a miss for this reason."""
    failures: bool = False
    """Only queries without a hit among the first k."""
    sort: str = ""
    """A metric, "query", "missed" or "order"; empty: the worst first."""
    down: bool = False
    page: int = 1
    size: int = PAGE_SIZE


@dataclass(frozen=True)
class QueryRow(Plain):
    """One query in the list."""

    dict_keys: ClassVar[str] = "row query text status tags scores=values missed"

    row: int
    """Its place in the evaluation, from 0."""
    query: str
    text: str | None
    status: str
    tags: Mapping[str, str | None]
    values: Mapping[str, float | None]
    missed: int | None
    """Pieces of ground truth that are not among the first k; None where it is not known."""


@dataclass(frozen=True)
class QueryPage(Plain):
    """One page of queries."""

    dict_keys: ClassVar[str] = "page pages found total queries=rows"

    rows: tuple[QueryRow, ...]
    found: int
    """Queries that fit, on this page or another."""
    total: int
    page: int
    pages: int


@dataclass(frozen=True, eq=False)
class OpenedQuery:
    """One query with everything that is known of it."""

    row: QueryRow
    rankings: pl.DataFrame
    """As in a report: rank, what is known of the result, ``targets``, ``grade``, ``state``."""
    targets: pl.DataFrame
    """What should be found, in the order of the numbers in ``rankings``."""
    misses: Misses | None
