"""Everything that one evaluation answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from calipers.model.matched import Matched
from calipers.model.scores import Scores

if TYPE_CHECKING:
    from calipers.questions.bounds.result import Bounds
    from calipers.questions.corrected.rule import CorrectedScores
    from calipers.questions.levels.rule import Levels
    from calipers.questions.slices.result import Slices


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation:
    """The scores, and what else was asked of the same data."""

    scores: "Scores | Levels"
    slices: "Slices | None" = None
    bounds: "Bounds | None" = None
    corrected: "CorrectedScores | None" = None
    pair: Matched | None = None
    """What was measured, where the scores come from it and further questions may be asked."""
    is_written: bool = False
    """Whether the scores of the queries were written to their file on the way."""

    @property
    def result(self) -> Scores:
        """The scores, where they are not those of several levels."""
        return cast(Scores, self.scores)

    @property
    def further(self) -> Mapping[str, Any]:
        """What was asked beside the scores, by name."""
        asked = {"slices": self.slices, "bounds": self.bounds, "corrected": self.corrected}
        return {name: part for name, part in asked.items() if part is not None}

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole answer as plain values: what ``--json`` prints."""
        whole = self.scores.to_dict(per_query=per_query)
        if not per_query:
            # The order of the keys is the same, whatever else was asked for.
            whole["per_query"] = []
        return whole | {name: part.to_dict() for name, part in self.further.items()}
