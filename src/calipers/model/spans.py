"""Where chunks and targets stand in their documents."""

from dataclasses import dataclass

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
