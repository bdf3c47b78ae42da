"""Objects of LangChain and LlamaIndex, asked as the retrievers that they are."""

from typing import Any

import pytest

from calipers.errors import InvalidInput
from calipers.live.adapters.recognise import as_retriever
from calipers.live.settings import retrieve

pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = ["the war began", "Anna held a party", "peace came"]
PLACE = ["item", "text", "document", "start", "end"]


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make adapters")


def embed(text: str) -> list[float]:
    return [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]


def langchain_store() -> Any:
    document = library("langchain_core.documents").Document

    class Letters(library("langchain_core.embeddings").Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [embed(text) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return embed(text)

    found = library("langchain_core.vectorstores").InMemoryVectorStore(Letters())
    about = [{"source": "book.txt", "start_index": 10 * i} for i in range(3)]
    pairs = zip(TEXTS, about, strict=True)
    found.add_documents(
        [document(id=f"d{i}", page_content=t, metadata=m) for i, (t, m) in enumerate(pairs)]
    )
    return found


def test_a_retriever_of_langchain_over_a_store_is_asked_for_k() -> None:
    retriever = langchain_store().as_retriever(search_kwargs={"k": 1})
    run = retrieve(retriever, TEXTS, k=3)
    assert run.frame.group_by("query").len()["len"].to_list() == [3, 3, 3]
    assert run.frame.filter(rank=1).select(PLACE).rows() == [
        ("d0", TEXTS[0], "book.txt", 0, 13),
        ("d1", TEXTS[1], "book.txt", 10, 27),
        ("d2", TEXTS[2], "book.txt", 20, 30),
    ]
    assert retriever.search_kwargs == {"k": 1}


def test_a_store_of_langchain_gives_scores() -> None:
    run = retrieve(langchain_store(), TEXTS, k=2)
    assert run.frame.filter(rank=1)["item"].to_list() == ["d0", "d1", "d2"]
    assert run.frame["score"].null_count() == 0
    with pytest.raises(InvalidInput, match="'params' means nothing for an object of langchain"):
        retrieve(langchain_store(), TEXTS, params={"x": 1})


def test_a_retriever_of_ones_own_for_langchain() -> None:
    document = library("langchain_core.documents").Document

    class Own(library("langchain_core.retrievers").BaseRetriever):  # type: ignore[misc]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
            return [document(page_content=query, metadata={"id": f"{query}-{i}"}) for i in range(5)]

    run = retrieve(Own(), ["a", "b"], k=2)
    assert run.frame["item"].to_list() == ["a-0", "a-1", "b-0", "b-1"]
    assert as_retriever(Own()).name == "langchain:Own"
    assert run.report.cut == 2


def nodes() -> list[Any]:
    schema = library("llama_index.core.schema")
    source = {schema.NodeRelationship.SOURCE: schema.RelatedNodeInfo(node_id="book")}
    return [
        schema.TextNode(
            id_=f"n{i}",
            text=f"text {i}",
            start_char_idx=10 * i,
            end_char_idx=10 * i + 6,
            relationships=source,
        )
        for i in range(4)
    ]


def test_a_retriever_of_ones_own_for_llama_index() -> None:
    scored = library("llama_index.core.schema").NodeWithScore

    class Own(library("llama_index.core.retrievers").BaseRetriever):  # type: ignore[misc]
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            return [scored(node=node, score=1 / (i + 1)) for i, node in enumerate(nodes())]

    run = retrieve(Own(), ["a"], k=2)
    assert run.frame.select("score", *PLACE).rows() == [
        (1.0, "n0", "text 0", "book", 0, 6),
        (0.5, "n1", "text 1", "book", 10, 16),
    ]


def test_an_index_of_llama_index_is_asked_for_k_and_left_as_it_was() -> None:
    core = library("llama_index.core")
    index = core.VectorStoreIndex(nodes(), embed_model=core.MockEmbedding(embed_dim=4))
    retriever = index.as_retriever(similarity_top_k=1)
    run = retrieve(retriever, ["a", "b"], k=3)
    assert run.frame.height == 6
    assert set(run.frame["item"]) <= {"n0", "n1", "n2", "n3"}
    assert retriever.similarity_top_k == 1
