import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calipers.errors import InvalidInput, MissingExtra
from calipers.questions.index_recall import neighbours
from calipers.questions.index_recall.neighbours import exact_neighbours
from calipers.questions.index_recall.settings import Distance

METRICS: list[Distance] = ["cosine", "dot", "euclidean"]


def naive(vectors: Any, query: Any, k: int, metric: str) -> list[int]:
    """Every vector scored in plain Python, best first, the lower number first among equals."""

    def score(vector: Any) -> float:
        dot = sum(float(a) * float(b) for a, b in zip(vector, query, strict=True))
        if metric == "dot":
            return dot
        if metric == "cosine":
            lengths = [math.hypot(*map(float, one)) or 1.0 for one in (vector, query)]
            return dot / lengths[0] / lengths[1]
        gaps = [float(a) - float(b) for a, b in zip(vector, query, strict=True)]
        return -math.sqrt(sum(gap * gap for gap in gaps))

    scored = [(-round(score(vector), 6), number) for number, vector in enumerate(vectors)]
    return [number for _, number in sorted(scored)][:k]


# Few different values, so that equal vectors and equal scores are common.
small = st.integers(-2, 2).map(float)


@given(st.data(), st.sampled_from(METRICS), st.integers(1, 8))
def test_against_comparing_one_by_one(data: st.DataObject, metric: Distance, k: int) -> None:
    dimensions = data.draw(st.integers(1, 3))
    shape = hnp.array_shapes(min_dims=1, max_dims=1, max_side=20)
    n = data.draw(shape)[0]
    vectors = data.draw(hnp.arrays(np.float64, (n, dimensions), elements=small))
    queries = data.draw(hnp.arrays(np.float64, (3, dimensions), elements=small))
    found = exact_neighbours(vectors, queries, k, metric=metric, engine="numpy")
    expected = [naive(vectors, query, k, metric) for query in queries]
    assert found.ids.tolist() == expected
    assert (np.diff(found.scores, axis=1) <= 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_make_no_difference(metric: Distance, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(500, 8)).round(1).astype(np.float32)
    queries = generator.normal(size=(300, 8)).astype(np.float32)
    whole = exact_neighbours(vectors, queries, 10, metric=metric, engine="numpy")
    monkeypatch.setattr(neighbours, "BLOCK_CELLS", 256 * 16)
    pieces = exact_neighbours(vectors, queries, 10, metric=metric, engine="numpy")
    assert (whole.ids == pieces.ids).all()
    assert (whole.scores == pieces.scores).all()


@pytest.mark.parametrize("metric", METRICS)
def test_faiss_makes_no_difference(metric: Distance) -> None:
    pytest.importorskip("faiss", reason="needs faiss-cpu")
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(2000, 16)).round(1).astype(np.float32)
    vectors[100:200] = vectors[0]
    queries = np.vstack([generator.normal(size=(50, 16)), vectors[:3]]).astype(np.float32)
    slow = exact_neighbours(vectors, queries, 10, metric=metric, engine="numpy")
    fast = exact_neighbours(vectors, queries, 10, metric=metric, engine="faiss")
    assert (slow.ids == fast.ids).all()


def test_faiss_by_name_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(MissingExtra, match="pip install faiss-cpu"):
        exact_neighbours([[1.0]], [[1.0]], 1, engine="faiss")
    assert exact_neighbours([[1.0]], [[1.0]], 1).ids.tolist() == [[0]]


def test_fewer_vectors_than_k() -> None:
    assert exact_neighbours([[1.0], [2.0]], [[1.0]], 5, metric="dot").ids.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("vectors", "queries", "options", "words"),
    [
        ([[1, 2]], [[1, 2, 3]], {}, "2 dimensions and the queries 3"),
        ([1, 2], [[1]], {}, r"shape \(2,\)"),
        ([["a"]], [[1]], {}, "not a table of numbers"),
        ([[1.0], [float("nan")]], [[1]], {}, "Row 1 of the vectors"),
        (np.empty((0, 2)), [[1, 2]], {}, "no vectors"),
        ([[1]], [[1]], {"k": 0}, "k is 0"),
        ([[1]], [[1]], {"metric": "cos"}, "metric is 'cos'"),
        ([[1]], [[1]], {"engine": "gpu"}, "engine is 'gpu'"),
    ],
)
def test_bad_input(vectors: Any, queries: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        exact_neighbours(vectors, queries, **{"k": 1, **options})
