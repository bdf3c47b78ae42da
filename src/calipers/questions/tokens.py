"""The number of tokens that results cost a language model."""

from collections.abc import Mapping, Sequence
from typing import Self, get_args

import numpy as np

from calipers.frozen import dataclass
from calipers.match.tokens import count_tokens
from calipers.model.arrays import Ints
from calipers.model.matched import Matched, TokenSource
from calipers.questions.shown_results import Context, over_contexts
from calipers.statistics.clusters import exact_mean

TokenSums = Mapping[TokenSource, Ints]
"""One row per query for each source that covers all these results."""


@dataclass(frozen=True, eq=False)
class TokensShown:
    """The tokens of every query's results, and the source of the numbers."""

    table: Ints
    """One row per query, with the requested columns."""
    source: TokenSource

    @classmethod
    def merged(
        cls, parts: Sequence[tuple[Ints, TokenSums]], n_queries: int
    ) -> Self | None:
        """Merge the sums of blocks; None if no source covers all."""
        for source in get_args(TokenSource):
            tables = [(codes, sums[source]) for codes, sums in parts if source in sums]
            if tables and len(tables) == len(parts):
                table = np.zeros((n_queries, tables[0][1].shape[1]), dtype=np.int64)
                for codes, part in tables:
                    table[codes] = part
                return cls(table, source)
        return None


def token_sums(context: Context, ks: Sequence[int]) -> TokenSums:
    """The tokens of the first k of these results, for each source: one column per k."""
    return {
        source: context.summed(counts, ks)
        for source, counts in count_tokens(context.frame)
    }


def may_have_tokens(pair: Matched) -> bool:
    """Whether the run may have tokens, judged by its first results."""
    return pair.run.has("tokens") or pair.run.has("text")


def tokens_shown(pair: Matched, ks: Sequence[int]) -> TokensShown | None:
    """The tokens of each query's first k results; None if tokens are unknown."""
    parts = over_contexts(pair, lambda block: (block.codes, token_sums(block, ks)))
    return TokensShown.merged([*parts], pair.matches.n_queries)


@dataclass(frozen=True)
class TokenUse:
    """The token cost of the first k results."""

    mean: float
    p95: float
    """The 95th percentile over queries."""
    highest: int
    cost: float | None = None
    """What they cost for 1,000 queries, in the currency of the price; None without a
    price."""


def token_use(column: Ints, price: float | None = None) -> TokenUse:
    """Summarise the tokens of the first k results over all queries.

    ``price`` is that of a million tokens.

    >>> token_use(np.array([100, 300]), price=0.5)
    TokenUse(mean=200.0, p95=300.0, highest=300, cost=0.1)
    """
    ordered = np.sort(column)
    # The smallest number that at least 95 of 100 queries do not exceed.
    p95 = float(ordered[max(0, int(np.ceil(0.95 * len(ordered) - 1e-9)) - 1)])
    mean = exact_mean(column.astype(np.float64))
    cost = None if price is None else mean * 1_000 * price / 1_000_000
    return TokenUse(mean, p95, int(ordered[-1]), cost)
