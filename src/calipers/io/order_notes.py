"""What must be said about lists whose scores do not say the order they stand in."""

import polars as pl


def order_notes(results: pl.DataFrame) -> tuple[str, ...]:
    """A note where scores rise along lists, the rows of which stand in the order that counts.

    >>> rising = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [0.1, 0.9]})
    >>> len(order_notes(rising)), order_notes(rising.reverse())
    (1, ())
    """
    if "score" not in results.columns:
        return ()
    rises = (pl.col("score") > pl.col("score").shift(1)) & (
        pl.col("query") == pl.col("query").shift(1)
    )
    found = results.filter(rises.fill_null(False))["query"].unique(maintain_order=True)
    if not len(found):
        return ()
    queries = "1 query rise" if len(found) == 1 else f"{len(found):,} queries rise"
    return (
        f"The scores of {queries} along the list, such as those of {found[0]!r:.60}: the order of "
        "the list counts, not the scores. Where they are distances that is right; else sort the "
        "lists, or give a mapping of item to score.",
    )
