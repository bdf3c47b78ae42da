"""What comes back from the history: a list of evaluations, or one of them whole."""

from dataclasses import dataclass
from typing import Any, ClassVar

from calipers.model.evaluation import Evaluation
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Scores


@dataclass(frozen=True, repr=False)
class History(Plain, HasRows):
    """Saved evaluations, newest first."""

    dict_keys: ClassVar[str] = "place total metrics evaluations"
    shown_by: ClassVar[str] = "calipers.questions.history.show"

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown(HasRows):
    """One saved evaluation with everything in it."""

    shown_by: ClassVar[str] = "calipers.questions.history.show"

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}
