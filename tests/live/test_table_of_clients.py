"""Every line of code in the table of docs/adapters.md runs, and what it returns is read."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import calipers

PAGE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\w[\w ]*) \| `(.+?)`(?:, .*)? \|$", re.MULTILINE)
TABLE = PAGE[PAGE.index("| client | return from") :].partition("\n\n")[0]
LINES = dict(ROW.findall(TABLE))
HITS = {"hits": {"hits": [{"_id": "c2", "_score": 2.0}, {"_id": "c1", "_score": 0.5}]}}
POINTS = [SimpleNamespace(id="c2", score=2.0), SimpleNamespace(id="c1", score=0.5)]
MATCHES = [{"id": "c2", "score": 2.0}, {"id": "c1", "score": 0.5}]


class Answering:
    """A client whose method answers, if it is asked for two results."""

    def __init__(self, method: str, answer: object, *of_k: str) -> None:
        self.method = method
        self.answer = answer
        self.of_k = of_k

    def __getattr__(self, name: str) -> Callable[..., object]:
        assert name == self.method

        def call(*words: Any, **named: Any) -> object:
            values = [named[one] for one in self.of_k] or [*words[-1]][-1:]
            assert values == [2]
            return self.answer

        return call


class Lance:
    """A table of LanceDB, whose search is built step by step."""

    def search(self, vector: object) -> "Lance":
        assert vector == "vector of Who?"
        return self

    def limit(self, k: int) -> "Lance":
        self.k = k
        return self

    def to_list(self) -> list[dict[str, object]]:
        return [{"id": "c2", "_distance": 0.1}, {"id": "c1", "_distance": 0.4}][: self.k]


def bm25s() -> dict[str, object]:
    library = pytest.importorskip("bm25s", reason="needs bm25s")
    index = library.BM25()
    texts = ["the war began", "who gave a party"]
    index.index(library.tokenize(texts, show_progress=False), show_progress=False)
    return {"bm25s": library, "index": index, "ids": ["c1", "c2"]}


ROWS = [("c2", "Anna", 0.1), ("c1", "war", 0.4)]
COLUMNS = {"ids": [["c2", "c1"]], "distances": [[0.1, 0.4]]}
CLIENTS: dict[str, Callable[[], dict[str, object]]] = {
    "Elasticsearch": lambda: {"client": Answering("search", HITS, "size")},
    "OpenSearch": lambda: {"client": Answering("search", HITS, "size")},
    "Qdrant": lambda: {
        "client": Answering("query_points", SimpleNamespace(points=POINTS), "limit")
    },
    "Weaviate": lambda: {
        "chunks": SimpleNamespace(
            query=Answering("hybrid", SimpleNamespace(objects=POINTS), "limit")
        ),
        "MetadataQuery": lambda score: score,
    },
    "Pinecone": lambda: {"index": Answering("query", {"matches": MATCHES}, "top_k")},
    "Milvus": lambda: {"client": Answering("search", [MATCHES], "limit")},
    "pgvector": lambda: {
        "connection": Answering("execute", SimpleNamespace(fetchall=lambda: ROWS))
    },
    "Chroma": lambda: {"collection": Answering("query", COLUMNS, "n_results")},
    "LanceDB": lambda: {"table": Lance()},
    "bm25s": bm25s,
    "Vespa": lambda: {"app": Answering("query", SimpleNamespace(hits=MATCHES), "hits")},
}


def test_the_table_is_read_whole() -> None:
    assert LINES.keys() == CLIENTS.keys()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_line_of_the_table(client: str) -> None:
    names: dict[str, Any] = {"embed": lambda text: f"vector of {text}", **CLIENTS[client]()}
    exec(f"def search(query, k):\n    return {LINES[client]}", names)
    run = calipers.retrieve(names["search"], ["Who?"], k=2)
    assert run.frame["item"].to_list() == ["c2", "c1"]
