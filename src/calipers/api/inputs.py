"""What an operation measures: files and values, or what the history kept."""

import os
from typing import Any

from calipers.io.load import load_pair
from calipers.io.source import Progress
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run


def read_pair(
    data: Any,
    ground_truth: Any,
    run: Any,
    progress: Progress | None = None,
    store: str | os.PathLike[str] | None = None,
) -> tuple[GroundTruth, Run]:
    """The ground truth and the run, from files and values or from what the history kept."""
    return load_pair(_kept(data, store), ground_truth, _kept(run, store), progress)


def _kept(value: Any, store: str | os.PathLike[str] | None) -> Any:
    """What a saved evaluation was made from, for a reference; anything else as it is."""
    if not is_reference(value):
        return value
    from calipers.store.load import load_retrieved
    from calipers.store.open import open_store
    from calipers.store.references import resolve

    opened = open_store(store)
    return load_retrieved(opened, resolve(opened, value))


def is_reference(value: Any) -> bool:
    """Whether a value names an evaluation of the history; a file can be written as ./@file."""
    return isinstance(value, str) and value.startswith("@")
