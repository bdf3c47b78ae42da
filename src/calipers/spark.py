"""Evaluation on Spark: ``from calipers import spark``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.questions.reading import MatchingSettings

if TYPE_CHECKING:
    from calipers.engines.spark.scores import SparkScores
    from calipers.measures import Metric


def evaluate(
    run: Any,
    ground_truth: Any,
    *,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    query: str | None = None,
    item: str | None = None,
    tags: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    partitions: int | None = None,
    confidence: float = 0.95,
    **matching: Unpack[MatchingSettings],
) -> "SparkScores":
    """Score a run against a ground truth, both Spark DataFrames with one row per item.

    Columns are found by their usual names; ``query`` and ``item`` name those that are called
    otherwise on both sides, ``columns`` any others, as for ``calipers.read``. ``tags`` are
    columns of the ground truth by which the result can be sliced. ``partitions`` divides the work
    (default: as Spark is set). Further arguments are those of ``calipers.read`` that say how to
    match. The values are those of ``calipers.evaluate``, to the last bit; ``per_query`` is a
    DataFrame, and nothing of it comes to the driver.
    """
    from calipers.engines.scoring import choose_metrics
    from calipers.engines.spark.evaluate import evaluate_frames

    return evaluate_frames(
        run,
        ground_truth,
        choose_metrics(metrics, k, None, weights, matching.get("like")),
        matching,
        query=query,
        item=item,
        tags=tags,
        weights=weights,
        partitions=partitions,
        confidence=confidence,
    )
