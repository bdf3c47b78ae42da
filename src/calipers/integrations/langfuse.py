"""Evaluators for the experiment runner of Langfuse."""

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from calipers.errors import MissingExtra
from calipers.integrations.langsmith import spread_of
from calipers.integrations.scorer import scorer
from calipers.questions.reading import MatchingSettings


def evaluator(*metrics: str, **matching: Unpack[MatchingSettings]) -> Callable[..., list[Any]]:
    """An evaluator for ``run_experiment(evaluators=[…])``: one Evaluation for each metric.

    The task returns the results, and ``expected_output`` of an item is the ground truth.
    A metric that is undefined for an item gives no Evaluation.
    """
    score, evaluation = scorer(*metrics, **matching), _evaluation()

    def calipers(*, output: Any, expected_output: Any = None, **others: Any) -> list[Any]:
        del others
        found = score(output, expected_output)
        return [evaluation(name=n, value=value) for n, value in found.items() if value is not None]

    return calipers


def run_evaluator(*metrics: str, **matching: Unpack[MatchingSettings]) -> Callable[..., list[Any]]:
    """An evaluator for ``run_experiment(run_evaluators=[…])``: means with their intervals."""
    score, evaluation = scorer(*metrics, **matching), _evaluation()

    def calipers_run(*, item_results: Sequence[Any], **others: Any) -> list[Any]:
        del others
        scores = score.together((one.output, _expected(one.item)) for one in item_results)
        return [
            evaluation(
                name=f"mean {name}", value=scores[name].mean, comment=spread_of(scores[name])
            )
            for name in score.names
            if scores[name].mean is not None
        ]

    return calipers_run


def _expected(item: Any) -> Any:
    """The ground truth of an item, which is a dictionary or an object of a Langfuse dataset."""
    name = "expected_output"
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


def _evaluation() -> Any:
    try:
        from langfuse import Evaluation
    except ImportError:
        raise MissingExtra(
            "Evaluators for Langfuse need its library: pip install langfuse"
        ) from None
    return Evaluation
