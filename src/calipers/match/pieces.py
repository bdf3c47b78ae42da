"""Which targets came back only in part: cut by the edge of a chunk."""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from calipers.match.quote import Quote
from calipers.model.arrays import Ints
from calipers.text import normalise

PART = 0.25
"""A result holds a piece of a target from this share of it on; less may be chance."""
SHORTEST = 8
"""Characters, without spaces, that a piece of a quote has at least."""


def quotes_in_part(
    quotes: Iterable[tuple[str, Sequence[str]]], *, ignore_case: bool
) -> list[int]:
    """For each quote with some texts, the place of the first that holds a piece of it; else 0.

    >>> texts = ["All about lists.", "It is a lock. The lock is held by one"]
    >>> quotes_in_part(
    ...     [("The lock is held by one thread at a time", texts), ("other", texts)],
    ...     ignore_case=False,
    ... )
    [2, 0]
    """
    plain: dict[str, str] = {}

    def normalised(text: str) -> str:
        # The same chunk comes back for many queries: each text is normalised once.
        if text not in plain:
            plain[text] = normalise(text, ignore_case=ignore_case)
        return plain[text]

    return [
        _first_with_piece(Quote(normalised(quote)), map(normalised, texts))
        for quote, texts in quotes
    ]


def first_pieces(
    quotes: Iterable[tuple[str, Sequence[str]]], *, ignore_case: bool
) -> list[int]:
    """The place of the first text that holds a piece of each quote; 0 where one holds it whole.

    The texts are those of the results down to the one with which they hold the quote.

    >>> halves = ["The lock is held by", "All about lists.", "one thread at a time. So it is."]
    >>> quote = "The lock is held by one thread at a time"
    >>> first_pieces([(quote, halves), (quote, [*halves, f"{quote}."])], ignore_case=False)
    [1, 0]
    """
    found: list[int] = []
    for raw, listed in quotes:
        quote = Quote(normalise(raw, ignore_case=ignore_case))
        texts = [normalise(text, ignore_case=ignore_case) for text in listed]
        if quote.text in texts[-1] or any(quote.text in text for text in texts):
            found.append(0)
            continue
        found.append(_first_with_piece(quote, texts))
    return found


def _first_with_piece(quote: Quote, texts: Iterable[str]) -> int:
    """The place of the first text with a piece of the quote at its edge, or within it; else 0."""
    least = max(PART * quote.length, SHORTEST)
    for at, text in enumerate(texts, 1):
        if quote.text in text:
            return at
        if not quote.may_be_cut(text):
            continue
        if any(end - start >= least for start, end in quote.edge_pieces(text)):
            return at
    return 0


def first_span_pieces(targets: pl.DataFrame, results: pl.DataFrame, least: float) -> Ints:
    """The rank of the first result with a piece of each span; 0 where one holds it alone.

    Both have code, document, start and end; results have their rank, and targets that of the
    result with which they are held. ``least`` is the share that holds a target.
    """
    wanted = targets.select(
        "code",
        "document",
        pl.col("start").alias("from"),
        pl.col("end").alias("to"),
        pl.col("rank").alias("until"),
    ).with_row_index("row")
    length = pl.col("to") - pl.col("from")
    shared = pl.min_horizontal("end", "to") - pl.max_horizontal("start", "from")
    pieces = (
        wanted.join(results, on=["code", "document"])
        .with_columns(share=shared / length)
        .filter((pl.col("share") > 0) & (pl.col("rank") <= pl.col("until")))
        .group_by("row")
        .agg(pl.col("rank").min(), whole=pl.col("share").max() >= least - 1e-9)
        .filter(~pl.col("whole"))
    )
    first = np.zeros(targets.height, dtype=np.int64)
    first[pieces["row"].to_numpy()] = pieces["rank"].to_numpy()
    return first


def spans_in_part(targets: pl.DataFrame, results: pl.DataFrame) -> Ints:
    """For each target, the rank of the first result that has a part of its characters; else 0.

    Both have code, document, start and end; results have their rank.
    """
    wanted = targets.select(
        "code", "document", pl.col("start").alias("from"), pl.col("end").alias("to")
    ).with_row_index("row")
    shared = pl.min_horizontal("end", "to") - pl.max_horizontal("start", "from")
    least = pl.max_horizontal(PART * (pl.col("to") - pl.col("from")), 1)
    meeting = (
        wanted.join(results, on=["code", "document"])
        .filter(shared >= least)
        .group_by("row")
        .agg(pl.col("rank").min())
    )
    first = np.zeros(targets.height, dtype=np.int64)
    first[meeting["row"].to_numpy()] = meeting["rank"].to_numpy()
    return first
