"""LlamaIndex: a retriever (``BaseRetriever``), recognised by what it can do."""

import copy
from collections.abc import Callable, Mapping
from typing import Any


def adapt(value: Any, options: Mapping[str, Any]) -> Callable[..., Any] | None:  # noqa: ARG001
    """A search function where the object is a retriever of LlamaIndex, else None."""
    if not (callable(getattr(value, "retrieve", None)) and hasattr(value, "_retrieve")):
        return None
    if not isinstance(getattr(value, "similarity_top_k", None), int):
        return lambda query: value.retrieve(query)
    # The number of results is a setting of the object. It is set on a copy, one for each k,
    # because what the caller handed in stays as it is.
    copies: dict[int, Any] = {}

    def search(query: str, k: int) -> Any:
        if k not in copies:
            own = copy.copy(value)
            own.similarity_top_k = k
            copies[k] = own
        return copies[k].retrieve(query)

    return search
