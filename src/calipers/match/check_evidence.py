"""Refusing quotes that say nothing, and spans that cannot be places in a document."""

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES
from calipers.model.ranking import RankedBatch
from calipers.text import normalise

FEW = 8
"""A quote with fewer characters is found in many chunks by chance."""
_ALLOWED = (
    "a span has a document, a start of at least 0 and an end, counted in characters of the "
    "document's text; the end is not part of it"
)


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


def check_target_spans(ground_truth: GroundTruth) -> None:
    """Every target has a document and at least one character in it."""
    targets = ground_truth.targets
    bad = targets.select(_broken() | (pl.col("end") <= pl.col("start"))).to_series()
    if bad.any():
        row = targets.row(int(bad.arg_true()[0]), named=True)
        raise InvalidInput(
            f"A target's span cannot be used: query {row['query']!r}, {_show(row)}; {_ALLOWED}, "
            "and a target has at least one character. Correct it in the ground truth."
        )


def check_result_spans(batch: RankedBatch) -> None:
    """Every result has a document and an end that is not before its start."""
    frame = batch.frame
    absent = [name for name in ("document", "start", "end") if name not in frame.columns]
    if absent:
        raise InvalidInput(
            f"The results have no {' and no '.join(map(repr, absent))}, and the ground truth is "
            f"matched by span: query {frame['query'][0]!r}, rank {batch.rank[0]}; {_ALLOWED}."
        )
    bad = frame.select(_broken() | (pl.col("end") < pl.col("start"))).to_series()
    if bad.any():
        at = int(bad.arg_true()[0])
        row = frame.row(at, named=True)
        raise InvalidInput(
            f"A result's span cannot be used: query {row['query']!r}, rank {batch.rank[at]}, "
            f"{_show(row)}; {_ALLOWED}. Correct it in the results."
        )


def _broken() -> pl.Expr:
    missing = pl.any_horizontal(pl.col("document", "start", "end").is_null())
    return missing | (pl.col("start") < 0).fill_null(True)


def _show(row: dict[str, object]) -> str:
    return f"document {row['document']!r}, start {row['start']}, end {row['end']}"
