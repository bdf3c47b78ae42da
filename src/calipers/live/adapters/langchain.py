"""LangChain: a retriever (``BaseRetriever``) or a vector store, recognised by what it can do."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any


def adapt(value: Any, options: Mapping[str, Any]) -> Callable[..., Any] | None:  # noqa: ARG001
    """A search function where the object is LangChain's, else None."""
    if callable(getattr(value, "_get_relevant_documents", None)) and hasattr(value, "invoke"):
        return _retriever(value)
    if callable(getattr(value, "similarity_search_with_score", None)):
        return lambda query, k: value.similarity_search_with_score(query, k=k)
    return None


def _retriever(value: Any) -> Callable[..., Any]:
    signature = inspect.signature(value._get_relevant_documents)
    takes_k = "k" in signature.parameters or (
        # A retriever over a vector store hands its further arguments on to the search.
        hasattr(value, "search_kwargs")
        and any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    )
    if takes_k:
        return lambda query, k: value.invoke(query, k=k)
    # How many it returns is a setting of the retriever itself.
    return lambda query: value.invoke(query)
