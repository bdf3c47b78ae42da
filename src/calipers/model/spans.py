"""Where chunks and targets stand in their documents."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from calipers.errors import InvalidInput
from calipers.model.arrays import Ints


@dataclass(frozen=True, eq=False)
class SpanTable:
    """Chunks and targets as intervals of characters on one long line.

    Every document of every query has a stretch of the line for itself, so that intervals meet
    only where query and document are the same. Ends are not part of an interval.
    """

    chunk_query: Ints
    chunk_rank: Ints
    chunk_start: Ints
    chunk_end: Ints
    target_start: Ints
    """In the order of the targets in the matches."""
    target_end: Ints


def check_direction(rows: pl.DataFrame, where: Callable[[int], str], before: int = 0) -> None:
    """Refuse a row whose span ends before it starts.

    ``where`` says where a row came from, given its number among all; ``before`` these came others.
    """
    if not {"start", "end"} <= set(rows.columns) or rows["end"].null_count() == rows.height:
        return
    wrong = (rows["end"] < rows["start"]).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InvalidInput(backwards(where(before + row), rows["start"][row], rows["end"][row]))


def backwards(place: str, start: int, end: int) -> str:
    """The sentence about a span that ends before it starts.

    >>> backwards("evals.jsonl:2 $.retrieved[0]", 9, 4)
    'A span ends before it starts at evals.jsonl:2 $.retrieved[0]: found start 9 and end 4; the \
end is the place after the last character. Correct it.'
    """
    return (
        f"A span ends before it starts at {place}: found start {start} and end {end}; the end is "
        "the place after the last character. Correct it."
    )
