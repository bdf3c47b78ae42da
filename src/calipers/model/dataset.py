"""What one file or object brought: a ground truth, a run, or both."""

from dataclasses import dataclass
from typing import Literal

from calipers.model.ground_truth import GroundTruth
from calipers.model.run import Run

Role = Literal["ground_truth", "run", "both"]
"""What the caller takes a file for; ``both`` where one file holds questions and results."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A ground truth, a run, or both, as they stood in one place."""

    ground_truth: GroundTruth | None = None
    run: Run | None = None
    kind: str = ""
    """The form it had, in words, for messages."""
    no_truth: str = ""
    """Why it holds no ground truth, where it looks as if it did."""
