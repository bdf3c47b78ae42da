"""Results that were measured before: scores, a file of them, or a reference to the history."""

import os
from pathlib import Path
from typing import Any

from calipers.io.baselines import read_baseline
from calipers.io.load import load_pair
from calipers.io.results import is_result
from calipers.io.source import Progress
from calipers.model.gate import Baseline
from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run
from calipers.model.scores import Scores

GIVEN = "baseline"
"""What scores that were handed over are called."""


def measured_before(value: Any, store: str | os.PathLike[str] | None = None) -> Baseline | None:
    """A result with its name and date, from scores, a result file or a reference such as @main.

    None for anything else: a run, a file of records. Every operation that takes results asks
    here, so that all of them take the same.
    """
    if isinstance(value, Baseline):
        return value
    if isinstance(value, Scores):
        return Baseline(value, GIVEN, None)
    if is_reference(value):
        from calipers.store.load import load_scores
        from calipers.store.open import open_store
        from calipers.store.references import resolve

        opened = open_store(store)
        evaluation = resolve(opened, value)
        return Baseline(load_scores(opened, evaluation), value, evaluation.saved)
    if isinstance(value, str | os.PathLike) and Path(value).is_file() and is_result(Path(value)):
        return read_baseline(Path(value))
    return None


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
