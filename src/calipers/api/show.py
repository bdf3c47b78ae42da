"""A saved evaluation again, whole."""

from dataclasses import dataclass
from typing import Any

from calipers.model.evaluation import Evaluation
from calipers.model.scores import Scores
from calipers.store.place import Where


@dataclass(frozen=True, eq=False)
class Shown:
    """One saved evaluation with everything in it."""

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}


def show(reference: str, *, store: Where = None) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""
    from calipers.store.load import load_scores
    from calipers.store.open import open_store
    from calipers.store.references import resolve

    opened = open_store(store)
    wanted = reference if reference.startswith("@") else f"@{reference}"
    evaluation = resolve(opened, wanted)
    return Shown(evaluation, load_scores(opened, evaluation))
