"""A small pool with known contents."""

from typing import Any

import calipers
from calipers.labels.desk import PoolSession
from calipers.store.label_pools import read_on
from calipers.store.open import open_store
from calipers.store.pool import LogEntry

TEXTS = {f"d{n}": f"Text number {n}. It speaks of the topic {n}. Nothing more." for n in range(12)}


def retrieved(*items: str) -> list[dict[str, Any]]:
    return [{"id": one, "text": TEXTS[one], "score": 10.0 - n} for n, one in enumerate(items)]


def run(*orders: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"id": f"q{n}", "query": f"What is topic {n}?", "retrieved": retrieved(*order)}
        for n, order in enumerate(orders)
    ]


BM25 = run(("d0", "d1", "d2"), ("d3", "d4", "d5"), ("d6", "d7", "d8"), ("d9", "d10", "d11"))
DENSE = run(("d1", "d0", "d3"), ("d5", "d3", "d4"), ("d8", "d7", "d6"), ("d9", "d11", "d0"))
TRUTH: list[dict[str, Any]] = [
    {"id": f"q{n}", "query": f"What is topic {n}?", "ground_truth": [{"id": one, "grade": 2}]}
    for n, one in enumerate(("d0", "d3", "d6", "d9"))
]


def pool(place: str, name: str = "first", **settings: Any) -> PoolSession:
    settings = {"judges": ("anna", "ben"), "per_item": 2, "ground_truth": TRUTH, **settings}
    runs = settings.pop("runs", {"bm25": BM25, "dense": DENSE})
    return calipers.labels_pool(name, runs, store=place, **settings)


def entries(place: str, number: int) -> list[LogEntry]:
    """The whole log of a pool."""
    return read_on(open_store(place), number, 0).entries


def labels(desk: PoolSession) -> list[LogEntry]:
    """Every label that holds."""
    return [one for one, _ in desk.state().held() if one.kind == "label"]
