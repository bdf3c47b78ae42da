"""One side of a pair by itself, or a sentence where a file holds the other."""

import os
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run


def load_run(value: Any, name: str | None = None, columns: Columns | None = None) -> Run:
    """What a retriever returned."""
    found = load(value, "run", None, columns)
    if found.run is None:
        raise InvalidInput(
            f"{_called(value, name)} holds no results ({found.kind}); give what a retriever "
            "returned, such as a file of `calipers retrieve`."
        )
    return found.run


def load_ground_truth(
    value: Any, name: str | None = None, columns: Columns | None = None
) -> GroundTruth:
    """What should be found."""
    found = load(value, "ground_truth", None, columns)
    if found.ground_truth is None:
        raise InvalidInput(
            f"{_called(value, name)} holds no ground truth ({found.kind}); name another."
        )
    return found.ground_truth


def _called(value: Any, name: str | None) -> str:
    return str(value) if isinstance(value, str | os.PathLike) else name or "What is given"
