import pytest

from calipers.errors import InvalidInput
from calipers.live.settings import retrieve

haystack = pytest.importorskip("haystack", reason="needs haystack-ai")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = ["the war began", "Anna held a party", "peace came"]


def store():
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    found = InMemoryDocumentStore(embedding_similarity_function="cosine")
    found.write_documents(
        [
            haystack.Document(
                id=f"d{i}",
                content=text,
                embedding=embed(text),
                meta={"source_id": "book", "split_idx_start": 5 * i},
            )
            for i, text in enumerate(TEXTS)
        ]
    )
    return found


def embed(text):
    return [float(text.count(letter)) + 0.01 for letter in "abcdefghijklmnop"]


def reverser():
    from haystack import Document, component

    @component
    class Reverse:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document], top_k: int = 10):
            return {"documents": documents[::-1][:top_k]}

    return Reverse()


def test_a_component():
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    run = retrieve(InMemoryBM25Retriever(store()), ["war", "party"], k=2)
    first = run.frame.filter(rank=1)
    assert first["item"].to_list() == ["d0", "d1"]
    assert first.select("document", "start", "end").rows() == [("book", 0, 13), ("book", 5, 22)]
    assert run.report.cut == 0


def test_a_component_that_searches_by_vectors_is_asked_by_a_pipeline():
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever

    with pytest.raises(InvalidInput, match="give a pipeline that embeds it"):
        retrieve(InMemoryEmbeddingRetriever(store()), TEXTS)


def test_a_pipeline():
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever

    pipeline = haystack.Pipeline()
    pipeline.add_component("first", InMemoryBM25Retriever(store(), top_k=3))
    pipeline.add_component("ranker", reverser())
    pipeline.connect("first.documents", "ranker.documents")
    run = retrieve(pipeline, ["war", "party"], k=1)
    assert run.frame.height == 2
    assert run.report.cut == 0


def test_a_pipeline_that_cannot_be_asked():
    pipeline = haystack.Pipeline()
    pipeline.add_component("ranker", reverser())
    with pytest.raises(InvalidInput, match=r"open inputs are ranker\.documents"):
        retrieve(pipeline, ["a"])
    with pytest.raises(InvalidInput, match="none of these is a question"):
        retrieve(reverser(), ["a"])
