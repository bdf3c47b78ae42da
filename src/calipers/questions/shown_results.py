"""What a language model gets to read: the results of every query, with what each holds."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl

from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.matches import FAILED, Matches
from calipers.model.policy import Ties
from calipers.model.run import Run
from calipers.questions.listing import repeated
from calipers.questions.tokens import TokenCounts, Tokenizer, count_tokens


@dataclass(frozen=True, eq=False)
class Context:
    """The results of the queries of the ground truth, sorted by query and rank."""

    frame: pl.DataFrame
    """code (of the query), rank, and item, text, document, tokens where the run has them."""
    matches: Matches
    rel: float | None = None

    @classmethod
    def of(cls, run: Run, matches: Matches, *, ties: Ties | None, rel: float | None) -> Self:
        """The results of a run, as they were ranked for its matches."""
        frame = replace(run, ties=ties or run.ties).frame
        known = matches.queries.select("query", "status").with_row_index("code")
        frame = (
            frame.join(known.filter(pl.col("status") != FAILED), on="query", how="inner")
            .with_columns(pl.col("code").cast(pl.Int64))
            .sort("code", "rank")
            .drop("query", "status")
        )
        return cls(frame, matches, rel)

    @cached_property
    def code(self) -> Ints:
        """The query of each result."""
        return self.frame["code"].to_numpy().astype(np.int64)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each result."""
        return self.frame["rank"].to_numpy().astype(np.int64)

    @cached_property
    def holds_target(self) -> Bools:
        """Which results hold a relevant target."""
        matches = self.matches
        relevant = matches.relevant(self.rel)[matches.edge_target]
        edges = pl.DataFrame(
            {"code": matches.edge_query[relevant], "rank": matches.edge_rank[relevant]}
        ).unique()
        held = self.frame.select("code", "rank").join(
            edges.with_columns(held=pl.lit(True)),
            on=["code", "rank"],
            how="left",
            maintain_order="left",
        )
        mask: Bools = held["held"].fill_null(False).to_numpy()
        return mask

    @cached_property
    def repeats(self) -> Bools:
        """Which results were returned before for the same query, by id or word for word."""
        return repeated(self.code, self.frame)

    def tokens(self, tokenizer: Tokenizer | None = None) -> TokenCounts | None:
        """The tokens of every result, or None where nothing is known of them."""
        return count_tokens(self.frame, tokenizer)

    def summed(self, weights: Ints | Bools, k: int) -> Floats:
        """Per query, the sum over its first k results."""
        within = self.rank <= k
        sums = np.bincount(
            self.code[within], weights[within].astype(np.float64), self.matches.n_queries
        )
        return sums.astype(np.float64)


def wanted_per_query(matches: Matches, rel: float | None = None) -> Ints:
    """How many targets each query has to find; alternatives count as one."""
    relevant = matches.relevant(rel)
    first = np.unique(matches.target_unit[relevant], return_index=True)[1]
    counts = np.bincount(matches.target_query[relevant][first], minlength=matches.n_queries)
    return counts.astype(np.int64)


def has_tokens(run: Run) -> bool:
    """Whether it is worth looking for tokens in the whole run, judged by its first batch."""
    first = next(iter(run.scan()), None)
    return first is not None and bool({"tokens", "text"} & set(first.columns))
