"""Exact nearest neighbours, to compare an approximate index with.

The answer is the same with and without FAISS: FAISS only proposes candidates, and where its
proposal is not beyond doubt, numpy goes through all vectors.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calipers.errors import InvalidInput, check_number
from calipers.model.arrays import Ints
from calipers.model.result import HasRows

Floats = NDArray[np.float64]

DISTANCES = ("cosine", "dot", "euclidean")
ENGINES = ("auto", "numpy", "faiss")
BLOCK_CELLS = 1 << 22
"""Scores held at once: 32 MB in float64."""
SPARE = 32
"""Candidates beyond k that FAISS proposes, so that rounding cannot push a neighbour out."""


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours(HasRows):
    """The k nearest vectors of each query, best first; equal scores stand in order of number."""

    shown_by: ClassVar[str] = "calipers.questions.index_recall.show"

    ids: Ints
    """One row per query: row numbers among the vectors."""
    scores: NDArray[np.float32]
    """Cosine or dot product; for euclidean the negative distance, so that higher is nearer."""


def exact_neighbours(
    vectors: ArrayLike, queries: ArrayLike, k: int, *, metric: str = "cosine", engine: str = "auto"
) -> Neighbours:
    """The k nearest vectors of each query, by comparing with every one of them.

    >>> exact_neighbours([[1, 0], [0, 1], [1, 1]], [[1, 0.1]], k=2).ids.tolist()
    [[0, 2]]
    """
    base, asked = _matrix(vectors, "vectors"), _matrix(queries, "queries")
    _check(base, asked, k, metric, engine)
    k = min(k, len(base))
    if metric == "cosine":
        base, asked = _unit(base), _unit(asked)
    faiss = None if engine == "numpy" else _faiss(engine)
    if faiss is not None:
        return _with_faiss(faiss, base, asked, k, metric)
    return _with_numpy(base, asked, k, metric)


def _matrix(values: ArrayLike, name: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(values)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"The {name} are not a table of numbers; give an array with one row per vector."
        ) from None
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise InvalidInput(
            f"The {name} have the shape {matrix.shape}; give an array with one row per vector."
        )
    bad = ~np.isfinite(matrix).all(axis=1)
    if bad.any():
        raise InvalidInput(
            f"Row {int(np.argmax(bad))} of the {name} holds a number that is not finite."
        )
    return matrix


def _check(base: NDArray[Any], asked: NDArray[Any], k: int, metric: str, engine: str) -> None:
    if base.shape[1] != asked.shape[1]:
        raise InvalidInput(
            f"The vectors have {base.shape[1]} dimensions and the queries {asked.shape[1]}; "
            "embed both with the same model."
        )
    if not len(base):
        raise InvalidInput("There are no vectors to search in; give at least one.")
    check_number("k", k, whole=True, least=1)
    for name, value, allowed in (("metric", metric, DISTANCES), ("engine", engine, ENGINES)):
        if value not in allowed:
            raise InvalidInput(f"The {name} is {value!r}; it can be {', '.join(allowed)}.")


def _unit(matrix: NDArray[Any]) -> NDArray[Any]:
    length = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))[:, None]
    return matrix / np.where(length == 0, 1.0, length)


def _scores(base: NDArray[Any], asked: NDArray[Any], metric: str) -> Floats:
    """Every query against every vector of a block, in double precision."""
    products: Floats = asked.astype(np.float64) @ base.astype(np.float64).T
    if metric == "cosine":
        # At a right angle, what the products leave over is rounding, of either sign.
        products[np.abs(products) < 1e-12] = 0
    if metric != "euclidean":
        return products
    squares = np.einsum("ij,ij->i", base, base, dtype=np.float64)
    own = np.einsum("ij,ij->i", asked, asked, dtype=np.float64)[:, None]
    gap = own + squares - 2 * products
    # What is left when equal vectors cancel out is rounding, and differs from block to block.
    gap[gap < 1e-12 * (own + squares)] = 0
    distance: Floats = -np.sqrt(gap)
    return distance


def _with_numpy(base: NDArray[Any], asked: NDArray[Any], k: int, metric: str) -> Neighbours:
    height = max(1, min(len(asked), 256))
    width = max(k, BLOCK_CELLS // height)
    ids = np.empty((len(asked), k), dtype=np.int64)
    scores = np.empty((len(asked), k), dtype=np.float32)
    for top in range(0, len(asked), height):
        rows = slice(top, top + height)
        block = asked[rows]
        best_ids = np.empty((len(block), 0), dtype=np.int64)
        best = np.empty((len(block), 0), dtype=np.float32)
        for left in range(0, len(base), width):
            # Rounded, so that equal vectors have equal scores whatever block they fall into.
            found = _scores(base[left : left + width], block, metric).astype(np.float32)
            numbers = np.broadcast_to(np.arange(left, left + found.shape[1]), found.shape)
            best_ids, best = _first(np.hstack([best_ids, numbers]), np.hstack([best, found]), k)
        ids[rows], scores[rows] = best_ids, best
    return Neighbours(ids, scores)


def _first(ids: Ints, scores: NDArray[np.float32], k: int) -> tuple[Ints, NDArray[np.float32]]:
    """The k best of each row, the lower number first among equals; ids rise among equals."""
    if scores.shape[1] > k:
        places = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        last = np.take_along_axis(scores, places, axis=1).min(axis=1)
        crowded = np.flatnonzero((scores >= last[:, None]).sum(axis=1) > k)
        for row in crowded:
            # More than k reach the last place: the partition took any of them, we take the first.
            reach = np.flatnonzero(scores[row] >= last[row])
            order = np.lexsort((ids[row, reach], -scores[row, reach]))
            places[row] = reach[order[:k]]
        ids = np.take_along_axis(ids, places, axis=1)
        scores = np.take_along_axis(scores, places, axis=1)
    order = np.lexsort((ids, -scores), axis=1)
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _faiss(engine: str) -> Any:
    try:
        import faiss
    except ImportError:
        if engine == "faiss":
            from calipers.errors import MissingExtra

            raise MissingExtra(
                "FAISS is not installed, and engine='faiss' needs it: pip install faiss-cpu"
            ) from None
        return None
    return faiss


def _with_faiss(
    faiss: Any, base: NDArray[Any], asked: NDArray[Any], k: int, metric: str
) -> Neighbours:
    wide = min(len(base), k + SPARE)
    kind = faiss.IndexFlatL2 if metric == "euclidean" else faiss.IndexFlatIP
    index = kind(base.shape[1])
    index.add(np.ascontiguousarray(base, dtype=np.float32))
    _, proposed = index.search(np.ascontiguousarray(asked, dtype=np.float32), wide)
    ids = np.empty((len(asked), k), dtype=np.int64)
    scores = np.empty((len(asked), k), dtype=np.float32)
    doubtful = []
    for row, places in enumerate(proposed):
        places = np.sort(places[places >= 0])
        found = _scores(base[places], asked[row : row + 1], metric).astype(np.float32)
        best_ids, best = _first(places[None, :], found, min(k, len(places)))
        # Within rounding of the last one proposed, somebody may stand outside.
        margin = 1e-4 * max(1.0, float(np.abs(found).max()))
        if len(places) < k or (wide < len(base) and best[0, -1] - found.min() <= margin):
            doubtful.append(row)
            continue
        ids[row], scores[row] = best_ids[0], best[0]
    if doubtful:
        exact = _with_numpy(base, asked[doubtful], k, metric)
        ids[doubtful], scores[doubtful] = exact.ids, exact.scores
    return Neighbours(ids, scores)
