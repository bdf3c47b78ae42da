"""Operations and their settings: names, types and defaults."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from calipers.input_types import PathText, Scores
from calipers.operation import operation

if TYPE_CHECKING:
    from calipers.questions.slices.result import Slices


@operation(page="slices", command="eval")
def slices(
    scores: Scores | PathText,
    by: str | Collection[str],
    *,
    metrics: str | Collection[str] | None = None,
    primary: str | None = None,
) -> "Slices":
    """Each slice of the queries with its mean and interval, tested against the rest.

    ``scores`` are those of ``evaluate``, or the file in which they were written. ``by``
    is a tag of the queries, "language", "question_word", "form" or "length" of their
    texts, "targets" (how many they have), several of these, or "auto": all that need no
    tag. ``metrics`` are names that the scores have (default: recall, precision and ndcg
    at their largest cut-off, and mrr). A slice that differs from the rest in the
    ``primary`` metric (default: recall at the largest cut-off) is marked, all slices
    tested together; the other metrics are shown beside it.

    >>> from calipers import evaluate
    >>> records = [
    ...     {"query": f"{i}", "retrieved": ["a" if i % 2 else "b"], "ground_truth": ["a"],
    ...      "tags": {"type": "odd" if i % 2 else "even"}}
    ...     for i in range(20)
    ... ]
    >>> found = slices(evaluate(records, metrics="recall@1"), "type")
    >>> [(row.value, row.mean, row.standing) for row in found.rows]
    [('even', 0.0, 'worse'), ('odd', 1.0, 'better')]
    """
    from calipers.questions.slices.rule import slice_scores
    from calipers.questions.systems import scores_of

    return slice_scores(
        scores_of(scores),
        [by] if isinstance(by, str) else list(by),
        metrics=[metrics]
        if isinstance(metrics, str)
        else list(metrics)
        if metrics
        else None,
        primary=primary,
    )
