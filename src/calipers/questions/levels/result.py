"""The same evaluation at several levels, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from calipers.model.result import Plain, ShowsItself
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class Levels(Plain, ShowsItself):
    """One result per level, and a sentence for what could not be computed."""

    shown_by: ClassVar[str] = "calipers.questions.levels.show"

    scores: Mapping[str, Scores]
    not_computed: tuple[str, ...] = ()

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        levels = {name: one.to_dict(per_query=per_query) for name, one in self.scores.items()}
        return {"levels": levels, "not_computed": list(self.not_computed)}
