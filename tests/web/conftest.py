"""A server with a small history, a given file and a pool, shared by the tests that only read."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

import calipers
from tests.store.judged import BM25, DENSE, TRUTH, pool
from tests.store.servers import place, server
from tests.systems import keep
from tests.web.served import served, shelf_of

__all__ = ["place", "server"]


def fill(store: str, dense: list[dict[str, Any]] = DENSE) -> dict[str, str]:
    """Three evaluations, two of one name; their ids by name."""
    ids = {}
    for name, run in (("bm25", BM25), ("dense", dense), ("bm25", BM25)):
        pair = calipers.read(ground_truth=TRUTH, run=run)
        ids[name] = keep(pair, name, store, "recall@2,3,ndcg@2,3", tags={"model": "e5"}).id
    return ids


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("web") / "history.db")
    ids = fill(store)
    desk = pool(store, metric="recall@2", guidelines="Be kind.")
    return store, ids, desk.content.number


@pytest.fixture(scope="session")
def site(filled):
    store, _, _ = filled
    given: dict[str, Any] = {"evals": calipers.read(ground_truth=TRUTH, run=BM25)}
    with served(shelf_of(store, "anna", "ben", **given)) as running:
        yield running


@pytest.fixture(scope="session")
def me(site):
    return site.visitor("me")


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    store = str(tmp_path_factory.mktemp("shared") / "own.db")
    with served(shelf_of(store, "anna", "ben")) as running:
        running.store = store
        yield running


NAMES = (f"own-{n}" for n in count())


@pytest.fixture
def own(shared):
    """A pool of the test's own on a shared server, with a link for each."""
    desk = pool(shared.store, next(NAMES), metric="recall@2")
    links = {one: shared.listening.address.link(shared.doors.invite(one)) for one in shared.links}
    return replace(shared, links=links, pool=desk.content.number, desk=desk)
