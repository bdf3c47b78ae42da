"""A part of an evaluation that fits on a screen: what was asked for, and what there is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from calipers.questions.misses.result import Misses

PAGE_SIZE = 50
LARGEST_PAGE = 500


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
class QueryRow:
    """One query in the list."""

    row: int
    """Its place in the evaluation, from 0."""
    query: str
    text: str | None
    status: str
    tags: Mapping[str, str | None]
    values: Mapping[str, float | None]
    missed: int | None
    """Pieces of ground truth that are not among the first k; None where it is not known."""

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "row": self.row,
            "query": self.query,
            "text": self.text,
            "status": self.status,
            "tags": dict(self.tags),
            "scores": dict(self.values),
            "missed": self.missed,
        }


@dataclass(frozen=True)
class QueryPage:
    """One page of queries."""

    rows: tuple[QueryRow, ...]
    found: int
    """Queries that fit, on this page or another."""
    total: int
    page: int
    pages: int

    def to_dict(self) -> dict[str, Any]:
        """The page as plain values."""
        return {
            "page": self.page,
            "pages": self.pages,
            "found": self.found,
            "total": self.total,
            "queries": [one.to_dict() for one in self.rows],
        }


@dataclass(frozen=True, eq=False)
class OpenedQuery:
    """One query with everything that is known of it."""

    row: QueryRow
    rankings: pl.DataFrame
    """As in a report: rank, what is known of the result, ``targets``, ``grade``, ``state``."""
    targets: pl.DataFrame
    """What should be found, in the order of the numbers in ``rankings``."""
    misses: Misses | None
