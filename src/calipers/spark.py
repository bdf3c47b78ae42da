"""Evaluation on Spark: ``from calipers import spark``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from calipers.questions.reading import Matching

if TYPE_CHECKING:
    from calipers.engines.spark.scores import SparkScores
    from calipers.measures import Metric

_UNDERSTOOD = ("match", "level", "rel", "corpus_size", "like", "fingerprints", "columns")


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
    **matching: Unpack[Matching],
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
    from calipers.errors import InvalidInput
    from calipers.io.tables.columns import Columns
    from calipers.match.pair import check_matching
    from calipers.model.policy import CHOICES, Policy

    for name, value in matching.items():
        if value is not None and name not in (*CHOICES, *_UNDERSTOOD):
            raise InvalidInput(f"{name} has no meaning on Spark; leave it out.")
    like, rel, size = matching.get("like"), matching.get("rel"), matching.get("corpus_size")
    check_matching(matching.get("match"), matching.get("level"), rel, size)
    policy = Policy.like(like) if like else Policy()
    return evaluate_frames(
        run,
        ground_truth,
        choose_metrics(metrics, k, None, weights, like),
        policy=policy.with_changes(**{name: matching.get(name) for name in CHOICES}),
        query=query,
        item=item,
        tags=tags,
        columns=Columns.of(matching.get("columns")),
        match=matching.get("match"),
        level=matching.get("level"),
        rel=rel,
        corpus_size=size,
        weights=weights,
        partitions=partitions,
        confidence=confidence,
        fingerprints=matching.get("fingerprints", True),
    )
