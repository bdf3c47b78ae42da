"""Keep a result, so that later ones can be compared with it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calipers.api.evaluate import evaluate
from calipers.errors import InvalidInput
from calipers.io.baselines import read_baseline, write_baseline
from calipers.io.write import check_place
from calipers.model.gate import Baseline

__all__ = ["read_baseline", "save_baseline"]


def save_baseline(
    data: Any = None,
    *,
    to: str | Path,
    name: str | None = None,
    now: datetime | None = None,
    **settings: Any,
) -> Baseline:
    """Measure, and write the result with a name and the date to a JSON file.

    ``settings`` are those of ``evaluate``. The name is that of the file unless given.
    """
    target = Path(to)
    if target.suffix.lower() != ".json":
        raise InvalidInput(
            f"The baseline file is {str(to)!r}; a baseline is JSON, so end its name in .json."
        )
    check_place(target)
    scores = evaluate(data, **settings)
    baseline = Baseline(scores, name or target.stem, now or datetime.now(UTC))
    write_baseline(baseline, target)
    return baseline
