"""Objects that retrieve: asked by the method that they have."""

from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest

import calipers
from calipers.errors import InvalidInput

QUESTIONS = ["Who?", "When?"]


class LangChainKin:
    """Takes a text, knows its own k, and has other methods beside it."""

    def invoke(self, input: str, config: object = None, **kwargs: object) -> list[object]:  # noqa: A002
        return [SimpleNamespace(id=f"{input}-{n}", page_content="x", metadata={}) for n in range(4)]

    def search(self, query: str) -> list[str]:
        raise AssertionError("invoke comes first")


class LlamaIndexKin:
    def retrieve(self, str_or_query_bundle: str) -> list[str]:
        return [f"{str_or_query_bundle}-{n}" for n in range(9)]


class Old:
    def get_relevant_documents(self, query: str) -> list[str]:
        return [f"{query}-{n}" for n in range(9)]


class Client:
    def search(self, query: str, limit: int = 10) -> list[str]:
        return [f"{query}-{n}" for n in range(limit)]


class AsyncClient:
    async def search(self, query: str, k: int) -> list[str]:
        return [f"{query}-{n}" for n in range(k)]


class OnlyAsync:
    async def ainvoke(self, query: str) -> list[str]:
        return [f"{query}-{n}" for n in range(4)]


class Streaming:
    async def search(self, query: str) -> AsyncIterator[str]:
        for n in range(100):
            yield f"{query}-{n}"


class Called:
    """An object that is a function is called, whatever methods it has."""

    def __call__(self, query: str, k: int) -> list[str]:
        return [f"{query}-{n}" for n in range(k)]

    def search(self, query: str) -> list[str]:
        raise AssertionError


KINDS = [LangChainKin, LlamaIndexKin, Old, Client, AsyncClient, OnlyAsync, Streaming, Called]


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_that_retrieves_is_asked(kind: type) -> None:
    run = calipers.retrieve(kind(), QUESTIONS, k=3)
    expected = [f"{question}-{n}" for question in QUESTIONS for n in range(3)]
    assert run.frame["item"].to_list() == expected
    assert kind.__name__ in run.report.retriever


def test_an_object_of_a_module_is_asked_by_its_name(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Store:\n    def search(self, query, k):\n        return [query] * 1\n"
        "store = Store()\n"
    )
    run = calipers.retrieve("mine.py:store", QUESTIONS, k=1)
    assert run.frame["item"].to_list() == QUESTIONS
    assert run.report.retriever == "mine.py:store"


def test_another_object_is_refused_with_its_own_methods() -> None:
    class Index:
        def query(self, text: str) -> list[str]:
            return [text]

        def count(self) -> int:
            return 1

    with pytest.raises(InvalidInput) as caught:
        calipers.retrieve(Index(), QUESTIONS)  # type: ignore[arg-type]
    assert "pass one of its methods (query)" in str(caught.value)
    run = calipers.retrieve(Index().query, QUESTIONS, k=1)
    assert run.frame["item"].to_list() == QUESTIONS


def test_real_retrievers_of_langchain() -> None:
    stores = pytest.importorskip("langchain_core.vectorstores", reason="needs langchain-core")
    documents = pytest.importorskip("langchain_core.documents")
    embeddings = pytest.importorskip("langchain_core.embeddings")
    store = stores.InMemoryVectorStore(embeddings.DeterministicFakeEmbedding(size=8))
    store.add_documents(
        [documents.Document(id=f"c{n}", page_content=f"text {n}") for n in range(12)]
    )
    run = calipers.retrieve(store.as_retriever(), ["text 3"], k=10)
    assert run.frame.height == 4
    assert run.frame["item"][0] == "c3"
    scores = calipers.evaluate(run=run, ground_truth={"text 3": ["c3"]}, metrics="recall@10")
    assert "never gave more than 4 of the 10 results" in str(scores)


class VectorStore:
    """As LangChain's: what it searches by is named before the number of results."""

    def add_texts(self, texts: list[str]) -> None: ...

    def search(self, query: str, search_type: str, **named: object) -> list[str]:
        raise ValueError(f"search_type of {search_type} not allowed")

    def similarity_search(self, query: str, k: int = 4) -> list[str]:
        return [f"c{n}" for n in range(k)]

    def similarity_search_with_score(self, query: str, k: int = 4) -> list[tuple[str, float]]:
        return [(f"c{n}", 1.0) for n in range(k)]


def test_a_method_that_needs_more_is_not_called_and_those_that_fit_are_named() -> None:
    store = VectorStore()
    with pytest.raises(InvalidInput) as refused:
        calipers.retrieve(store, ["text 3"], k=3)
    assert "its method search needs more than a question and a number of" in str(refused.value)
    assert (
        "pass one of its methods (similarity_search, similarity_search_with_score, add_texts) or a "
        "function of (query, k) that calls one, such as lambda query, k: "
        "vectorstore.similarity_search(query)." in str(refused.value)
    )
    run = calipers.retrieve(store.similarity_search, ["text 3"], k=3)
    assert run.frame["item"].to_list() == ["c0", "c1", "c2"]


def test_a_method_that_fits_is_called_before_one_that_does_not() -> None:
    class Two(VectorStore):
        def asearch(self, query: str, k: int) -> list[str]:
            return [f"c{n}" for n in range(k)]

    run = calipers.retrieve(Two(), ["text 3"], k=2)
    assert run.frame["item"].to_list() == ["c0", "c1"]
