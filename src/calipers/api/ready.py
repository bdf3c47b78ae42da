"""Results that were measured before: scores, a file of them, or a reference to the history."""

import os
from pathlib import Path
from typing import Any

from calipers.api.inputs import is_reference
from calipers.io.baselines import read_baseline
from calipers.io.results import is_result
from calipers.model.gate import Baseline
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
