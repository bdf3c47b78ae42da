"""Documents of other libraries, as classes of the same shape: none of them is imported."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import to_builtins

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.corpus import open_corpus
from calipers.io.load import load
from calipers.io.records.documents import as_result, is_document, read_document, results_in
from calipers.live.answers import Layout, read_answer


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class TextNode:
    node_id: str
    text: str
    ref_doc_id: str | None = None
    start_char_idx: int | None = None
    end_char_idx: int | None = None

    def get_content(self) -> str:
        return self.text


@dataclass
class NodeWithScore:
    node: TextNode
    score: float | None = None


@dataclass
class HaystackDocument:
    id: str
    content: str | None
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (LangChainDocument("text"), {"text": "text"}),
        (
            LangChainDocument("text", {"source": "a.md", "start_index": 3}, "c1"),
            {"id": "c1", "text": "text", "document": "a.md", "start": 3, "end": 7},
        ),
        (
            LangChainDocument("text", {"_id": 7, "relevance_score": 0.5}),
            {"id": "7", "text": "text", "score": 0.5},
        ),
        ((LangChainDocument("text"), 0.25), {"text": "text", "score": 0.25}),
        (TextNode("n1", "text"), {"id": "n1", "text": "text"}),
        (
            NodeWithScore(TextNode("n1", "text", "d", 3, 7), 0.75),
            {"id": "n1", "text": "text", "document": "d", "start": 3, "end": 7, "score": 0.75},
        ),
        (NodeWithScore(TextNode("n1", "text")), {"id": "n1", "text": "text"}),
        (
            HaystackDocument("h1", "text", {"file_path": "b.md"}, 0.5),
            {"id": "h1", "text": "text", "score": 0.5, "document": "b.md"},
        ),
        (HaystackDocument("h1", None), {"id": "h1"}),
        (
            LangChainDocument("text", {"doc_id": "d1", "source": "a.md"}),
            {"text": "text", "document": "d1"},
        ),
        (
            HaystackDocument("h2", "text", {"source_id": "d1", "split_idx_start": 3}),
            {"id": "h2", "text": "text", "document": "d1", "start": 3, "end": 7},
        ),
    ],
)
def test_a_document_as_a_result_handed_in_or_asked_for_live(document, expected):
    assert is_document(document)
    assert as_result(document) == expected
    asked = read_answer([document], 1, Layout()).retrieved[0]
    assert {n: v for n, v in to_builtins(asked).items() if v is not None} == expected


SPLIT = {"source_id": "d1", "split_idx_start": 3}


def test_a_corpus_takes_the_same_documents():
    row = next(open_corpus([HaystackDocument("h1", "some text", SPLIT)]).batches()).row(
        0, named=True
    )
    assert (row["id"], row["document"], row["start"]) == ("h1", "d1", 3)


def test_a_document_that_cannot_be_used_is_named_with_its_place():
    record = {"query": "q", "retrieved": [HaystackDocument("h1", "x", {}, float("nan"))]}
    with pytest.raises(InvalidInput, match=r"has the score nan.* at data\[0\].retrieved\[0\]"):
        load([record], "both")


@pytest.mark.parametrize("value", ["id", 7, None, {"id": "a"}, ("a", 0.5), ("a", "b"), []])
def test_what_is_no_document(value):
    assert not is_document(value)


def test_documents_by_query_as_ground_truth():
    truth = load({"q": [TextNode("n1", "y")]}, "ground_truth").ground_truth
    assert truth is not None
    assert truth.targets.select("query", "item", "quote").rows() == [("q", "n1", "y")]


def test_pairs_of_document_and_score_keep_the_order_of_the_list():
    """A score may be a distance, the smaller the better: the list knows, the number does not."""
    run = {"q": [(LangChainDocument("a", id="a"), 0.1), (LangChainDocument("b", id="b"), 0.9)]}
    found = load(run, "run").run
    assert found is not None
    assert found.frame["item"].to_list() == ["a", "b"]


class Part:
    type = "text"

    def __init__(self, text: str) -> None:
        self.text = text


@pytest.mark.parametrize("part", [Part, lambda text: {"type": "text", "text": text}])
def test_the_search_of_openai_gives_its_texts_in_parts(part):
    """Two chunks of one file are two results, each with its text."""
    data = [
        {"file_id": "f-1", "filename": "a.md", "score": 0.9, "content": [part("The refund.")]},
        {"file_id": "f-1", "filename": "a.md", "score": 0.8, "content": [part("30"), part("days")]},
    ]
    answer = {"object": "vector_store.search_results.page", "search_query": ["q"], "data": data}
    rows = [read_document(one) for one in results_in(answer)]
    assert [(row.text, row.document, row.id) for row in rows] == [
        ("The refund.", "a.md", None),
        ("30\ndays", "a.md", None),
    ]
    run = {"How long?": answer}
    truth = [{"query": "How long?", "ground_truth": [{"quote": "30 days"}]}]
    assert evaluate(run=run, ground_truth=truth, metrics="mrr")["mrr"].mean == 0.5
