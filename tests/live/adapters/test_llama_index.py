import pytest

from calipers.live.settings import retrieve

core = pytest.importorskip("llama_index.core", reason="needs llama-index-core")
pytestmark = pytest.mark.filterwarnings("ignore")


def nodes():
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    return [
        TextNode(
            id_=f"n{i}",
            text=f"text {i}",
            start_char_idx=10 * i,
            end_char_idx=10 * i + 6,
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="book")},
        )
        for i in range(4)
    ]


def test_a_retriever_of_ones_own():
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore

    class Own(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=n, score=1 / (i + 1)) for i, n in enumerate(nodes())]

    run = retrieve(Own(), ["a"], k=2)
    columns = ["item", "score", "text", "document", "start", "end"]
    assert run.frame.select(columns).rows() == [
        ("n0", 1.0, "text 0", "book", 0, 6),
        ("n1", 0.5, "text 1", "book", 10, 16),
    ]


def test_a_vector_index_is_asked_for_k_and_left_as_it_was():
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import MockEmbedding

    index = VectorStoreIndex(nodes(), embed_model=MockEmbedding(embed_dim=4))
    retriever = index.as_retriever(similarity_top_k=1)
    run = retrieve(retriever, ["a", "b"], k=3)
    assert run.frame.height == 6
    assert set(run.frame["item"]) <= {"n0", "n1", "n2", "n3"}
    assert retriever.similarity_top_k == 1
