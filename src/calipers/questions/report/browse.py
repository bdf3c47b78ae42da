"""An evaluation held ready to be looked through, a page at a time."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.present.paging import page_of
from calipers.questions.misses.result import REASONS, Misses
from calipers.questions.misses.rule import explain_misses
from calipers.questions.report.result import (
    FEWEST_SHOWN,
    OpenedQuery,
    QueryPage,
    QueryRow,
    View,
)
from calipers.questions.report.rule import DEFAULT_K, HEAD, rank_table
from calipers.questions.report.rule import LISTED as LISTED
from calipers.questions.report.subset import Portions
from calipers.words import did_you_mean

SHOWN = ("recall", "precision", "ndcg", "mrr")
"""The metrics that a list shows, at the cut-off of the evaluation."""
LONGEST_PAGE = 1_000
"""Cases of misses that can be asked for at once."""
AHEAD = LISTED - LONGEST_PAGE
"""A page that begins in the first so many cases ends in what is held ready."""


@dataclass(eq=False)
class Browse:
    """One evaluation. ``pair`` is None where what was retrieved was not kept."""

    name: str
    scores: Scores
    pair: Matched | None = None
    _misses: Misses | None = field(default=None, repr=False)
    _further: tuple[int, Misses] | None = field(default=None, repr=False)
    """A later page of the cases, and where it begins."""
    _explaining: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def k(self) -> int:
        """The cut-off at which it is described: the largest that was measured."""
        return max((m.k for m in self.scores.metrics if m.k is not None), default=DEFAULT_K)

    @cached_property
    def head(self) -> Scores:
        """The metrics that describe it at k."""
        if self.pair is None:
            return self.scores
        return score(self.pair, parse(HEAD, [self.k]))

    @cached_property
    def shown(self) -> list[str]:
        """The metrics that the list shows."""
        names = [facts.name for facts in self.head.metrics]
        wanted = [name for name in names if name.partition("@")[0] in SHOWN]
        ordered = sorted(wanted, key=lambda one: SHOWN.index(one.partition("@")[0]))
        return (ordered if self.pair is not None else wanted or names)[: len(SHOWN)]

    @cached_property
    def _portions(self) -> Portions | None:
        return None if self.pair is None else Portions(self.pair)

    @cached_property
    def missed(self) -> pl.Series | None:
        """How many pieces of ground truth each query misses among the first k; None: unknown."""
        if self.pair is None:
            return None
        matches = self.pair.matches
        relevant = matches.relevant(self.pair.rel)
        near = (matches.edge_rank <= self.k) & relevant[matches.edge_target]
        wanted, found = (
            # A unit is found once, however many of its alternatives are.
            np.bincount(
                matches.target_query[some][np.unique(matches.target_unit[some], True)[1]],
                minlength=matches.n_queries,
            )
            for some in (np.flatnonzero(relevant), matches.edge_target[near])
        )
        counted = ~np.isnan(self.head.of(self._recall)) | (wanted == 0)
        return pl.Series("missed", np.where(counted, wanted - found, 0))

    @property
    def _recall(self) -> str:
        return next(name for name in self.metrics if name.startswith("recall"))

    def explain(self) -> Misses:
        """Why pieces of ground truth are missing: all counts, and the first cases.

        Found out once, whoever asks first.
        """
        with self._explaining:
            if self._misses is None:
                self._misses = self._explained(0)
            return self._misses

    def _explained(self, first: int) -> Misses:
        if self.pair is None:
            raise InvalidInput("What was retrieved was not kept, so misses cannot be explained.")
        return explain_misses(self.pair, self.k, cases=range(first, first + LISTED))

    @property
    def reasons(self) -> list[str]:
        """The reasons that some miss has, in the order of the rules; all while it is not known."""
        if self.pair is None:
            return []
        known = self._misses
        return [one.name for one in REASONS if known is None or one.name in known.reasons]

    def misses(self, first: int, size: int) -> Misses:
        """The same with a page of the cases; two pages side by side are seldom far apart."""
        found, begin = self.explain(), first - first % AHEAD
        if begin:
            with self._explaining:
                if self._further is None or self._further[0] != begin:
                    self._further = None
                    self._further = begin, self._explained(begin)
                found = self._further[1]
        within = slice(first - begin, first - begin + size)
        return replace(
            found, table=found.table[within], false_positives=found.false_positives[within]
        )

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per query, with everything that can be asked for or sorted by."""
        scores = self.head
        values = {facts.name: scores.values[:, i] for i, facts in enumerate(scores.metrics)}
        frame = pl.DataFrame(
            [
                *scores.queries.select("query", "text", "status"),
                *(tag.alias(f"tag.{name}") for name, tag in scores.tags.items()),
                *(pl.Series(name, column) for name, column in values.items()),
            ]
        ).with_row_index("row")
        frame = frame.with_columns(
            pl.col(list(values)).fill_nan(None),
            searched=pl.concat_str(
                "query", pl.col("text").fill_null(""), separator="\n"
            ).str.to_lowercase(),
        )
        unknown = pl.lit(None, dtype=pl.Int64).alias("missed")
        return frame.with_columns(unknown if self.missed is None else self.missed)

    @property
    def metrics(self) -> list[str]:
        """Every metric that can be asked for."""
        return [facts.name for facts in self.head.metrics]

    @cached_property
    def tags(self) -> dict[str, list[str]]:
        """The values of each tag that has a few of them."""
        found = {}
        for name, tag in self.head.tags.items():
            values = tag.drop_nulls().cast(pl.String).unique().sort().to_list()
            if 1 < len(values) <= 50:
                found[name] = values
        return found

    @cached_property
    def _worst(self) -> list[str]:
        first = [name for name in self.shown if name.startswith(("recall", "ndcg"))]
        return first or self.shown[:1]

    def select(self, view: View) -> QueryPage:
        """The queries that fit a view, one page of them."""
        self._check(view)
        found = self.table.lazy()
        for condition in self._conditions(view):
            found = found.filter(condition)
        # Sorting needs a few columns only; what is shown is taken from the table by row.
        columns = {"": self._worst, "order": ["row"], "query": ["searched"]}
        by = columns.get(view.sort, [view.sort])
        rows = (
            found.select("row", *dict.fromkeys(one for one in by if one != "row"))
            .sort([*by, "row"], descending=[view.down] * len(by) + [False], nulls_last=True)
            .select("row")
            .collect()["row"]
        )
        within, page, pages = page_of(len(rows), view.page, view.size)
        chosen = self.table[rows[within].to_numpy()]
        return QueryPage(tuple(self._rows(chosen)), len(rows), self.table.height, page, pages)

    def _check(self, view: View) -> None:
        known = [*self.metrics, "query", "missed", "order"]
        for name in (view.sort or "order", view.metric or "order"):
            if name not in known:
                raise InvalidInput(
                    f"The queries have no {name!r:.60}; they have {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
        for tag in view.slices:
            if tag not in self.head.tags:
                raise InvalidInput(
                    f"The queries have no tag {tag!r:.60}; they have "
                    f"{', '.join(self.head.tags) or 'none'}."
                )
        names = [reason.name for reason in REASONS]
        if view.reason is not None and view.reason not in names:
            raise InvalidInput(
                f"There is no reason {view.reason!r:.60}; the reasons are {', '.join(names)}."
            )

    def _conditions(self, view: View) -> Iterator[pl.Expr]:
        words = view.text.strip().lower()
        if words:
            yield pl.col("searched").str.contains(words, literal=True)
        for tag, value in view.slices.items():
            yield pl.col(f"tag.{tag}").cast(pl.String) == value
        if view.metric is not None and view.below is not None:
            yield pl.col(view.metric) < view.below
        if view.reason is not None:
            some = self.explain().by_query.filter(reason=view.reason)["query"]
            yield pl.col("query").is_in(some.unique().implode())
        if view.failures:
            hits = [name for name in self.metrics if name.startswith("hit_rate")]
            yield pl.col((hits or self.shown)[0]) == 0

    def _rows(self, chosen: pl.DataFrame) -> Iterator[QueryRow]:
        for row in chosen.iter_rows(named=True):
            yield QueryRow(
                row["row"],
                row["query"],
                row["text"],
                row["status"],
                {name: row[f"tag.{name}"] for name in self.head.tags},
                {name: row[name] for name in self.metrics},
                row["missed"],
            )

    def row_of(self, query: str) -> int | None:
        """The row of a query; None where there is none of that id."""
        found = self.table.filter(pl.col("query") == query)["row"]
        return int(found[0]) if len(found) else None

    def open(self, row: int) -> OpenedQuery:
        """Everything about one query."""
        if not 0 <= row < self.table.height:
            raise InvalidInput(
                f"There is no query number {row}; the evaluation has {self.table.height}, from 0."
            )
        [found] = self._rows(self.table[row : row + 1])
        if self._portions is None:
            return OpenedQuery(found, pl.DataFrame(), pl.DataFrame(), None)
        alone = self._portions.between(row, row + 1)
        rankings = rank_table(alone, max(self.k, FEWEST_SHOWN))
        try:
            misses: Misses | None = explain_misses(alone, self.k, every_text=True)
        except InvalidInput:
            misses = None
        return OpenedQuery(found, rankings, alone.targets, misses)
