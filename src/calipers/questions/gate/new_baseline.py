"""Replace the baseline by a result that was accepted or is better."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calipers.errors import InvalidInput
from calipers.io.files.write import check_place
from calipers.model.scores import Scores
from calipers.questions.baseline import Baseline, write_baseline
from calipers.questions.gate.result import Verdict
from calipers.questions.inputs import is_reference


def file_of_baseline(baseline: Any, accept: str | None) -> Path:
    """The file to write a new baseline to."""
    if accept is not None and not accept.strip():
        raise InvalidInput('A baseline is accepted for a reason; give it: --accept "why".')
    is_path = isinstance(baseline, str | os.PathLike) and not is_reference(baseline)
    if not is_path or Path(baseline).suffix.lower() != ".json":
        raise InvalidInput(
            "The new baseline is written to the file that holds the old one; give that as "
            "--baseline FILE.json."
        )
    check_place(Path(baseline))
    return Path(baseline)


def with_new_baseline(
    verdict: Verdict,
    scores: Scores,
    name: str,
    target: Path,
    accept: str | None,
    now: datetime | None,
) -> Verdict:
    """Replace the baseline if the result is accepted or better, and return the verdict.

    Otherwise the baseline stays: if every passing build replaced it, many small losses would
    add up and none of them would fail.
    """
    if accept is None and not _is_better(verdict):
        return verdict
    when = now or datetime.now(UTC)
    write_baseline(Baseline(scores, name, when, accepted=accept), target)
    return replace(verdict, accepted=accept, moved_up=accept is None)


def _is_better(verdict: Verdict) -> bool:
    """Whether a result may replace the baseline unasked: significantly better, nothing lost."""
    changes = [check.change for check in verdict.checks if check.change is not None]
    return (
        verdict.standing != "failed"
        and not verdict.raised
        and not verdict.warnings
        and all(change.loss <= 0 for change in changes)
        and any(change.standing == "better" for change in changes)
    )
