"""LlamaIndex: questions over nodes, and labelled questions with the texts that answer them."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.write import opened
from calipers.io.format import EachRow, Output, Parts, PathPlace, WholeFormat
from calipers.io.records.entries import MADE_IDS, Remarks, entries, id_of
from calipers.io.records.records import At, Id, Record, Target, each
from calipers.names import words_in


class QuestionsOverNodes(msgspec.Struct):
    """The dataset as LlamaIndex saves it."""

    queries: dict[str, str]
    relevant_docs: dict[str, list[Id]]
    corpus: dict[str, str] = {}


class LlamaIndex(WholeFormat):
    """A question set over nodes."""

    name = "llama_index"
    title = "a LlamaIndex question set"
    whole = QuestionsOverNodes
    example = '{"queries": {"q": …}, "corpus": {"node": …}, "relevant_docs": {"q": ["node"]}}'
    kept = frozenset({"queries", "relevant_docs", "corpus", "mode"})
    truth_field = "relevant_docs"
    known_by = ({"relevant_docs"},)
    outputs = (
        Output(
            "llama_index",
            "a LlamaIndex question set",
            frozenset(
                words_in(
                    "targets quotes targets_without_id query_ids query_texts texts "
                    "queries_without_targets queries_without_results"
                )
            ),
            fits=(".json",),
        ),
    )

    def records(self, whole: QuestionsOverNodes, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Every query with its nodes; their texts are quotes."""
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

    def write(self, output: Output, parts: Parts, path: Path, remarks: Remarks) -> list[Path]:
        """The whole set at once: its three parts stand one after the other in the file."""
        del output  # there is one
        queries: dict[str, str] = {}
        corpus: dict[str, str] = {}
        relevant: dict[str, list[str]] = {}
        for part in parts:
            for entry in entries(part):
                queries[entry.query] = entry.text or entry.query
                nodes = relevant.setdefault(entry.query, [])
                for row in entry.targets or ():
                    if row["grade"] > 0 and ("item" in row or "quote" in row):
                        node = row.get("item") or id_of(row["quote"])
                        remarks.add(MADE_IDS, int("item" not in row))
                        nodes.append(node)
                        corpus[node] = corpus.get(node) or row.get("quote", "")
                for row in entry.results or ():
                    if "item" in row and "text" in row:
                        corpus[row["item"]] = corpus.get(row["item"]) or row["text"]
        remarks.add(
            "Nodes whose text is not known, in the corpus with an empty one: {n}.",
            sum(not text for text in corpus.values()),
        )
        whole = {"queries": queries, "corpus": corpus, "relevant_docs": relevant, "mode": "text"}
        with opened(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
        return [path]


class LabelledExample(msgspec.Struct):
    """One example of a LabelledRagDataset; answers are not about retrieval."""

    query: str
    reference_contexts: list[str] | None = None


def is_labelled(keys: frozenset[str]) -> bool:
    """Whether these are the fields of such an example; ragas calls the question otherwise."""
    own = keys & {"query", "query_by", "reference_answer_by"}
    return "reference_contexts" in keys and bool(own) and "user_input" not in keys


class LabelledRag(EachRow):
    """A LabelledRagDataset: its examples, or rows with the same fields."""

    name = "llama_index_rag"
    title = "a LlamaIndex LabelledRagDataset"
    row = LabelledExample
    example = '{"examples": [{"query": …, "reference_contexts": […]}]}'
    truth_field = "reference_contexts"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``reference_contexts`` beside ``query``, which ragas calls ``user_input``."""
        return is_labelled(keys)

    def record(self, row: LabelledExample, _: At) -> Record:
        """A row as a record; a text that is given twice counts once."""
        texts = row.reference_contexts and dict.fromkeys(row.reference_contexts)
        truth = each(lambda text: Target(quote=text), texts)
        return Record(row.query, ground_truth=truth)
