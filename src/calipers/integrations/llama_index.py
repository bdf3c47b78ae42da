"""Metrics for LlamaIndex's RetrieverEvaluator, at any cut-off."""

import math
from collections.abc import Sequence
from typing import Any, Unpack

from calipers.errors import InvalidInput, MissingExtra
from calipers.integrations.scorer import Scorer, scorer
from calipers.questions.reading import MatchingSettings


def metrics(*names: str, **matching: Unpack[MatchingSettings]) -> list[Any]:
    """One ``BaseRetrievalMetric`` for each name, for ``RetrieverEvaluator(metrics=…)``.

    Results are matched by id, or by text with ``match="quote"``. A query that retrieved nothing
    scores 0; a query without ground truth gives NaN, which is no score.
    """
    try:
        from llama_index.core.evaluation.retrieval.metrics_base import (
            BaseRetrievalMetric,
            RetrievalMetricResult,
        )
    except ImportError:
        raise MissingExtra(
            "Metrics for LlamaIndex need its library: pip install llama-index-core"
        ) from None

    def metric(name: str, score: Scorer) -> Any:
        class CalipersMetric(BaseRetrievalMetric):
            metric_name = name

            def compute(
                self,
                query: str | None = None,  # noqa: ARG002
                expected_ids: list[str] | None = None,
                retrieved_ids: list[str] | None = None,
                expected_texts: list[str] | None = None,
                retrieved_texts: list[str] | None = None,
                **kwargs: Any,  # noqa: ARG002
            ) -> RetrievalMetricResult:
                by_text = str(score.matching.get("match")).startswith("quote")
                expected = expected_texts if by_text else expected_ids
                if expected is None:
                    raise InvalidInput(
                        f"{name} is given no expected {'texts' if by_text else 'ids'}; evaluate "
                        "with them, or match in the other way (match='id' or match='quote')."
                    )
                retrieved = _results(retrieved_ids, retrieved_texts)
                value = score(retrieved, expected)[name]
                return RetrievalMetricResult(score=math.nan if value is None else value)

        return CalipersMetric()

    both = scorer(*names, **matching)
    return [
        metric(name, Scorer((one,), both.matching))
        for name, one in zip(both.names, both.metrics, strict=True)
    ]


def _results(ids: Sequence[str] | None, texts: Sequence[str] | None) -> list[dict[str, Any]]:
    names: Sequence[str | None] = ids or [None] * len(texts or ())
    said: Sequence[str | None] = texts or [None] * len(names)
    return [
        {key: value for key, value in (("id", one), ("text", text)) if value is not None}
        for one, text in zip(names, said, strict=True)
    ]
