"""An evaluation: the scores by one of several ways, and what else is asked of the same data."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from calipers.engines.scoring import choose_metrics
from calipers.model.scores import Scores
from calipers.questions.evaluate.result import Evaluation
from calipers.questions.evaluate.sources import INTERVALS, Source, source_of

if TYPE_CHECKING:
    from calipers.questions.report.result import Report


def answer(
    asked: Mapping[str, Any], given: Collection[str], needs: Mapping[str, frozenset[str]]
) -> Evaluation:
    """Everything that was asked; see ``Source`` for what it needs."""
    with source_of(asked, given, needs) as source:
        scores = source.scores()
        if not isinstance(scores, Scores):
            return Evaluation(scores=scores)
        further = _further(scores, source)
        return Evaluation(
            scores=scores, pair=source.pair, is_written=source.write(scores), **further
        )


def _further(scores: Scores, source: Source) -> dict[str, Any]:
    """The other questions to the same data, each loaded where it is asked."""
    asked, pair = source.asked, source.pair
    found: dict[str, Any] = {}
    # In the order in which they were asked for, which a file of scores need not have.
    names = [name for name in scores.summaries if name != "score"]
    if by := asked.get("by"):
        from calipers.questions.slices.settings import slices

        named = names if asked.get("metrics") else None
        found["slices"] = slices(scores, by, metrics=named, primary=asked.get("primary"))
    if asked.get("bounds"):
        from calipers.questions.bounds.settings import bounds

        found["bounds"] = bounds(pair, metrics=names)
    if people := asked.get("corrected_by"):
        from calipers.questions.corrected.settings import corrected

        intervals = {name: asked[name] for name in INTERVALS if name in asked}
        found["corrected"] = corrected(pair, people=people, metrics=names, **intervals)
    return found


def report_of(found: Evaluation, asked: Mapping[str, Any]) -> "Report":
    """What a page shows of the same evaluation."""
    from calipers.questions.report.settings import report

    weights = asked.get("weights")
    like = asked.get("like")
    return report(
        found.pair,
        scores=found.result,
        metrics=choose_metrics(asked.get("metrics"), asked.get("k"), None, weights, like),
        weights=weights,
        corpus=asked.get("corpus"),
        by=asked.get("by") or None,
        **{name: asked[name] for name in INTERVALS if name in asked},
    )
