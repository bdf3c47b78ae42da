"""LlamaIndex: queries, the nodes that answer them, and the texts of the nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records import Id, Record, Target
from calipers.io.wholes import Place, WholeFormat


class QuestionsOverNodes(msgspec.Struct):
    """The dataset as LlamaIndex saves it."""

    queries: dict[str, str]
    relevant_docs: dict[str, list[Id]]
    corpus: dict[str, str] = {}


def recognise(first: Mapping[str, Any]) -> bool:
    """``relevant_docs``."""
    return "relevant_docs" in first


def _records(whole: QuestionsOverNodes, place: Place) -> Iterator[tuple[str, Record]]:
    unknown = next((q for q in whole.relevant_docs if q not in whole.queries), None)
    if unknown is not None:
        raise InvalidInput(
            f"A query has relevant nodes and no text at {place('$.relevant_docs')}: no "
            f"{unknown!r} in 'queries'; add it there."
        )
    for query, text in whole.queries.items():
        nodes = dict.fromkeys(str(node) for node in whole.relevant_docs.get(query, ()))
        truth: list[Id | Target] = [
            Target(id=node, quote=whole.corpus.get(node) or None) for node in nodes
        ]
        yield place(f"$.queries[{query!r}]"), Record(text, id=query, ground_truth=truth)


FORM = WholeFormat(
    name="llama_index",
    title="a LlamaIndex question set",
    recognise=recognise,
    whole=QuestionsOverNodes,
    records=_records,
    example='{"queries": {"q": …}, "corpus": {"node": …}, "relevant_docs": {"q": ["node"]}}',
    kept=frozenset({"queries", "relevant_docs", "corpus", "mode"}),
    fields={"ground_truth": "relevant_docs"},
)
