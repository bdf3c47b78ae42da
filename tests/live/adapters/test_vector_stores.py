from typing import Any

import numpy as np
import pytest

from calipers.errors import InvalidInput, RetrieverFailed
from calipers.io.records.documents import Row
from calipers.live.answers import read_answer
from calipers.live.settings import retrieve

pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = ["the war began", "Anna held a party", "peace came", "an army marched"]
IDS = [f"d{i}" for i in range(4)]


def embed(text):
    vector = np.array([text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnop"])
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def own_answer(answer):
    """What is read from the answer of a client itself, without an adapter."""
    return read_answer(answer).retrieved[0]


def first_items(run):
    return run.frame.filter(rank=1)["item"].to_list()


def faiss_index():
    faiss = pytest.importorskip("faiss", reason="needs faiss-cpu")
    index = faiss.IndexFlatIP(16)
    index.add(np.stack([embed(text) for text in TEXTS]))
    return index


def test_faiss_with_ids_and_texts():
    run = retrieve(faiss_index(), TEXTS, k=10, ids=IDS, texts=TEXTS, embed=embed)
    assert first_items(run) == IDS
    assert run.frame.filter(rank=1)["text"].to_list() == TEXTS
    assert run.frame.filter(rank=1)["score"].to_list() == pytest.approx([1.0] * 4)
    assert run.frame.height == 16
    assert first_items(retrieve(faiss_index(), TEXTS, k=1, embed=embed)) == ["0", "1", "2", "3"]


def test_faiss_and_what_it_needs():
    with pytest.raises(InvalidInput, match="A FAISS index searches by vectors"):
        retrieve(faiss_index(), TEXTS)
    with pytest.raises(InvalidInput, match="holds 4 entries and ids has 2"):
        retrieve(faiss_index(), TEXTS, embed=embed, ids=["a", "b"])
    with pytest.raises(
        RetrieverFailed, match="has 3 numbers and the FAISS index holds vectors of 16"
    ):
        retrieve(faiss_index(), TEXTS, embed=lambda text: [1, 2, 3])


def test_faiss_that_finds_fewer():
    faiss = pytest.importorskip("faiss", reason="needs faiss-cpu")
    quantizer = faiss.IndexFlatIP(16)
    index = faiss.IndexIVFFlat(quantizer, 16, 4, faiss.METRIC_INNER_PRODUCT)
    vectors = np.stack([embed(text) for text in TEXTS])
    index.train(vectors)
    index.add(vectors)
    run = retrieve(index, TEXTS, k=4, ids=IDS, embed=embed)
    assert first_items(run) == IDS
    assert run.report.short == 4


def chroma_client(chromadb):
    # Nothing goes out: no news of its use, and no model to embed with.
    return chromadb.EphemeralClient(settings=chromadb.Settings(anonymized_telemetry=False))


def test_chroma():
    chromadb = pytest.importorskip("chromadb", reason="needs chromadb")
    client = chroma_client(chromadb)
    collection = client.get_or_create_collection("texts", embedding_function=None)
    collection.upsert(
        ids=IDS,
        documents=TEXTS,
        embeddings=[embed(text).tolist() for text in TEXTS],
        metadatas=[{"source": f"book{i}"} for i in range(4)],
    )
    run = retrieve(collection, TEXTS, k=2, embed=embed)
    assert first_items(run) == IDS
    assert run.frame.filter(rank=1)["text"].to_list() == TEXTS
    assert run.frame.filter(rank=1)["document"].to_list() == [f"book{i}" for i in range(4)]
    found = collection.query(query_embeddings=[embed(TEXTS[0]).tolist()], n_results=2)
    assert own_answer(found) == Row("d0", own_answer(found).score, TEXTS[0], "book0")


def test_chroma_that_embeds_by_itself():
    chromadb = pytest.importorskip("chromadb", reason="needs chromadb")
    base: Any = chromadb.EmbeddingFunction

    class Letters(base):
        def __init__(self):
            """Nothing to set up; its own would warn."""

        def __call__(self, input):  # noqa: A002 - Chroma looks for that name
            return [embed(text) for text in input]

        @staticmethod
        def name():
            return "letters"

        def get_config(self):
            return {}

        @staticmethod
        def build_from_config(config):
            return Letters()

    collection = chroma_client(chromadb).get_or_create_collection(
        "embeds-by-itself", embedding_function=Letters()
    )
    collection.upsert(ids=IDS, documents=TEXTS)
    run = retrieve(collection, TEXTS, k=10)
    assert first_items(run) == IDS
    assert run.frame.filter(rank=1)["score"].to_list() == pytest.approx([0.0] * 4, abs=1e-6)
    assert run.frame.height == 16


def test_qdrant():
    qdrant = pytest.importorskip("qdrant_client", reason="needs qdrant-client")
    models = qdrant.models
    client = qdrant.QdrantClient(":memory:")
    client.create_collection(
        "texts", vectors_config=models.VectorParams(size=16, distance=models.Distance.COSINE)
    )
    client.upsert(
        "texts",
        [
            models.PointStruct(
                id=i, vector=embed(text).tolist(), payload={"text": text, "doc_id": "book"}
            )
            for i, text in enumerate(TEXTS)
        ],
    )
    run = retrieve(client, TEXTS, k=2, collection="texts", embed=embed, workers=1)
    assert first_items(run) == ["0", "1", "2", "3"]
    assert run.frame.filter(rank=1)["text"].to_list() == TEXTS
    assert run.frame["document"].unique().to_list() == ["book"]
    found = client.query_points("texts", query=embed(TEXTS[0]).tolist(), limit=2)
    for answer in (found, found.points, {"result": found.model_dump()}):
        assert own_answer(answer) == Row("0", found.points[0].score, TEXTS[0], "book")
    with pytest.raises(InvalidInput, match="without a collection"):
        retrieve(client, TEXTS, embed=embed)


def test_lancedb(tmp_path):
    lancedb = pytest.importorskip("lancedb", reason="needs lancedb")
    table = lancedb.connect(tmp_path).create_table(
        "texts",
        [{"id": i, "text": t, "vector": embed(t)} for i, t in zip(IDS, TEXTS, strict=True)],
    )
    run = retrieve(table, TEXTS, k=2, embed=embed)
    assert first_items(run) == IDS
    assert run.frame.filter(rank=1)["text"].to_list() == TEXTS
    assert run.frame.filter(rank=1)["score"].to_list() == pytest.approx([0.0] * 4, abs=1e-6)
    found = table.search(embed(TEXTS[0])).limit(2)
    for answer in (found.to_list(), found.to_arrow(), found.to_polars()):
        assert own_answer(answer) == Row("d0", own_answer(answer).score, TEXTS[0])
