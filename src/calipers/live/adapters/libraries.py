"""Plain vector stores with a query method: FAISS, Chroma, Qdrant, LanceDB.

Most of them search by vectors, so they need ``embed``, a function from a text to a vector.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calipers.errors import InvalidInput

Options = Mapping[str, Any]
Search = Callable[..., Any]


def adapt_faiss(value: Any, options: Options) -> Search | None:
    """A FAISS index with the list of its ids, else None."""
    if not all(hasattr(value, name) for name in ("ntotal", "d", "is_trained", "search")):
        return None
    embed = _embed(options, "a FAISS index")
    ids: Sequence[Any] | None = options.get("ids")
    texts: Sequence[str] | None = options.get("texts")
    for name, listed in (("ids", ids), ("texts", texts)):
        if listed is not None and len(listed) != value.ntotal:
            raise InvalidInput(
                f"The FAISS index holds {value.ntotal} vectors and {name} has {len(listed)} "
                "entries; give one for each vector, in the order in which they were added."
            )

    def search(query: str, k: int) -> Any:
        vector = _matrix(embed(query), value.d)
        distances, places = value.search(vector, min(k, value.ntotal))
        found = []
        for place, distance in zip(places[0].tolist(), distances[0].tolist(), strict=True):
            if place < 0:
                # FAISS fills up with -1 where it finds fewer than k.
                continue
            row: dict[str, Any] = {"id": place if ids is None else ids[place], "score": distance}
            if texts is not None:
                row["text"] = texts[place]
            found.append(row)
        return found

    return search


def adapt_chroma(value: Any, options: Options) -> Search | None:
    """A Chroma collection, else None. Without ``embed`` it embeds the text by itself."""
    if not all(callable(getattr(value, name, None)) for name in ("query", "upsert", "peek")):
        return None
    embed = options.get("embed")
    if embed is None:
        return lambda query, k: value.query(query_texts=[query], n_results=k)
    return lambda query, k: value.query(query_embeddings=[_vector(embed(query))], n_results=k)


def adapt_qdrant(value: Any, options: Options) -> Search | None:
    """A Qdrant client, else None; ``collection`` says where, ``using`` which named vector."""
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
    """A LanceDB table, else None. Without ``embed`` the table embeds the text by itself."""
    if not (callable(getattr(value, "search", None)) and hasattr(value, "to_lance")):
        return None
    embed = options.get("embed")

    def search(query: str, k: int) -> Any:
        rows = value.search(query if embed is None else _vector(embed(query))).limit(k).to_list()
        # The vectors themselves are of no use to a measurement.
        return [{n: one for n, one in row.items() if not isinstance(one, list)} for row in rows]

    return search


def _embed(options: Options, what: str) -> Callable[[str], Any]:
    embed = options.get("embed")
    if not callable(embed):
        raise InvalidInput(
            f"{what[0].upper()}{what[1:]} searches by vectors and not by text; give embed=, a "
            "function from a text to a vector."
        )
    found: Callable[[str], Any] = embed
    return found


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
