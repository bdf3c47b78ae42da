"""The tokens of results: given with them, or estimated from the length of their texts."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from calipers.match.tally import QueryPlaces
from calipers.model.arrays import Ints
from calipers.model.matched import TokenSource, TokenTable
from calipers.model.policy import Ties
from calipers.model.ranking import NotGroupedError
from calipers.model.run import Run

CHARACTERS_PER_TOKEN = 4
"""A common rule of thumb for English prose; other languages and code need more tokens."""
UNKNOWN = -1


def count_tokens(results: pl.DataFrame) -> Iterator[tuple[TokenSource, Ints]]:
    """The tokens of every result, by each source that covers all results, the better one first."""
    for source, counts in _by_source(results):
        if not (counts == UNKNOWN).any():
            yield source, counts


def _by_source(results: pl.DataFrame) -> Iterator[tuple[TokenSource, Ints]]:
    """The tokens of every result by each source; -1 where it does not know them."""
    if "tokens" in results.columns:
        yield "data", results["tokens"].fill_null(UNKNOWN).to_numpy().astype(np.int64)
    if "text" in results.columns:
        lengths = results["text"].str.len_chars().cast(pl.Int64).fill_null(-1).to_numpy()
        yield (
            "estimate",
            np.where(lengths < 0, UNKNOWN, -(-lengths // CHARACTERS_PER_TOKEN)),
        )


def token_table(queries: pl.Series, run: Run, ties: Ties | None) -> TokenTable | None:
    """The tokens of all results of these queries; None where no result has any.

    From the source that knows most results, and of two that know as many from the data.
    """
    if not run.has("tokens") and not run.has("text"):
        return None
    try:
        parts = list(_counted(queries, run, ties))
    except NotGroupedError:
        parts = list(_counted(queries, run.grouped(), ties))
    known = {
        source: sum(int((counts != UNKNOWN).sum()) for _, counts in _of(source, parts))
        for source in ("data", "estimate")
    }
    best: TokenSource = "data" if known["data"] >= known["estimate"] else "estimate"
    if not known[best]:
        return None
    chosen = list(_of(best, parts))
    code = np.concatenate([codes for codes, _ in chosen])
    tokens = np.concatenate([counts for _, counts in chosen])
    order = np.argsort(code, kind="stable")
    return TokenTable.of(code[order], tokens[order], len(queries), best)


Counted = tuple[Ints, dict[TokenSource, Ints]]


def _counted(queries: pl.Series, run: Run, ties: Ties | None) -> Iterator[Counted]:
    """The query of each result of known queries, and its tokens by each source."""
    places = QueryPlaces(queries)
    for batch in run.ranked(ties):
        code = np.repeat(places.following(batch.queries), batch.lengths)
        known = code >= 0
        by_source = {source: counts[known] for source, counts in _by_source(batch.frame)}
        yield code[known], by_source


def _of(source: TokenSource, parts: list[Counted]) -> Iterator[tuple[Ints, Ints]]:
    """The queries and tokens by one source; -1 in the parts that do not have it."""
    for code, by_source in parts:
        yield code, by_source.get(source, np.full(code.size, UNKNOWN))
