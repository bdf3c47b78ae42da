"""Adapters for objects of other libraries, recognised by their methods, never by class.

Each function returns a search function if the object belongs to its library, else None.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

Search = Callable[..., Any]


def adapt_langchain(value: Any) -> Search | None:
    """Return a search function if the object is LangChain's, else None."""
    if callable(getattr(value, "_get_relevant_documents", None)) and hasattr(value, "invoke"):
        return _langchain_retriever(value)
    if callable(getattr(value, "similarity_search_with_score", None)):
        return lambda query, k: value.similarity_search_with_score(query, k=k)
    return None


def _langchain_retriever(value: Any) -> Search:
    signature = inspect.signature(value._get_relevant_documents)
    takes_k = "k" in signature.parameters or (
        # A retriever over a vector store passes extra arguments on to the search.
        hasattr(value, "search_kwargs")
        and any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values())
    )
    if takes_k:
        return lambda query, k: value.invoke(query, k=k)
    # The number of results is a setting of the retriever itself.
    return lambda query: value.invoke(query)


def adapt_llama_index(value: Any) -> Search | None:
    """Return a search function if the object is a LlamaIndex retriever, else None."""
    if not (callable(getattr(value, "retrieve", None)) and hasattr(value, "_retrieve")):
        return None
    if not isinstance(getattr(value, "similarity_top_k", None), int):
        return lambda query: value.retrieve(query)
    # The number of results is a setting of the object. It is set on a copy, one for each k,
    # because the caller's object must not change.
    copies: dict[int, Any] = {}

    def search(query: str, k: int) -> Any:
        if k not in copies:
            own = copy.copy(value)
            own.similarity_top_k = k
            copies[k] = own
        return copies[k].retrieve(query)

    return search


ADAPTERS: dict[str, Callable[[Any], Search | None]] = {
    "langchain": adapt_langchain,
    "llama_index": adapt_llama_index,
}
"""Each returns a search function if it recognises the object, else None."""
