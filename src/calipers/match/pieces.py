"""Which targets came back only in part: cut by the edge of a chunk."""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from calipers.match.quote import Quote
from calipers.model.arrays import Bools
from calipers.text import normalise

PART = 0.25
"""A result holds a piece of a target from this share of it on; less may be chance."""
SHORTEST = 8
"""Characters, without spaces, that a piece of a quote has at least."""


def quotes_in_part(
    quotes: Iterable[tuple[str, Sequence[str]]], *, ignore_case: bool
) -> list[bool]:
    """For each quote with the texts of some results, whether one of them holds a piece of it.

    >>> texts = ["It is a lock. The lock is held by one", "All about lists."]
    >>> quotes_in_part(
    ...     [("The lock is held by one thread at a time", texts), ("other", texts)],
    ...     ignore_case=False,
    ... )
    [True, False]
    """
    plain: dict[str, str] = {}

    def normalised(text: str) -> str:
        # The same chunk comes back for many queries: each text is normalised once.
        if text not in plain:
            plain[text] = normalise(text, ignore_case=ignore_case)
        return plain[text]

    return [
        _holds_piece(Quote(normalised(quote)), map(normalised, texts))
        for quote, texts in quotes
    ]


def _holds_piece(quote: Quote, texts: Iterable[str]) -> bool:
    """Whether one of the texts holds a piece of the quote at its edge, or lies within it."""
    least = max(PART * quote.length, SHORTEST)
    for text in texts:
        if quote.text in text:
            return True
        if not quote.may_be_cut(text):
            continue
        if any(end - start >= least for start, end in quote.edge_pieces(text)):
            return True
    return False


def spans_in_part(targets: pl.DataFrame, results: pl.DataFrame) -> Bools:
    """Which targets share a part of their characters with a result of their query.

    Both have code, document, start and end.
    """
    wanted = targets.select(
        "code", "document", pl.col("start").alias("from"), pl.col("end").alias("to")
    ).with_row_index("row")
    shared = pl.min_horizontal("end", "to") - pl.max_horizontal("start", "from")
    least = pl.max_horizontal(PART * (pl.col("to") - pl.col("from")), 1)
    meeting = wanted.join(
        results.select("code", "document", "start", "end"), on=["code", "document"]
    )
    held = np.zeros(targets.height, dtype=np.bool_)
    held[meeting.filter(shared >= least)["row"].to_numpy()] = True
    return held
