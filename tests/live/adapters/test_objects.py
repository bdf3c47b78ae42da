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
    assert "pass one of its methods (count, query)" in str(caught.value)
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
    assert "4 results" in str(scores)
