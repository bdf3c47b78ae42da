"""Adapters for objects of other libraries, recognised by their methods, never by class.

Each function returns a search function if the object belongs to its library, else None.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from calipers.errors import InvalidInput

Search = Callable[..., Any]

HAYSTACK_QUESTIONS = ("query", "text", "question", "queries")
HAYSTACK_K = "top_k"
HAYSTACK_OUTPUT = "documents"


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


def adapt_haystack(value: Any) -> Search | None:
    """Return a search function if the object is Haystack's, else None."""
    if hasattr(value, "__haystack_input__") and callable(getattr(value, "run", None)):
        return _haystack_component(value)
    if all(callable(getattr(value, name, None)) for name in ("run", "inputs", "add_component")):
        return _haystack_pipeline(value)
    return None


def _haystack_component(value: Any) -> Search:
    takes = inspect.signature(value.run).parameters
    asked = next((name for name in HAYSTACK_QUESTIONS if name in takes), None)
    if asked is None:
        raise InvalidInput(
            f"The Haystack component {type(value).__name__} takes {', '.join(takes)}, and none of "
            "these is a question; give a pipeline that embeds it, or a function of (query, k)."
        )

    def search(query: str, k: int) -> Any:
        more = {HAYSTACK_K: k} if HAYSTACK_K in takes else {}
        return value.run(**{asked: [query] if asked == "queries" else query}, **more)

    return search


def _haystack_pipeline(value: Any) -> Search:
    inputs: Mapping[str, Mapping[str, Any]] = value.inputs()
    outputs: Mapping[str, Any] = value.outputs()
    asked = {
        name: next(known for known in HAYSTACK_QUESTIONS if known in places)
        for name, places in inputs.items()
        if any(known in places for known in HAYSTACK_QUESTIONS)
    }
    ends = [name for name, places in outputs.items() if HAYSTACK_OUTPUT in places]
    if not asked or not ends:
        raise InvalidInput(
            f"The Haystack pipeline cannot be asked: its open inputs are {_names(inputs)} and its "
            f"outputs {_names(outputs)}; it needs an input called "
            f"{', '.join(HAYSTACK_QUESTIONS[:3])} and an output called {HAYSTACK_OUTPUT}."
        )
    limited = [name for name in ends if HAYSTACK_K in inputs.get(name, {})]

    def search(query: str, k: int) -> Any:
        data: dict[str, dict[str, Any]] = {
            name: {place: [query] if place == "queries" else query} for name, place in asked.items()
        }
        for name in limited:
            data.setdefault(name, {})[HAYSTACK_K] = k
        return value.run(data)[ends[-1]][HAYSTACK_OUTPUT]

    return search


def _names(places: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}.{one}" for name, inner in places.items() for one in inner) or "none"


ADAPTERS: dict[str, Callable[[Any], Search | None]] = {
    "langchain": adapt_langchain,
    "llama_index": adapt_llama_index,
    "haystack": adapt_haystack,
}
"""Each returns a search function if it recognises the object, else None."""
