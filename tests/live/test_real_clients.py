"""Answers made with the clients' own classes, without a server (`make clients adapters`)."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from calipers.io.records.documents import Row
from calipers.live.answers import read_answer
from calipers.live.failures import AskFailed

pytestmark = pytest.mark.filterwarnings("ignore")

HITS = {
    "took": 3,
    "hits": {
        "total": {"value": 2, "relation": "eq"},
        "hits": [
            {"_index": "c", "_id": "1", "_score": 2.0, "_source": {"text": "one"}},
            {"_index": "c", "_id": "2", "_score": 0.5, "_source": {"text": "two"}},
        ],
    },
}
ROWS = [Row("1", 2.0, "one"), Row("2", 0.5, "two")]
VESPA = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 2}}


def library(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make clients")


def elasticsearch() -> Any:
    transport = library("elastic_transport")
    node = transport.NodeConfig("http", "host", 9200)
    meta = transport.ApiResponseMeta(200, "1.1", transport.HttpHeaders(), 0.1, node)
    return transport.ObjectApiResponse(body=HITS, meta=meta)


def elasticsearch_dsl() -> Any:
    dsl = library("elasticsearch.dsl")
    return library("elasticsearch.dsl.response").Response(dsl.Search(), HITS)


def opensearch_dsl() -> Any:
    search = library("opensearchpy").Search()
    return library("opensearchpy.helpers.response").Response(search, HITS)


def weaviate() -> Any:
    made = library("weaviate.collections.classes.internal")
    objects = [
        made.Object(
            uuid=UUID(int=int(row.id or 0)),
            metadata=made.MetadataReturn(score=row.score),
            properties={"text": row.text},
            references=None,
            vector={},
            collection="Chunks",
        )
        for row in ROWS
    ]
    return made.QueryReturn(objects=objects)


def pinecone() -> Any:
    made = library("pinecone")
    matches = [
        made.ScoredVector(id=row.id, score=row.score, metadata={"text": row.text}) for row in ROWS
    ]
    return made.QueryResponse(matches=matches)


def pinecone_records() -> Any:
    made = library("pinecone.models.vectors.search")
    hits = [made.Hit(id_=row.id, score_=row.score, fields={"chunk_text": row.text}) for row in ROWS]
    result = made.SearchResult(hits=hits)
    return made.SearchRecordsResponse(result=result, usage=made.SearchUsage(read_units=1))


def milvus(key: str = "id") -> Any:
    made = library("pymilvus.grpc_gen.schema_pb2")
    found = made.SearchResultData(
        num_queries=1, top_k=2, topks=[2], scores=[2.0, 0.5], primary_field_name=key
    )
    found.output_fields.append("text")
    found.ids.int_id.data.extend([1, 2])
    texts = found.fields_data.add(type=made.DataType.VarChar, field_name="text")
    texts.scalars.string_data.data.extend(["one", "two"])
    return library("pymilvus.client.search_result").SearchResult(found)


def vespa(**root: Any) -> Any:
    return library("vespa.io").VespaQueryResponse({"root": {**VESPA, **root}}, 200, "http://host")


def vespa_hits() -> Any:
    hits = [{"id": row.id, "relevance": row.score, "fields": {"text": row.text}} for row in ROWS]
    return vespa(children=hits)


def chroma() -> Any:
    chromadb = library("chromadb")
    # Nothing goes out: no news of its use, and no model to embed with.
    client = chromadb.EphemeralClient(settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("texts", embedding_function=None)
    documents = [str(row.text) for row in ROWS]
    collection.upsert(ids=["1", "2"], documents=documents, embeddings=[[1.0], [3.0]])
    return collection.query(query_embeddings=[[1.0]], n_results=2)


def qdrant() -> Any:
    made = library("qdrant_client")
    client, models = made.QdrantClient(":memory:"), made.models
    vectors = models.VectorParams(size=1, distance=models.Distance.DOT)
    client.create_collection("texts", vectors_config=vectors)
    points = [
        models.PointStruct(id=int(row.id or 0), vector=[row.score], payload={"text": row.text})
        for row in ROWS
    ]
    client.upsert("texts", points)
    return client.query_points("texts", query=[1.0], limit=2)


def lancedb(folder: Any) -> Any:
    rows = [{"id": row.id, "text": row.text, "vector": [row.score, 0.0]} for row in ROWS]
    table = library("lancedb").connect(folder).create_table("texts", rows)
    return table.search([2.0, 0.0]).limit(2)


def test_the_answers_of_vector_stores_are_read(tmp_path: Any) -> None:
    listed = [("1", "one"), ("2", "two")]
    assert [(row.id, row.text) for row in read_answer(chroma(), 10).retrieved] == listed
    found = qdrant()
    for answer in (found, found.points, {"result": found.model_dump()}):
        assert read_answer(answer, 10).retrieved == ROWS
    table = lancedb(tmp_path)
    for answer in (table.to_list(), table.to_arrow(), table.to_polars()):
        assert [(row.id, row.text) for row in read_answer(answer, 10).retrieved] == listed


@pytest.mark.parametrize(
    "client",
    [
        *(elasticsearch, elasticsearch_dsl, opensearch_dsl, weaviate, pinecone, pinecone_records),
        *(milvus, lambda: milvus("my_key"), vespa_hits),
    ],
)
def test_its_answer_is_read(client: Callable[[], Any]) -> None:
    found = read_answer(client(), 10).retrieved
    if client is weaviate:
        found = [Row(str(UUID(row.id).int), row.score, row.text) for row in found]
    assert found == ROWS


def test_no_hits_of_vespa_are_no_results_and_its_errors_a_failure() -> None:
    assert read_answer(vespa(), 10).retrieved == []
    with pytest.raises(AskFailed, match="bad yql"):
        read_answer(vespa(errors=[{"code": 4, "message": "bad yql"}]), 10)


def test_the_recipe_for_opensearch_is_a_call_that_its_client_takes() -> None:
    client = library("opensearchpy").OpenSearch("http://127.0.0.1:9", max_retries=0)
    with pytest.raises(library("opensearchpy.exceptions").ConnectionError):
        client.search(index="chunks", body={"query": {"match": {"text": "query"}}}, size=3)
