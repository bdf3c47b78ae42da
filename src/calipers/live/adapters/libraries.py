"""Adapters for objects of other libraries, recognised by their methods, never by class.

Each function returns a search function if the object belongs to its library, else None.
Most vector stores search by vectors, so they need ``embed``, a function from a text to a vector.
"""

import copy
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from calipers.errors import InvalidInput

Options = Mapping[str, Any]
Search = Callable[..., Any]
Adapter = Callable[[Any, Options], Search | None]
"""Returns a search function if it recognises the object, else None."""

HAYSTACK_QUESTIONS = ("query", "text", "question", "queries")
HAYSTACK_K = "top_k"
HAYSTACK_OUTPUT = "documents"


def adapt_langchain(value: Any, options: Options) -> Search | None:  # noqa: ARG001
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


def adapt_llama_index(value: Any, options: Options) -> Search | None:  # noqa: ARG001
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


def adapt_haystack(value: Any, options: Options) -> Search | None:
    """Return a search function if the object is Haystack's, else None."""
    if hasattr(value, "__haystack_input__") and callable(getattr(value, "run", None)):
        return _haystack_component(value, options.get("embed"))
    if all(callable(getattr(value, name, None)) for name in ("run", "inputs", "add_component")):
        return _haystack_pipeline(value, tuple(options.get("stage_components", ())))
    return None


def _haystack_component(value: Any, embed: Callable[[str], Any] | None) -> Search:
    what, takes = (
        f"Haystack component {type(value).__name__}",
        inspect.signature(value.run).parameters,
    )
    by_vector = "query_embedding" in takes
    asked = next((name for name in HAYSTACK_QUESTIONS if name in takes), None)
    if asked is None and not by_vector:
        raise InvalidInput(
            f"The {what} takes {', '.join(takes)}, and none of these is a question; give a "
            "retriever or a pipeline."
        )
    make = _embed({"embed": embed}, f"the {what}") if by_vector else None

    def search(query: str, k: int) -> Any:
        more = {HAYSTACK_K: k} if HAYSTACK_K in takes else {}
        if make is not None:
            return value.run(query_embedding=_vector(make(query)), **more)
        return value.run(**{str(asked): [query] if asked == "queries" else query}, **more)

    return search


def _haystack_pipeline(value: Any, stages: tuple[str, ...]) -> Search:
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
        found = value.run(data, include_outputs_from=set(stages)) if stages else value.run(data)
        return {
            "retrieved": found[ends[-1]][HAYSTACK_OUTPUT],
            "stages": {name: found[name][HAYSTACK_OUTPUT] for name in stages},
        }

    return search


def _names(places: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}.{one}" for name, inner in places.items() for one in inner) or "none"


def adapt_faiss(value: Any, options: Options) -> Search | None:
    """Return a search function for a FAISS index and its list of ids, else None."""
    if not all(hasattr(value, name) for name in ("ntotal", "d", "is_trained", "search")):
        return None
    embed = _embed(options, "a FAISS index")
    ids, texts = options.get("ids"), options.get("texts")
    _check_lengths("The FAISS index", value.ntotal, ids, texts)

    def search(query: str, k: int) -> Any:
        vector = _matrix(embed(query), value.d)
        distances, places = value.search(vector, min(k, value.ntotal))
        return [
            {
                "id": place if ids is None else ids[place],
                "score": distance,
                **({} if texts is None else {"text": texts[place]}),
            }
            for place, distance in zip(places[0].tolist(), distances[0].tolist(), strict=True)
            # FAISS pads with -1 if it finds fewer than k.
            if place >= 0
        ]

    return search


def _check_lengths(what: str, count: int, ids: Any, texts: Any) -> None:
    for name, listed in (("ids", ids), ("texts", texts)):
        if listed is not None and len(listed) != count:
            raise InvalidInput(
                f"{what} holds {count} entries and {name} has {len(listed)}; give one for each, in "
                "the order in which they were added."
            )


def adapt_chroma(value: Any, options: Options) -> Search | None:
    """Search a Chroma collection, else None. Without ``embed`` the collection embeds the text."""
    if not all(callable(getattr(value, name, None)) for name in ("query", "upsert", "peek")):
        return None
    embed = options.get("embed")
    if embed is None:
        return lambda query, k: value.query(query_texts=[query], n_results=k)
    return lambda query, k: value.query(query_embeddings=[_vector(embed(query))], n_results=k)


def adapt_qdrant(value: Any, options: Options) -> Search | None:
    """Search ``collection`` with a Qdrant client, else None; ``using`` picks a named vector."""
    if not callable(getattr(value, "query_points", None)):
        return None
    embed = _embed(options, "a Qdrant client")
    collection = options.get("collection")
    if collection is None:
        raise InvalidInput(
            "A Qdrant client is given without a collection; give collection=, the name of the "
            "one to search in."
        )
    more = {"using": options["using"]} if "using" in options else {}

    def search(query: str, k: int) -> Any:
        found = value.query_points(collection, query=_vector(embed(query)), limit=k, **more)
        return found.points

    return search


def adapt_lancedb(value: Any, options: Options) -> Search | None:
    """Search a LanceDB table, else None. Without ``embed`` the table embeds the text."""
    if not (callable(getattr(value, "search", None)) and hasattr(value, "to_lance")):
        return None
    embed = options.get("embed")

    def search(query: str, k: int) -> Any:
        rows = value.search(query if embed is None else _vector(embed(query))).limit(k).to_list()
        # The vectors are not needed to measure anything.
        return [{n: one for n, one in row.items() if not isinstance(one, list)} for row in rows]

    return search


def adapt_bm25s(value: Any, options: Options) -> Search | None:
    """Search a bm25s index, else None; it has its corpus, or ``ids`` and ``texts`` are given."""
    methods = ("retrieve", "get_scores", "get_tokens_ids", "index")
    if not all(callable(getattr(value, name, None)) for name in methods):
        return None
    held = getattr(value, "scores", None)
    if not isinstance(held, Mapping) or "num_docs" not in held:
        raise InvalidInput("The index of bm25s is empty; call its index(…) before it is asked.")
    count, ids, corpus = int(held["num_docs"]), options.get("ids"), options.get("texts")
    corpus = getattr(value, "corpus", None) if corpus is None else corpus
    _check_lengths("The index of bm25s", count, ids, corpus)
    tokenize = options.get("tokenize") or _usual_tokens(value, corpus)
    places = list(range(count))

    def search(query: str, k: int) -> Any:
        tokens = tokenize(query)
        if isinstance(tokens, list) and all(isinstance(one, str | int) for one in tokens):
            tokens = [tokens]
        found = value.retrieve(tokens, corpus=places, k=min(k, count), show_progress=False)
        rows = []
        for place, score in zip(found.documents[0].tolist(), found.scores[0].tolist(), strict=True):
            known = corpus[place] if corpus is not None else None
            row = dict(known) if isinstance(known, Mapping) else {"text": known}
            row |= {"id": ids[place]} if ids is not None else {}
            rows.append({"id": place, **row, "score": score})
        return rows

    return search


def _usual_tokens(value: Any, corpus: Sequence[Any] | None) -> Callable[[str], Any]:
    """The default tokenizer of bm25s, if the index was built with it.

    A stemmed index searched with whole words finds almost nothing, and nobody would notice.
    """
    advice = "give tokenize=, the function from a text to its tokens that the index was made with"
    if corpus is None:
        raise InvalidInput(
            f"The index of bm25s does not say how its texts were made tokens; {advice}, or texts= "
            "in the order in which they were indexed."
        )
    # The object exists, so its library is loaded.
    library = sys.modules[type(value).__module__.partition(".")[0]]

    def tokenize(text: str) -> Any:
        return library.tokenize(text, return_ids=False, show_progress=False)

    some = (one.get("text") if isinstance(one, Mapping) else one for one in islice(corpus, 50))
    for text in some:
        words = tokenize(text)[0] if isinstance(text, str) else []
        unknown = next((one for one in words if one not in value.vocab_dict), None)
        if unknown is not None:
            raise InvalidInput(
                f"The index of bm25s does not know {unknown!r}, which stands in its first texts: "
                f"they were made tokens in another way, such as by stems; {advice}."
            )
    return tokenize


def _embed(options: Options, what: str) -> Callable[[str], Any]:
    embed: Callable[[str], Any] | None = options.get("embed")
    if not callable(embed):
        raise InvalidInput(
            f"{what[0].upper()}{what[1:]} searches by vectors and not by text; give embed=, a "
            "function from a text to a vector."
        )
    return embed


def _vector(value: Any) -> list[float]:
    flat = value.tolist() if hasattr(value, "tolist") else list(value)
    if len(flat) == 1 and isinstance(flat[0], list):
        flat = flat[0]
    return [float(one) for one in flat]


def _matrix(value: Any, dimensions: int) -> Any:
    import numpy as np

    matrix = np.ascontiguousarray(value, dtype=np.float32).reshape(1, -1)
    if matrix.shape[1] != dimensions:
        raise InvalidInput(
            f"The vector of the question has {matrix.shape[1]} numbers and the FAISS index holds "
            f"vectors of {dimensions}; embed questions as the chunks were embedded."
        )
    return matrix


ADAPTERS: tuple[tuple[str, Adapter, tuple[str, ...]], ...] = (
    ("langchain", adapt_langchain, ()),
    ("llama_index", adapt_llama_index, ()),
    ("haystack", adapt_haystack, ("embed", "stage_components")),
    ("faiss", adapt_faiss, ("embed", "ids", "texts")),
    ("chroma", adapt_chroma, ("embed",)),
    ("qdrant", adapt_qdrant, ("embed", "collection", "using")),
    ("lancedb", adapt_lancedb, ("embed",)),
    ("bm25s", adapt_bm25s, ("ids", "texts", "tokenize")),
)
"""Each adapter with the options it takes."""
