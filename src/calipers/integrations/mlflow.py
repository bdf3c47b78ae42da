"""A scorer for ``mlflow.genai.evaluate``."""

import re
from collections.abc import Mapping
from typing import Any, Unpack

from calipers.errors import InvalidInput, MissingExtra
from calipers.integrations.scorer import scorer as one_query
from calipers.questions.reading import MatchingSettings

RETRIEVER = "RETRIEVER"
"""The type of the spans in which MLflow records a retriever's results."""
_ODD = re.compile(r"[^\w\-./: ]+")


def mlflow_name(metric: str) -> str:
    """A metric as MLflow spells it.

    >>> mlflow_name("recall@10"), mlflow_name("mrr"), mlflow_name("ndcg@5(gain=exp)")
    ('recall_at_10', 'mrr', 'ndcg_at_5_gain_exp')
    """
    return _ODD.sub("_", metric.replace("@", "_at_")).strip("_")


def scorer(*metrics: str, **matching: Unpack[MatchingSettings]) -> Any:
    """One MLflow scorer that returns every metric, named as MLflow allows: ``recall_at_10``.

    The results come from the RETRIEVER spans of the trace, in the order in which they began, or
    from ``outputs`` if there is none. The ground truth is in ``expectations`` under a name such as
    "ground_truth" or "expected_retrieved_context".
    """
    try:
        from mlflow.entities import Feedback
        from mlflow.genai.scorers import scorer as declare
    except ImportError:
        raise MissingExtra("A scorer for MLflow needs its library: pip install mlflow") from None
    score = one_query(*metrics, **matching)

    def calipers(outputs: Any = None, expectations: Any = None, trace: Any = None) -> list[Any]:
        found = score(retrieved_in(outputs, trace), expected_in(expectations))
        return [
            Feedback(
                name=mlflow_name(name),
                value=value,
                rationale="undefined: nothing was expected" if value is None else None,
            )
            for name, value in found.items()
        ]

    return declare(calipers, name="calipers")


def retrieved_in(outputs: Any, trace: Any) -> Any:
    """The results of all RETRIEVER spans in order, or else the outputs."""
    spans = trace.search_spans(span_type=RETRIEVER) if trace is not None else []
    if not spans:
        return outputs
    ordered = sorted(spans, key=lambda span: span.start_time_ns)
    return [_document(one) for span in ordered for one in span.outputs or ()]


def expected_in(expectations: Any) -> Any:
    """The ground truth; MLflow's expected contexts are matched by URI or content."""
    contexts = (expectations or {}).get("expected_retrieved_context")
    if contexts is None:
        return expectations
    return [_context(one) for one in contexts]


def _document(one: Any) -> Any:
    """Read a document; MLflow keeps its id in the metadata, as ``doc_uri``."""
    if not isinstance(one, Mapping) or one.get("id") is not None:
        return one
    uri = (one.get("metadata") or {}).get("doc_uri")
    return one if uri is None else {**one, "id": uri}


def _context(one: Any) -> Any:
    if not isinstance(one, Mapping):
        return one
    if one.get("doc_uri") is not None:
        return str(one["doc_uri"])
    if one.get("content") is not None:
        return {"quote": one["content"]}
    raise InvalidInput(
        f"An expected context has {', '.join(map(repr, one)) or 'nothing'}; give it a 'doc_uri' "
        "or a 'content'."
    )
