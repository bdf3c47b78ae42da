"""When the queries are so many that their scores are not held."""

from pathlib import Path

from calipers.io.files.write import PARQUET, ending_or, is_stream
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run

MANY_QUERIES = 1_000_000
"""Below this the scores of all queries fit into memory, in the order of the ground truth."""


def is_for_blocks(truth: GroundTruth, run: Run, path: str | Path) -> bool:
    """Whether queries are so many that they are measured in blocks, and can be.

    What a run says about its queries, and what must not be found, are looked at as a whole.
    """
    return (
        truth.n_queries >= MANY_QUERIES
        and truth.forbidden is None
        and not run.in_memory
        and run.queries is None
        and ending_or(path, "") == PARQUET
        and not is_stream(path)
    )
