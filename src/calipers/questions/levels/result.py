"""The same evaluation at several levels, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calipers.model.scores import Scores
from calipers.model.showing import ShowsItself


@dataclass(frozen=True, eq=False, repr=False)
class Levels(ShowsItself):
    """One result per level, and a sentence for what could not be computed."""

    shown_by: ClassVar[str] = "calipers.questions.levels.show"

    scores: Mapping[str, Scores]
    not_computed: tuple[str, ...] = ()

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        return {
            "levels": {
                level: scores.to_dict(per_query=per_query) for level, scores in self.scores.items()
            },
            "not_computed": list(self.not_computed),
        }
