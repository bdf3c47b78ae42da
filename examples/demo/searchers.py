"""Real retrievers over the chunks: counted words, BM25, dense vectors in FAISS, and a hybrid."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import bm25s
import faiss
import numpy as np
from corpus import Chunk

Result = dict[str, Any]
Search = Callable[[str, int], list[Result]]

DIMENSIONS = 160
"""Of the latent semantic vectors."""
FUSION = 60
"""The constant of reciprocal rank fusion: larger lets lower ranks count more."""
DEPTH = 100
"""How deep the fused rankings are read."""


def words(text: str) -> list[str]:
    """Lower-case words and names; a dunder name is one word."""
    return re.findall(r"\w+", text.lower())


def counting(chunks: Sequence[Chunk]) -> Search:
    """How many words of the query a chunk has: what a first search often is."""
    bags = [Counter(words(chunk.text)) for chunk in chunks]

    def search(query: str, k: int) -> list[Result]:
        scores = [float(sum(bag[word] for word in words(query))) for bag in bags]
        found = sorted(range(len(chunks)), key=lambda i: (-scores[i], i))[:k]
        return results(chunks, found, [scores[i] for i in found])

    return search


def bm25(chunks: Sequence[Chunk]) -> Search:
    """Words in common, rare ones first."""
    index = bm25s.BM25()
    index.index([words(chunk.text) for chunk in chunks], show_progress=False)

    def search(query: str, k: int) -> list[Result]:
        scores = index.get_scores(words(query))
        # Topics share texts: which of equal scores comes first depends on the processor otherwise.
        found = np.argsort(-scores, kind="stable")[:k]
        return results(chunks, found.tolist(), scores[found].tolist())

    return search


def dense(chunks: Sequence[Chunk], model: str | None = None) -> Search:
    """Nearest vectors by cosine: latent semantic ones, or those of a named model."""
    embed = sentence_vectors(model) if model else latent_vectors([c.text for c in chunks])
    vectors = embed([chunk.text for chunk in chunks])
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)

    def search(query: str, k: int) -> list[Result]:
        scores, found = index.search(embed([query]), k)
        return results(chunks, found[0].tolist(), scores[0].tolist())

    return search


def hybrid(first: Search, second: Search) -> Search:
    """Reciprocal rank fusion: high in either list counts, high in both counts double."""

    def search(query: str, k: int) -> list[Result]:
        fused: dict[str, float] = defaultdict(float)
        seen: dict[str, Result] = {}
        for one in (first, second):
            for rank, result in enumerate(one(query, DEPTH), 1):
                fused[result["id"]] += 1 / (FUSION + rank)
                seen[result["id"]] = result
        best = sorted(fused, key=lambda item: (-fused[item], item))[:k]
        return [{**seen[item], "score": fused[item]} for item in best]

    return search


def results(chunks: Sequence[Chunk], found: list[int], scores: list[float]) -> list[Result]:
    """What a retriever returns: the chunk with its score, its text and its place."""
    return [
        {
            "id": c.id,
            "score": score,
            "text": c.text,
            "document": c.document,
            "start": c.start,
            "end": c.end,
        }
        for c, score in ((chunks[i], s) for i, s in zip(found, scores, strict=True))
    ]


def latent_vectors(texts: Sequence[str]) -> Callable[[Sequence[str]], np.ndarray]:
    """TF-IDF projected on the main directions of the corpus: latent semantic analysis."""
    counts = [Counter(words(text)) for text in texts]
    documents = Counter(word for one in counts for word in one)
    # A word that stands in one chunk only relates that chunk to no other.
    shared = sorted(word for word, count in documents.items() if count > 1)
    vocabulary = {word: i for i, word in enumerate(shared)}
    rarity = np.array([math.log((1 + len(texts)) / (1 + documents[w])) + 1 for w in vocabulary])

    def weigh(bags: Sequence[Counter[str]]) -> np.ndarray:
        matrix = np.zeros((len(bags), len(vocabulary)), dtype=np.float32)
        for row, bag in enumerate(bags):
            for word, count in bag.items():
                if word in vocabulary:
                    matrix[row, vocabulary[word]] = 1 + math.log(count)
        return unit(matrix * rarity.astype(np.float32))

    projection = main_directions(weigh(counts), DIMENSIONS)

    def embed(given: Sequence[str]) -> np.ndarray:
        return unit(weigh([Counter(words(text)) for text in given]) @ projection)

    return embed


def main_directions(matrix: np.ndarray, count: int) -> np.ndarray:
    """The leading right singular vectors, by subspace iteration from a seeded start."""
    count = min(count, *matrix.shape)
    start = np.random.default_rng(0).standard_normal((matrix.shape[1], count))
    basis = start.astype(np.float32)
    for _ in range(2):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    _, _, turned = np.linalg.svd(matrix @ basis, full_matrices=False)
    return basis @ turned.T


def sentence_vectors(model: str) -> Callable[[Sequence[str]], np.ndarray]:
    """Vectors of a sentence-transformers model that the user names and has installed."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise SystemExit(
            "The option --model needs sentence-transformers: pip install sentence-transformers"
        ) from None
    encoder = SentenceTransformer(model)
    return lambda texts: unit(np.asarray(encoder.encode(list(texts)), dtype=np.float32))


def unit(matrix: np.ndarray) -> np.ndarray:
    """Rows of length 1, so that an inner product is a cosine."""
    length = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.ascontiguousarray(matrix / np.maximum(length, 1e-12), dtype=np.float32)
