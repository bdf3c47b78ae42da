"""Document objects of LangChain, LlamaIndex and Haystack, by what they have, not what they are.

None of the libraries is imported: an object with ``page_content`` is a LangChain document, one
with ``get_content()`` a LlamaIndex node, one with ``content`` and ``meta`` a Haystack document.
"""

from collections.abc import Mapping
from typing import Any

ORIGIN = ("source", "file_path", "file_name", "document_id", "doc_id")
"""Where the metadata of a chunk may name its document."""
IDS = ("id", "_id", "chunk_id")
SCORES = ("score", "relevance_score")


def is_document(value: Any) -> bool:
    """Whether the object is a retrieved document, a scored node, or a pair of document and score.

    >>> from types import SimpleNamespace
    >>> is_document(SimpleNamespace(page_content="text", metadata={}))
    True
    >>> is_document("chunk_1")
    False
    """
    if isinstance(value, tuple):
        return len(value) == 2 and is_document(value[0])
    return _is_scored_node(value) or _is_node(value) or _is_langchain(value) or _is_haystack(value)


def as_result(value: Any) -> dict[str, Any]:
    """The document as a result: id, text, score, and its place in its own document.

    >>> from types import SimpleNamespace
    >>> as_result(SimpleNamespace(id="c1", page_content="text", metadata={"source": "a.md"}))
    {'id': 'c1', 'text': 'text', 'document': 'a.md'}
    """
    score = None
    if isinstance(value, tuple):
        value, score = value
    if _is_scored_node(value):
        value, score = value.node, value.score
    if _is_node(value):
        found = _from_node(value)
    elif _is_langchain(value):
        found = _from_metadata(value, value.page_content, value.metadata or {})
    else:
        found = _from_metadata(value, value.content, value.meta or {})
    if score is not None:
        found["score"] = float(score)
    return {key: one for key, one in found.items() if one is not None}


def as_target(value: Any) -> dict[str, Any]:
    """The document as a piece of ground truth: its id and its text as the quote."""
    found = as_result(value)
    target = {"id": found.get("id"), "quote": found.get("text")}
    return {key: one for key, one in target.items() if one is not None}


def plain(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record with every document object in it written out."""
    changed: dict[str, Any] = {}
    for key, write in (("retrieved", as_result), ("ground_truth", as_target)):
        listed = row.get(key)
        if isinstance(listed, list | tuple) and any(is_document(one) for one in listed):
            changed[key] = [write(one) if is_document(one) else one for one in listed]
    return {**row, **changed} if changed else row


def _is_langchain(value: Any) -> bool:
    return hasattr(value, "page_content") and hasattr(value, "metadata")


def _is_node(value: Any) -> bool:
    return hasattr(value, "get_content") and hasattr(value, "node_id")


def _is_scored_node(value: Any) -> bool:
    return hasattr(value, "node") and hasattr(value, "score") and _is_node(value.node)


def _is_haystack(value: Any) -> bool:
    return hasattr(value, "content") and hasattr(value, "meta") and hasattr(value, "id")


def _from_node(node: Any) -> dict[str, Any]:
    return {
        "id": node.node_id,
        "text": node.get_content(),
        "document": getattr(node, "ref_doc_id", None),
        "start": getattr(node, "start_char_idx", None),
        "end": getattr(node, "end_char_idx", None),
    }


def _from_metadata(value: Any, text: str | None, metadata: Mapping[str, Any]) -> dict[str, Any]:
    ident = getattr(value, "id", None)
    if ident is None:
        ident = _first(metadata, IDS)
    score = getattr(value, "score", None)
    if score is None:
        score = _first(metadata, SCORES)
    origin = _first(metadata, ORIGIN)
    found = {
        "id": ident if isinstance(ident, str | int | None) else str(ident),
        "text": text,
        "score": None if score is None else float(score),
        "document": None if origin is None else str(origin),
    }
    start = metadata.get("start_index")
    if origin is not None and isinstance(start, int) and text is not None:
        found |= {"start": start, "end": start + len(text)}
    return found


def _first(metadata: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((metadata[name] for name in names if metadata.get(name) is not None), None)
