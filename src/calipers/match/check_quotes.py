"""Refusing quotes that say nothing, and a warning about those that say little."""

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.text import normalise

FEW = 8
"""A quote with fewer characters is found in many chunks by chance."""


def check_target_quotes(ground_truth: GroundTruth) -> tuple[str, ...]:
    """An error for an empty quote; a note about very short ones."""
    short = []
    for query, raw in ground_truth.targets.select("query", "quote").iter_rows():
        quote = normalise(raw)
        if not quote:
            raise InvalidInput(
                f"A quote is empty: query {query!r} has the target {raw!r}; a quote is a text to "
                "be found in a chunk. Give it a text, or remove the target."
            )
        if len(quote) < FEW:
            short.append(quote)
    if not short:
        return ()
    named = ", ".join(map(repr, short[:EXAMPLES])) + (", …" if len(short) > EXAMPLES else "")
    quotes = "1 quote has" if len(short) == 1 else f"{len(short):,} quotes have"
    return (
        f"{quotes} fewer than {FEW} characters ({named}): texts that short are found by chance; "
        "quote more of the passage.",
    )
