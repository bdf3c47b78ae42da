"""A component for Haystack pipelines that evaluates retrieved documents."""

from typing import Any, Unpack

from calipers.errors import InvalidInput, MissingExtra
from calipers.integrations.scorer import scorer
from calipers.questions.reading import MatchingSettings


def evaluator(*metrics: str, **matching: Unpack[MatchingSettings]) -> Any:
    """A component with the inputs and outputs of Haystack's own evaluators.

    ``ground_truth_documents`` and ``retrieved_documents`` are lists of documents, one for each
    question. ``score`` holds the mean of every metric, ``individual_scores`` the values of every
    question, ``intervals`` the confidence intervals of the means. Documents are matched by text,
    or by id with ``match="id"``.
    """
    try:
        from haystack import Document, component
    except ImportError:
        raise MissingExtra(
            "A component for Haystack needs its library: pip install haystack-ai"
        ) from None
    score = scorer(*metrics, **matching)

    @component
    class CalipersEvaluator:
        """Measures what a retriever returned with Calipers."""

        @component.output_types(
            score=dict[str, Any], individual_scores=list[dict[str, Any]], intervals=dict[str, Any]
        )
        def run(
            self,
            ground_truth_documents: list[list[Document]],
            retrieved_documents: list[list[Document]],
        ) -> dict[str, Any]:
            """Return every metric for every question, and their means."""
            if len(ground_truth_documents) != len(retrieved_documents):
                raise InvalidInput(
                    f"There are ground truth documents for {len(ground_truth_documents)} questions "
                    f"and retrieved documents for {len(retrieved_documents)}; give both for each."
                )
            scores = score.together(zip(retrieved_documents, ground_truth_documents, strict=True))
            return {
                "score": {name: scores[name].mean for name in score.names},
                "individual_scores": scores.per_query.select(score.names).to_dicts(),
                "intervals": {name: _interval(scores[name].interval) for name in score.names},
            }

    return CalipersEvaluator()


def _interval(interval: Any) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
