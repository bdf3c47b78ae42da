"""Evaluators for LangSmith and openevals: plain functions that need neither library."""

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from calipers.integrations.scorer import scorer
from calipers.questions.reading import MatchingSettings
from calipers.words import plural

Feedback = dict[str, Any]


def evaluator(*metrics: str, **matching: Unpack[MatchingSettings]) -> Callable[..., list[Feedback]]:
    """An evaluator of (inputs, outputs, reference_outputs) that returns every metric by name.

    ``outputs`` hold the results under a name such as "documents", ``reference_outputs`` the
    ground truth under a name such as "ground_truth".

    >>> recall = evaluator("recall@10")
    >>> recall(outputs={"documents": ["x", "a"]}, reference_outputs={"ground_truth": ["a", "b"]})
    [{'key': 'recall@10', 'score': 0.5}]
    """
    score = scorer(*metrics, **matching)

    def calipers(*, outputs: Any, reference_outputs: Any = None, **others: Any) -> list[Feedback]:
        del others
        found = score(outputs, reference_outputs)
        return [{"key": name, "score": value} for name, value in found.items()]

    return calipers


def summary_evaluator(
    *metrics: str, **matching: Unpack[MatchingSettings]
) -> Callable[..., list[Feedback]]:
    """A summary evaluator of (outputs, reference_outputs): means over all with their intervals.

    >>> mean = summary_evaluator("mrr")
    >>> found = mean([{"documents": ["x", "a"]}] * 9, [{"ground_truth": ["a"]}] * 9)
    >>> found[0]["key"], found[0]["score"]
    ('mean mrr', 0.5)
    """
    score = scorer(*metrics, **matching)

    def calipers_summary(
        outputs: Sequence[Any], reference_outputs: Sequence[Any]
    ) -> list[Feedback]:
        scores = score.together(zip(outputs, reference_outputs, strict=True))
        return [
            {"key": f"mean {name}", "score": scores[name].mean, "comment": spread_of(scores[name])}
            for name in score.names
        ]

    return calipers_summary


def spread_of(summary: Any) -> str:
    """The interval of a mean as text, for the comment of a score."""
    n = plural(summary.n, "query", "queries")
    if summary.undefined:
        n += f", {summary.undefined:,} undefined"
    interval = summary.interval
    if interval is None:
        return n
    return f"{interval.level:.0%} interval {interval.low:.3f} to {interval.high:.3f}, {n}"
