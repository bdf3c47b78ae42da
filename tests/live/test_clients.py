"""What search engines and databases return is read right, or refused.

``test_real_clients`` has the classes of their own clients.
"""

import sqlite3
from collections import UserDict
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from calipers.io.records.documents import Row
from calipers.live.answers import read_answer
from calipers.live.failures import AskFailed

HITS = {"hits": [{"_id": "a", "_score": 2.0, "_source": {"text": "one"}}, {"_id": "b"}]}
FOUND = [Row("a", 2.0, "one"), Row("b")]
BARE, WHOLE = [Row("1", 0.5)], [Row("1", 0.5, "one")]


class ObjectApiResponse:
    """As elastic_transport has it: it can be indexed and gone through, and is no mapping."""

    def __init__(self, body: Any) -> None:
        self.body, self.meta = body, SimpleNamespace(status=200)

    def __getitem__(self, name: str) -> Any:
        return self.body[name]

    def __iter__(self) -> Any:
        return iter(self.body)


class MilvusHits(list[Any]):
    """A list of hits, for each of the vectors that were given."""


class SqlRow(NamedTuple):
    id: int
    content: str
    distance: float


NO_HITS = {"id": "top", "relevance": 1.0, "fields": {"totalCount": 0}}
VESPA = {"id": "1", "relevance": 0.5, "source": "content", "fields": {"text": "one"}}
READ: dict[str, tuple[Any, list[Row]]] = {
    "elasticsearch": (ObjectApiResponse({"hits": HITS}), FOUND),
    "opensearch": ({"took": 3, "hits": {"total": {"value": 2}, **HITS}}, FOUND),
    "qdrant over http": (
        {"result": {"points": [{"id": 1, "version": 9, "score": 0.5, "payload": {}}]}},
        BARE,
    ),
    "pinecone records": (
        {"result": {"hits": [{"_id": "1", "_score": 0.5, "fields": {"category": "x"}}]}},
        BARE,
    ),
    "milvus": (MilvusHits([MilvusHits([{"id": 1, "distance": 0.5, "entity": {}}])]), BARE),
    "milvus by key": (MilvusHits([MilvusHits([UserDict({"pk": 1, "distance": 0.5})])]), BARE),
    "milvus without hits": (MilvusHits([MilvusHits()]), []),
    "pgvector": ([(1, "one", 0.5)], WHOLE),
    "pgvector without text": ([(1, 0.5)], BARE),
    "rows with names": ([SqlRow(1, "one", 0.5)], WHOLE),
    "vespa over http": ({"root": {"id": "top", "relevance": 1.0, "children": [VESPA]}}, WHOLE),
    "vespa without hits": (SimpleNamespace(hits=[], json={"root": NO_HITS}), []),
    "vespa over http without hits": ({"root": NO_HITS}, []),
    "solr": ({"response": {"numFound": 1, "docs": [{"id": "1", "score": 0.5}]}}, BARE),
}


@pytest.mark.parametrize("client", READ)
def test_the_results_of_clients_are_read(client: str) -> None:
    answer, expected = READ[client]
    assert read_answer(answer, 10).retrieved == expected


def test_a_row_of_a_database_is_read_by_its_columns() -> None:
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    rows = base.execute("SELECT 1 AS id, 'one' AS content, 0.5 AS distance").fetchall()
    base.close()
    assert read_answer(rows).retrieved == WHOLE


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([(1, "one")], r"may be \(id, text\) or \(score, id\); return dictionaries"),
        ([[("a", 0.5), ("b", 0.4)], [("c", 0.5)]], "return the results of one"),
        (SimpleNamespace(groups=[SimpleNamespace(hits=[])]), "holds no list of results"),
        ({"data": {"Get": {"Chunk": [{"text": "one"}]}}}, "without a list of results"),
        ({"root": {**NO_HITS, "errors": [{"code": 4, "message": "bad yql"}]}}, "bad yql"),
        (ObjectApiResponse({"timed_out": True, "hits": HITS}), "the answer lacks results: the sea"),
        ({"_shards": {"total": 5, "failed": 1}, "hits": HITS}, "1 of 5 shards failed; ask again"),
        (
            SimpleNamespace(hits=[], _d_={"_shards": {"total": 2, "failed": 2}}),
            "2 of 2 shards failed",
        ),
        ([{"title": "x", "rank": 1}], "neither an id nor a text.*--id"),
    ],
)
def test_what_may_mean_two_things_is_refused(answer: Any, words: str) -> None:
    with pytest.raises(AskFailed, match=words):
        read_answer(answer)
