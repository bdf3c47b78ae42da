"""Everything that is known about one retriever, or several, gathered for a reader."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar

import polars as pl

from calipers.model.result import Plain, ShowsItself
from calipers.model.scores import Scores
from calipers.present.paging import PAGE_SIZE
from calipers.questions.compare.result import Comparison
from calipers.questions.diagnose.result import Diagnosis
from calipers.questions.misses.result import Misses
from calipers.questions.slices.result import Slices
from calipers.questions.sweep.floor_answer import Floor
from calipers.questions.sweep.result import Sweep

FEWEST_SHOWN = 10
"""Results of a ranking that a page shows, even where k is smaller."""


@dataclass(frozen=True, eq=False)
class SystemReport:
    """One retriever: how good, at which k, why it fails, and every ranking."""

    name: str
    k: int
    """The cut-off at which it is described."""
    scores: Scores
    """The metrics that were asked for."""
    head: Scores
    """The metrics that describe it at k."""
    sweep: Sweep | None
    floor: Floor | None
    """Where results have scores and some queries no answer: the score to return nothing below."""
    diagnosis: Diagnosis | None
    misses: Misses | None
    slices: Slices | None
    rankings: Callable[[pl.Series | None], pl.DataFrame]
    """The results of the queries of these names, or of all; see ``rank_table``."""
    targets: pl.DataFrame
    """What should be found, in the order of the numbers in ``rankings``."""
    without: Mapping[str, str]
    """The parts that could not be made, with the reason."""


@dataclass(frozen=True, eq=False, repr=False)
class Report(ShowsItself):
    """What ``calipers.report`` gathers: save it as a page, or show it in a notebook."""

    shown_by: ClassVar[str] = "calipers.questions.report.show"

    systems: tuple[SystemReport, ...]
    comparison: Comparison | None
    definitions: tuple[Mapping[str, Any], ...]
    """Every metric that is shown, defined as ``calipers metrics`` has it."""

    @property
    def scores(self) -> Scores:
        """The scores of the first system."""
        return self.systems[0].scores

    @property
    def k(self) -> int:
        """The cut-off at which the systems are described."""
        return self.systems[0].k

    def to_html(self, *, full: bool = False) -> str:
        """The page as one text; ``full``: every ranking with whole texts, however large."""
        page: str = self._shown.render(self, full=full).text
        return page

    def to_markdown(self) -> str:
        """The short form, for a pull request."""
        text: str = self._shown.report_markdown(self)
        return text

    def save(self, path: str | PathLike[str], *, full: bool = False) -> None:
        """Write the page (.html; ``full``: with everything in it) or the short form (.md)."""
        self._shown.save_report(self, path, full=full)


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
