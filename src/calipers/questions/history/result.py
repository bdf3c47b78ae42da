"""What comes back from the history: a list of evaluations, or one of them whole."""

from dataclasses import dataclass
from typing import Any, ClassVar

from calipers.model.evaluation import Evaluation
from calipers.model.result import ShowsItself
from calipers.model.scores import Scores


@dataclass(frozen=True, repr=False)
class History(ShowsItself):
    """Saved evaluations, newest first."""

    shown_by: ClassVar[str] = "calipers.questions.history.show"

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "place": self.place,
            "total": self.total,
            "metrics": list(self.metrics),
            "evaluations": [one.to_dict() for one in self.evaluations],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Shown(ShowsItself):
    """One saved evaluation with everything in it."""

    shown_by: ClassVar[str] = "calipers.questions.history.show"

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}
