"""How much of exact search an approximate index finds, and what it gains in speed."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calipers.errors import InvalidInput
from calipers.model.index_recall import IndexRecall
from calipers.model.run import Run


@dataclass(frozen=True)
class _Found:
    """Neighbours by query, and how long they took where that was measured."""

    lists: Mapping[str, Sequence[Any]]
    seconds: float | None = None


def recall_of_index(
    exact: Any, approximate: Any, k: int | Sequence[int], *, queries: Any, name: str
) -> IndexRecall | list[IndexRecall]:
    """The recall of one index, or of several by name, at one cut-off or several.

    One index and one k give one result; several give a list, sorted as given. A function is
    timed: its speed is part of the result.
    """
    cutoffs = _cutoffs(k)
    deepest = max(cutoffs)
    truth = _find(exact, queries, deepest, "exact")
    several = _is_named(approximate)
    named = dict(approximate) if several else {name: approximate}
    results = [
        _measure(truth, found, one, str(label))
        for label, value in named.items()
        for found in [_find(value, queries, deepest, str(label))]
        for one in cutoffs
    ]
    if several or not isinstance(k, int | np.integer):
        return results
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
        first = set(wanted[:k])
        if len(first) < min(k, len(wanted)):
            raise InvalidInput(
                f"exact search lists an id twice for query {query!r:.60}; each neighbour counts "
                "once."
            )
        if not first:
            raise InvalidInput(f"exact search found nothing for query {query!r:.60}.")
        shares.append(len(first.intersection(found.lists[query][:k])) / len(first))
    speed = len(shares) / found.seconds if found.seconds else None
    return IndexRecall(
        name, k, sum(shares) / len(shares), min(shares),
        sum(share == 1 for share in shares) / len(shares), len(shares), tuple(shares), speed,
        truth.seconds / found.seconds if truth.seconds and found.seconds else None,
    )  # fmt: skip


def _find(value: Any, queries: Any, k: int, name: str) -> _Found:
    if not callable(value):
        return _Found(_lists(value, name))
    if queries is None:
        raise InvalidInput(
            f"{name} is a function, and there is nothing to ask it; give queries=, the vectors "
            "to search for."
        )
    search: Callable[[Any, int], Any] = value
    search(queries[:1], k)  # the first call may load or build something
    begun = time.perf_counter()
    found = search(queries, k)
    return _Found(_lists(found, name), time.perf_counter() - begun)


def _lists(value: Any, name: str) -> Mapping[str, Sequence[Any]]:
    if isinstance(value, Run):
        table = value.frame
        if "item" not in table.columns:
            raise InvalidInput(
                f"{name} is a run without ids; its results cannot be compared by id."
            )
        lists = table.group_by("query", maintain_order=True).agg("item")
        return dict(zip(lists["query"].to_list(), lists["item"].to_list(), strict=True))
    if isinstance(value, Mapping):
        for query, ids in value.items():
            if isinstance(ids, str | set | frozenset) or not hasattr(ids, "__iter__"):
                raise InvalidInput(
                    f"{name} has {ids!r:.60} as the neighbours of query {query!r:.60}; they are a "
                    "list of ids, the nearest first."
                )
        return {str(query): list(ids) for query, ids in value.items()}
    ids = value.ids if hasattr(value, "ids") else value
    if isinstance(ids, tuple) and len(ids) == 2 and _depth(ids[0]) == 2:
        ids = ids[1]
    rows = ids.tolist() if hasattr(ids, "tolist") else ids
    if _depth(rows) != 2:
        raise InvalidInput(
            f"{name} is a {type(value).__name__}; give a table of ids with one row per query, a "
            "mapping of query to ids, a run, or a function of (queries, k)."
        )
    # FAISS fills up with -1 where it finds fewer than k: that is no neighbour.
    return {str(n): [one for one in row if one != -1] for n, row in enumerate(rows)}


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
        callable(one) or isinstance(one, Run | Mapping) or hasattr(one, "ids") or _depth(one) == 2
        or (isinstance(one, tuple) and len(one) == 2 and _depth(one[0]) == 2)
        for one in value.values()
    )  # fmt: skip


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
