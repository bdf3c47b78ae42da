import pytest

from calipers.errors import InvalidInput
from calipers.live.adapters.recognise import as_retriever
from calipers.live.settings import retrieve

core = pytest.importorskip("langchain_core", reason="needs langchain-core")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = ["the war began", "Anna held a party", "peace came"]


def embedding():
    from langchain_core.embeddings import Embeddings

    class Letters(Embeddings):
        def embed_documents(self, texts):
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text):
            return [
                float(text.lower().count(letter)) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"
            ]

    return Letters()


def store():
    from langchain_core.documents import Document
    from langchain_core.vectorstores import InMemoryVectorStore

    found = InMemoryVectorStore(embedding())
    found.add_documents(
        [
            Document(
                id=f"d{i}",
                page_content=text,
                metadata={"source": "book.txt", "start_index": 10 * i},
            )
            for i, text in enumerate(TEXTS)
        ]
    )
    return found


def test_a_retriever_over_a_store_is_asked_for_k():
    retriever = store().as_retriever(search_kwargs={"k": 1})
    run = retrieve(retriever, TEXTS, k=3)
    assert run.frame.group_by("query").len()["len"].to_list() == [3, 3, 3]
    first = run.frame.filter(rank=1)
    assert first["item"].to_list() == ["d0", "d1", "d2"]
    assert first["text"].to_list() == TEXTS
    assert first["document"].unique().to_list() == ["book.txt"]
    assert first.select("start", "end").rows() == [(0, 13), (10, 27), (20, 30)]
    assert retriever.search_kwargs == {"k": 1}


def test_a_store_gives_scores():
    run = retrieve(store(), TEXTS, k=2)
    assert run.frame.filter(rank=1)["item"].to_list() == ["d0", "d1", "d2"]
    assert run.frame["score"].null_count() == 0
    with pytest.raises(InvalidInput, match="'params' means nothing for an object of langchain"):
        retrieve(store(), TEXTS, params={"x": 1})


def test_a_retriever_of_ones_own():
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Own(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(page_content=query, metadata={"id": f"{query}-{i}"}) for i in range(5)]

    run = retrieve(Own(), ["a", "b"], k=2)
    assert run.frame["item"].to_list() == ["a-0", "a-1", "b-0", "b-1"]
    assert as_retriever(Own()).name == "langchain:Own"
    assert run.report.cut == 2
