"""How much of exact search an approximate index finds, and what it gains in speed."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.model.result import HasRows, Plain
from calipers.model.run import Run


@dataclass(frozen=True, repr=False)
class IndexRecall(Plain, HasRows):
    """The recall of one index at one cut-off, against exact search."""

    shown_by: ClassVar[str] = "calipers.questions.index_recall.show"
    dict_keys: ClassVar[str] = (
        "name k recall worst perfect queries queries_per_second speedup per_query"
    )

    name: str
    k: int
    recall: float
    """Mean share of the exact first k that are among the first k of the index."""
    worst: float
    """The lowest share of any query."""
    perfect: float
    """Share of the queries for which nothing is missing."""
    queries: int
    per_query: tuple[float, ...] = field(repr=False)
    queries_per_second: float | None = None
    speedup: float | None = None
    """How many times faster than exact search, where both were timed."""


class IndexRecalls(HasRows, list[IndexRecall]):
    """Several of them, sorted as given."""

    shown_by: ClassVar[str] = "calipers.questions.index_recall.show"


@dataclass(frozen=True)
class _Found:
    """Neighbours by query, and how long they took where that was measured."""

    lists: Mapping[str, Sequence[Any]]
    scores: Mapping[str, Sequence[float]] | None = None
    """Scores or distances of the same neighbours, where they are known."""
    seconds: float | None = None


def recall_of_index(
    exact: Any, approximate: Any, k: int | Sequence[int], *, queries: Any, name: str
) -> IndexRecall | IndexRecalls:
    """The recall of one index, or of several by name, at one cut-off or several.

    One index and one k give one result; several give a list, sorted as given. A function is
    timed: its speed is part of the result.
    """
    cutoffs = _cutoffs(k)
    deepest = max(cutoffs)
    truth = _find(exact, queries, deepest, "exact")
    if not truth.lists:
        raise InvalidInput("exact holds no query, so nothing can be said of an index; give some.")
    several = _is_named(approximate)
    named = dict(approximate) if several else {name: approximate}
    results = [
        _measure(truth, found, one, str(label))
        for label, value in named.items()
        for found in [_find(value, queries, deepest, str(label))]
        for one in cutoffs
    ]
    if several or not isinstance(k, int | np.integer):
        return IndexRecalls(results)
    return results[0]


def _measure(truth: _Found, found: _Found, k: int, name: str) -> IndexRecall:
    missing = [query for query in truth.lists if query not in found.lists]
    if missing:
        raise InvalidInput(
            f"{name} has no neighbours for query {missing[0]!r:.60} ({len(missing)} of "
            f"{len(truth.lists)} are missing); search the same queries on both sides."
        )
    shares = []
    for query, wanted in truth.lists.items():
        try:
            share = share_found(
                wanted,
                found.lists[query],
                k,
                truth.scores[query] if truth.scores else None,
                found.scores[query] if found.scores else None,
            )
        except InvalidInput as error:
            raise InvalidInput(
                f"Query {query!r:.60} of {name} cannot be measured: {error}"
            ) from None
        shares.append(share)
    speed = len(shares) / found.seconds if found.seconds else None
    return IndexRecall(
        name,
        k,
        sum(shares) / len(shares),
        min(shares),
        sum(share == 1 for share in shares) / len(shares),
        len(shares),
        tuple(shares),
        speed,
        truth.seconds / found.seconds if truth.seconds and found.seconds else None,
    )


def _find(value: Any, queries: Any, k: int, name: str) -> _Found:
    if not callable(value):
        return _Found(*_lists(value, name))
    if queries is None:
        raise InvalidInput(
            f"{name} is a function, and there is nothing to ask it; give queries=, the vectors "
            "to search for."
        )
    try:
        first = queries[:1]
    except (TypeError, LookupError):
        raise InvalidInput(
            f"The queries are {queries!r:.60}; a function is asked for a list or an array of "
            "vectors, one for each query."
        ) from None
    search: Callable[[Any, int], Any] = value
    search(first, k)  # the first call may load or build something
    begun = time.perf_counter()
    found = search(queries, k)
    seconds = time.perf_counter() - begun
    return _Found(*_lists(found, name), seconds)


Lists = tuple[Mapping[str, Sequence[Any]], Mapping[str, Sequence[float]] | None]
"""Ids by query, and their scores where they are known."""


def _lists(value: Any, name: str) -> Lists:
    if isinstance(value, Run):
        return _of_run(value, name)
    if isinstance(value, Mapping):
        for query, ids in value.items():
            if isinstance(ids, str | set | frozenset) or not hasattr(ids, "__iter__"):
                raise InvalidInput(
                    f"{name} has {ids!r:.60} as the neighbours of query {query!r:.60}; they are a "
                    "list of ids, the nearest first."
                )
        return {str(query): list(ids) for query, ids in value.items()}, None
    ids, scores = (
        (value.ids, getattr(value, "scores", None)) if hasattr(value, "ids") else (value, None)
    )
    if isinstance(ids, tuple) and len(ids) == 2 and _depth(ids[0]) == 2:
        scores, ids = ids
    rows, near = _plain(ids), None if scores is None else _plain(scores)
    if _depth(rows) != 2:
        raise InvalidInput(
            f"{name} is a {type(value).__name__}; give a table of ids with one row per query, a "
            "mapping of query to ids, a run, or a function of (queries, k)."
        )
    # FAISS fills up with -1 where it finds fewer than k: that is no neighbour.
    lists = {str(n): [one for one in row if one != -1] for n, row in enumerate(rows)}
    if near is None:
        return lists, None
    if _depth(near) != 2 or [*map(len, rows)] != [*map(len, near)]:
        raise InvalidInput(f"The scores of {name} do not fit its ids; give one for each of them.")
    return lists, {
        str(n): [score for one, score in zip(row, given, strict=True) if one != -1]
        for n, (row, given) in enumerate(zip(rows, near, strict=True))
    }


def _plain(table: Any) -> Any:
    return table.tolist() if hasattr(table, "tolist") else table


def _of_run(run: Run, name: str) -> Lists:
    table = run.frame
    if "item" not in table.columns:
        raise InvalidInput(f"{name} is a run without ids; its results cannot be compared by id.")
    scored = "score" in table.columns and table["score"].null_count() == 0
    lists = table.group_by("query", maintain_order=True).agg("item", *(["score"] if scored else []))
    named = lists["query"].to_list()
    scores = dict(zip(named, lists["score"].to_list(), strict=True)) if scored else None
    return dict(zip(named, lists["item"].to_list(), strict=True)), scores


def _depth(value: Any) -> int:
    if hasattr(value, "ndim"):
        return int(value.ndim)
    if not isinstance(value, list | tuple):
        return 0
    return 1 + (_depth(value[0]) if value else 1)


def _is_named(value: Any) -> bool:
    """Whether a mapping holds indexes by name, and not ids by query."""
    if not isinstance(value, Mapping) or not value:
        return False
    return all(
        callable(one)
        or isinstance(one, Run | Mapping)
        or hasattr(one, "ids")
        or _depth(one) == 2
        or (isinstance(one, tuple) and len(one) == 2 and _depth(one[0]) == 2)
        for one in value.values()
    )


def _cutoffs(k: Any) -> list[int]:
    listed: list[Any] = list(k) if isinstance(k, list | tuple) else [k]
    for one in listed:
        if isinstance(one, bool) or not isinstance(one, int | np.integer) or one < 1:
            raise InvalidInput(
                f"k is {k!r}; it must be a whole number of at least 1, or a list of such numbers."
            )
    if not listed:
        raise InvalidInput("k is an empty list; give at least one cut-off.")
    return [int(one) for one in listed]


CLOSE = 1e-6
"""Scores nearer than this, as a share of their size, are the same score: float32 rounds so."""


def share_found(
    exact: Sequence[Hashable],
    found: Sequence[Hashable],
    k: int,
    exact_scores: ArrayLike | None = None,
    found_scores: ArrayLike | None = None,
) -> float:
    """Of the first k exact neighbours of one query, the share among the first k found.

    Scores (or distances: only their being equal matters) may come with either side. What lies
    as far away as the last of the exact k is as good as it: such ids fill the places that its
    equals take, whichever of them exact search happened to list first.

    >>> share_found([1, 2, 3], [1, 3, 9], k=2)
    0.5
    >>> share_found([1, 2, 3], [1, 3, 9], k=2, exact_scores=[0.9, 0.7, 0.7])
    1.0
    """
    wanted = list(exact)
    if len(wanted) < k:
        raise InvalidInput(
            f"exact search lists {len(wanted)} neighbours, and the recall at k = {k} needs {k}; "
            f"search for {k} or more, or ask for a k up to {len(wanted)}."
        )
    if len(set(wanted)) < len(wanted):
        raise InvalidInput("exact search lists an id twice; each neighbour counts once.")
    first, got = set(wanted[:k]), list(dict.fromkeys(list(found)[:k]))
    if exact_scores is None:
        return len(first.intersection(got)) / k
    scores = _scores(exact_scores, len(wanted), "exact")
    last = scores[k - 1]
    tied = {one for one, score in zip(wanted, scores, strict=True) if _same(score, last)}
    nearer = first - tied
    if found_scores is not None:
        own = _scores(found_scores, len(found), "found")
        known = set(wanted)
        tied |= {
            one
            for one, score in zip(found, own, strict=True)
            if one not in known and _same(score, last)
        }
    places = k - len(nearer)
    hits = len(nearer.intersection(got)) + min(places, len(tied.intersection(got)))
    return hits / k


def _scores(values: ArrayLike, n: int, side: str) -> list[float]:
    scores = np.asarray(values, dtype=np.float64).ravel()
    if len(scores) != n:
        raise InvalidInput(
            f"The {side} scores do not fit: found {len(scores)} for {n} ids; give one for each."
        )
    return [float(score) for score in scores]


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= CLOSE * max(abs(one), abs(other))
