"""The same evaluation at the level of evidence, of chunks and of documents, side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.match.level import NoDocuments
from calipers.match.pair import match_pair
from calipers.measures import Metric
from calipers.measures.coverage import Coverage
from calipers.model.ground_truth import GroundTruth
from calipers.model.matching import LEVELS, Level, Matching, check_level
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class Levels(Plain, HasRows):
    """One result per level, and a sentence for what could not be computed."""

    shown_by: ClassVar[str] = "calipers.questions.levels.document"

    scores: Mapping[str, Scores]
    not_computed: tuple[str, ...] = ()

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The whole result as plain values."""
        levels = {name: one.to_dict(per_query=per_query) for name, one in self.scores.items()}
        return {"levels": levels, "not_computed": list(self.not_computed)}


def score_at_levels(
    truth: GroundTruth,
    run: Run,
    levels: Sequence[Level],
    metrics: Sequence[Metric],
    *,
    matching: Matching,
    intervals: dict[str, Any],
) -> Levels:
    """The scores at each level; one that cannot be computed is explained, unless it is the only.

    ``matching`` applies to each, ``intervals`` are the arguments of ``score``.
    """
    scores: dict[str, Scores] = {}
    excuses: list[str] = []
    for level in levels:
        by_characters = level not in ("page", "document")
        possible = [one for one in metrics if by_characters or one.definition.view is not Coverage]
        if len(possible) < len(metrics):
            left_out = ", ".join(str(one) for one in metrics if one not in possible)
            excuses.append(f"Not at the level of {level}s, which have no spans: {left_out}.")
        if not possible:
            continue
        try:
            pair = match_pair(truth, run, replace(matching, level=level))
        except NoDocuments as error:
            if len(levels) == 1:
                raise
            excuses.append(str(error))
            continue
        scores[level] = score(pair, possible, **intervals)
    if not scores:
        raise InvalidInput(" ".join(excuses))
    return Levels(scores, tuple(excuses))


def level_names(at: str | Iterable[str]) -> tuple[Level, ...]:
    """The levels of "all", or of a list such as "evidence,document"."""
    if at == "all":
        # Pages are asked for by name: few results say theirs, and it would be an excuse in most.
        return tuple(one for one in LEVELS if one != "page")
    given = at.split(",") if isinstance(at, str) else at
    return tuple(dict.fromkeys(check_level(name.strip()) for name in given))
