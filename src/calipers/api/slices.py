"""Cut scores by what is known of the queries."""

from collections.abc import Iterable

from calipers.analyse.slices import slice_scores
from calipers.model.scores import Scores
from calipers.model.slices import Slices


def slices(
    scores: Scores,
    by: str | Iterable[str],
    *,
    metrics: str | Iterable[str] | None = None,
    resamples: int = 10_000,
) -> Slices:
    """Each slice of the queries with its mean and interval, tested against the rest.

    ``by`` is a tag of the queries, "length" (words of the query) or "targets" (how many relevant
    targets it has), or several of these. ``metrics`` are names that the scores have (default:
    recall, precision and ndcg at their largest cut-off, and mrr). A slice that differs
    significantly from the rest is marked; p-values are corrected over all slices and metrics.

    >>> from calipers.api import evaluate
    >>> records = [
    ...     {"query": f"{i}", "retrieved": ["a" if i % 2 else "b"], "ground_truth": ["a"],
    ...      "tags": {"type": "odd" if i % 2 else "even"}}
    ...     for i in range(20)
    ... ]
    >>> found = slices(evaluate(records, metrics="recall@1"), "type")
    >>> [(row.value, row.mean, row.standing) for row in found.rows]
    [('even', 0.0, 'below'), ('odd', 1.0, 'above')]
    """
    return slice_scores(
        scores,
        [by] if isinstance(by, str) else list(by),
        metrics=[metrics] if isinstance(metrics, str) else list(metrics) if metrics else None,
        resamples=resamples,
    )
