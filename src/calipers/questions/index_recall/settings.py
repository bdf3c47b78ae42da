"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from calipers.operation import operation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from calipers.questions.index_recall.neighbours import Neighbours
    from calipers.questions.index_recall.rule import IndexRecall, IndexRecalls
else:
    ArrayLike = Any

Distance = Literal["cosine", "dot", "euclidean"]
"""What makes two vectors near."""
Engine = Literal["auto", "numpy", "faiss"]
"""What goes through the vectors."""


@operation(page="retrieve")
def exact_neighbours(
    vectors: ArrayLike,
    queries: ArrayLike,
    k: int,
    *,
    metric: Distance = "cosine",
    engine: Engine = "auto",
) -> "Neighbours":
    """The k nearest vectors of each query, by comparing with every one of them.

    ``metric`` is "cosine", "dot" or "euclidean". ``engine`` is "numpy", "faiss", or "auto": FAISS
    where it is installed. The answer is the same with both.

    >>> exact_neighbours([[1, 0], [0, 1], [1, 1]], [[1, 0.1]], k=2).ids.tolist()
    [[0, 2]]
    """
    from calipers.questions.index_recall import neighbours

    return neighbours.exact_neighbours(vectors, queries, k, metric=metric, engine=engine)


@operation(page="retrieve")
def index_recall(
    exact: Any,
    approximate: Any,
    k: int | Sequence[int] = 10,
    *,
    queries: Any = None,
    name: str = "index",
) -> "IndexRecall | IndexRecalls":
    """The recall of an index against exact search, at one k or several.

    Each side is a table of ids with one row per query (a pair of distances and ids, as FAISS
    returns it, will do, and so will the result of ``exact_neighbours``), a mapping of query to
    ids, a run, or a function of (queries, k) that returns one of the first two; a function is
    timed, and then the speed is part of the result. ``approximate`` may also be a mapping of
    name to any of these, to hold several settings of an index side by side.

    One index and one k give one result; several give a list, sorted as given.

    >>> index_recall([[1, 2, 3]], [[1, 3, 9]], k=2).recall
    0.5
    """
    from calipers.questions.index_recall.rule import recall_of_index

    return recall_of_index(exact, approximate, k, queries=queries, name=name)
