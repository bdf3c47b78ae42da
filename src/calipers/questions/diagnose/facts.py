"""What the results of queries say beyond what they hold, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from calipers.model.arrays import Bools, Hashes, Ints
from calipers.model.matched import Matches
from calipers.questions.shown_results import Context
from calipers.questions.tokens import Tokenizer, TokensShown, TokenSums, token_sums


@dataclass(frozen=True, eq=False)
class ShownFacts:
    """What the results of some queries say, beyond what they hold; blocks of them merge."""

    codes: Ints
    """The rows of these queries among all."""
    target_rows: Ints
    repeated: Ints
    """How many of the first k of each query repeat an earlier result."""
    lists: Hashes | None
    """A number for the first k items of each query, the same for the same list; None without."""
    firsts: np.ndarray | None
    """The document, or else the item, that stands first for each query; None without."""
    near: Bools | None
    """Which targets have a chunk of their document in the first k; None without documents."""
    has_scores: bool
    tokens: TokenSums
    """Those of the first k that hold no target, then those of the first results at each k."""

    @classmethod
    def of(
        cls, block: Context, k: int, ks: Sequence[int], tokenizer: Tokenizer | None = None
    ) -> Self:
        """The facts of one block of whole queries."""
        frame = block.frame
        return cls(
            block.codes,
            block.target_rows,
            block.summed(block.repeats, [k])[:, 0],
            _lists(block.first(k), block.matches.n_queries) if "item" in frame.columns else None,
            _firsts(block.first(1), block.matches.n_queries),
            block.near(k) if "document" in frame.columns else None,
            "score" in frame.columns and not frame["score"].null_count(),
            token_sums(
                block,
                lambda counts: np.hstack(
                    [
                        block.summed(np.where(block.holds_target, 0, counts), [k]),
                        block.summed(counts, ks),
                    ]
                ),
                tokenizer,
            ),
        )

    @classmethod
    def merged(cls, parts: Sequence["ShownFacts"], matches: Matches) -> "ShownFacts":
        """The facts of all queries; those that got no results have none."""
        n, targets = matches.n_queries, matches.target_query.size
        repeated = np.zeros(n, dtype=np.int64)
        lists, near = np.zeros(n, dtype=np.uint64), np.zeros(targets, dtype=np.bool_)
        firsts = np.full(n, "", dtype=object)
        for one in parts:
            repeated[one.codes] = one.repeated
            if one.firsts is not None:
                firsts[one.codes] = one.firsts
            if one.lists is not None:
                lists[one.codes] = one.lists
            if one.near is not None:
                near[one.target_rows] = one.near
        tokens = TokensShown.merged([(one.codes, one.tokens) for one in parts], n)
        return cls(
            np.arange(n),
            np.arange(targets),
            repeated,
            lists if parts and all(one.lists is not None for one in parts) else None,
            firsts if parts and all(one.firsts is not None for one in parts) else None,
            near if any(one.near is not None for one in parts) else None,
            bool(parts) and all(one.has_scores for one in parts),
            {} if tokens is None else {tokens.source: tokens.table},
        )


def _lists(first: pl.DataFrame, n_queries: int) -> Hashes:
    listed = first.group_by("code", maintain_order=True).agg(pl.col("item").str.join("\n"))
    found = np.zeros(n_queries, dtype=np.uint64)
    found[listed["code"].to_numpy()] = listed["item"].hash().to_numpy()
    return found


def _firsts(first: pl.DataFrame, n_queries: int) -> np.ndarray | None:
    known = [name for name in ("document", "item") if name in first.columns]
    if not known:
        return None
    named = first.select("code", pl.coalesce(pl.col(known).cast(pl.String)).fill_null(""))
    found = np.full(n_queries, "", dtype=object)
    found[named["code"].to_numpy()] = named[known[0]].to_list()
    return found
