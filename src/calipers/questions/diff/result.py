"""What changed between two runs: no ground truth is needed for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from reprlib import repr as short
from typing import Any, ClassVar, Literal

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import TableRows
from calipers.model.labels import Label
from calipers.model.result import HasRows, Plain, plain


@dataclass(frozen=True)
class Moved:
    """A result that only one of the two runs has among its first k."""

    item: str
    """The id, or the text where there is no id."""
    rank: int


@dataclass(frozen=True)
class QueryDiff:
    """How much the results for one query changed."""

    query: str
    text: str | None
    rbo: float
    """Rank-biased overlap: 1 for the same ranking, 0 for nothing in common."""
    overlap: float
    """The share of the first k that both have."""
    tau: float | None
    """Kendall's tau over the results that both have; None below two of them."""
    new: tuple[Moved, ...]
    lost: tuple[Moved, ...]

    @property
    def changed(self) -> bool:
        """Whether anything is new, lost or at another rank."""
        return bool(self.new or self.lost) or (self.tau is not None and self.tau < 1)


_MOVED = pl.List(pl.Struct({"item": pl.String(), "rank": pl.Int64()}))
DIFF_SCHEMA: dict[str, pl.DataType] = {
    "query": pl.String(),
    "text": pl.String(),
    "rbo": pl.Float64(),
    "overlap": pl.Float64(),
    "tau": pl.Float64(),
    "changed": pl.Boolean(),
    "new": _MOVED,
    "lost": _MOVED,
}


class QueryDiffs(TableRows[QueryDiff]):
    """The queries of two runs, held as a table of ``DIFF_SCHEMA``."""

    def __init__(self, table: pl.DataFrame) -> None:
        super().__init__(table, _query_diff)

    def changed(self) -> "QueryDiffs":
        """Those with other results, or the same in another order."""
        return QueryDiffs(self.table.filter("changed"))

    def moved(self, which: Literal["new", "lost"]) -> int:
        """How many results are new, or lost, in all."""
        return int(self.table[which].list.len().sum())


def _query_diff(*, changed: bool, new: list[Any], lost: list[Any], **facts: Any) -> QueryDiff:
    del changed  # follows from the others
    moved = (tuple(Moved(**one) for one in some) for some in (new, lost))
    return QueryDiff(**facts, new=next(moved), lost=next(moved))


@dataclass(frozen=True)
class DiffSlice:
    """The mean change over the queries that share something."""

    by: str
    value: str
    queries: int
    changed: int
    rbo: float
    overlap: float


@dataclass(frozen=True, eq=False, repr=False)
class Diff(Plain, HasRows):
    """Two runs side by side, the most changed query first."""

    shown_by: ClassVar[str] = "calipers.questions.diff.document"

    old: str
    new: str
    k: int
    p: float
    queries: "QueryDiffs"
    only_old: tuple[str, ...]
    """Queries that the new run does not have."""
    only_new: tuple[str, ...]
    slices: tuple[DiffSlice, ...]
    to_judge: Sequence[Label]
    """The results that the new run has and the old one has not, in an order that tells nothing."""
    already_judged: int
    """New results left out of these, as the ground truth has them."""
    notes: tuple[str, ...] = ()
    """How the files were read, where that is not plain."""

    @property
    def changed(self) -> int:
        """How many queries have other results, or the same in another order."""
        return int(self.queries.table["changed"].sum())

    def mean(self, name: str) -> float | None:
        """The mean of ``rbo``, ``overlap`` or ``tau`` over the queries that have it."""
        if name not in ("rbo", "overlap", "tau"):
            raise InvalidInput(f"The mean of {short(name)} is not known; rbo, overlap and tau are.")
        values = self.queries.table[name].drop_nulls()
        # In the order of the queries: another would round another sum.
        return sum(values) / len(values) if len(values) else None

    def write(self, path: str | PathLike[str]) -> None:
        """The new results as a file to label, .jsonl or .csv."""
        from calipers.io.records.label_files import write_labels

        unknown = next((one.query_id for one in self.to_judge if one.query is None), None)
        if unknown is not None:
            raise InvalidInput(
                f"The text of the question {unknown!r:.80} is not known: the runs have ids alone, "
                "and nobody can judge an id; give a file that has the texts (-g FILE)."
            )
        write_labels(self.to_judge, path)

    def to_dict(self) -> dict[str, Any]:
        """The whole difference as plain values: what ``--json`` prints."""
        return plain(
            {
                "old": self.old,
                "new": self.new,
                "k": self.k,
                "p": self.p,
                "queries": len(self.queries),
                "changed": self.changed,
                "means": {name: self.mean(name) for name in ("rbo", "overlap", "tau")},
                "new_results": self.queries.moved("new"),
                "lost_results": self.queries.moved("lost"),
                "to_judge": len(self.to_judge),
                "already_judged": self.already_judged,
                "only_old": self.only_old,
                "only_new": self.only_new,
                "slices": self.slices,
                "per_query": self.queries,
            }
        )
