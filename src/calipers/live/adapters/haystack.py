"""Haystack: a pipeline that ends in documents, or a retriever component."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from calipers.errors import InvalidInput

QUESTION_INPUTS = ("query", "text", "question", "queries")
K_INPUT = "top_k"
OUTPUT = "documents"


def adapt(value: Any, options: Mapping[str, Any]) -> Callable[..., Any] | None:
    """A search function where the object is Haystack's, else None."""
    if hasattr(value, "__haystack_input__") and callable(getattr(value, "run", None)):
        return _component(value, options.get("embed"))
    if all(callable(getattr(value, name, None)) for name in ("run", "inputs", "add_component")):
        return _pipeline(value, tuple(options.get("stage_components", ())))
    return None


def _component(value: Any, embed: Callable[[str], Any] | None) -> Callable[..., Any]:
    takes = inspect.signature(value.run).parameters
    if "query_embedding" in takes:
        if embed is None:
            raise InvalidInput(
                f"The Haystack component {type(value).__name__} searches by vectors and not by "
                "text; give embed=, a function from a text to a list of numbers, or the whole "
                "pipeline."
            )
        asked = "query_embedding"
    else:
        known = next((name for name in QUESTION_INPUTS if name in takes), None)
        if known is None:
            raise InvalidInput(
                f"The Haystack component {type(value).__name__} takes {', '.join(takes)}, and none "
                "of these is a question; give a retriever or a pipeline."
            )
        asked = known

    def search(query: str, k: int) -> Any:
        more = {K_INPUT: k} if K_INPUT in takes else {}
        question: Any = query
        if asked == "query_embedding" and embed is not None:
            question = [float(one) for one in embed(query)]
        elif asked == "queries":
            question = [query]
        return value.run(**{asked: question}, **more)

    return search


def _pipeline(value: Any, stages: tuple[str, ...]) -> Callable[..., Any]:
    inputs: Mapping[str, Mapping[str, Any]] = value.inputs()
    outputs: Mapping[str, Any] = value.outputs()
    asked = {
        name: next(known for known in QUESTION_INPUTS if known in places)
        for name, places in inputs.items()
        if any(known in places for known in QUESTION_INPUTS)
    }
    ends = [name for name, places in outputs.items() if OUTPUT in places]
    if not asked or not ends:
        raise InvalidInput(
            f"The Haystack pipeline cannot be asked: its open inputs are {_names(inputs)} and its "
            f"outputs {_names(outputs)}; it needs an input called {', '.join(QUESTION_INPUTS[:3])} "
            f"and an output called {OUTPUT}."
        )
    limited = [name for name in ends if K_INPUT in inputs.get(name, {})]

    def search(query: str, k: int) -> Any:
        data: dict[str, dict[str, Any]] = {
            name: {place: [query] if place == "queries" else query} for name, place in asked.items()
        }
        for name in limited:
            data.setdefault(name, {})[K_INPUT] = k
        found = value.run(data, include_outputs_from=set(stages)) if stages else value.run(data)
        return {
            "retrieved": found[ends[-1]][OUTPUT],
            "stages": {name: found[name][OUTPUT] for name in stages},
        }

    return search


def _names(places: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}.{one}" for name, inner in places.items() for one in inner) or "none"
