"""A store that does not answer: 503 everywhere, never 400, and never where the store is."""

import re

import pytest

import calipers
from calipers.store import open as store_open
from calipers.web import sources
from tests.store.judged import BM25, pool
from tests.web.conftest import fill
from tests.web.outage import MovedFile, Relay
from tests.web.served import served, shelf_of

SECRETS = re.compile(r"history\.db|own\.db|127\.0\.0\.1|postgres|psycopg|sqlite|port \d", re.I)


@pytest.fixture(params=["sqlite", "postgresql"])
def taken(request, tmp_path, monkeypatch):
    """A server whose store can be taken away, an evaluation and a pool."""
    monkeypatch.setattr(store_open, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(sources, "LOCKED_FOR", 0.2)
    outage: MovedFile | Relay
    if request.param == "sqlite":
        outage = MovedFile(str(tmp_path / "history.db"))
    else:
        outage = Relay(request.getfixturevalue("server").new_database())
    ids = fill(outage.store)
    number = pool(outage.store, judges=("anna", "ben"), metric="recall@2").content.number
    with served(shelf_of(outage.store, "anna", "ben", owner="anna")) as running:
        running.pool, running.store = number, outage.store
        running.outage, running.ids = outage, ids
        yield running
    if isinstance(outage, Relay):
        outage.close()


def test_what_cannot_be_reached_is_503_and_says_nothing_of_where(taken):
    anna = taken.visitor("anna")
    one, other = taken.ids["bm25"], taken.ids["dense"]
    api = f"/api/v1/pools/{taken.pool}"
    paths = [
        "/",
        "/pools",
        f"/evaluations/{one}",
        f"/evaluations/{other}/truth",
        f"/compare?of={one}&of={other}",
        f"/pools/{taken.pool}/judge",
        f"/pools/{taken.pool}",
        f"{api}/list",
        f"{api}/export",
    ]
    label = {"request": "first-label", "item": 0, "grade": 3}
    for turn in range(3):
        with taken.outage.away():
            for path in paths if turn == 0 else paths[:3]:
                answer = anna.get(path)
                assert answer.status == 503, (path, answer.text[:300])
                assert int(answer.headers["retry-after"]) > 0
                assert not SECRETS.search(answer.text), (path, SECRETS.search(answer.text))
            refused = anna.post(f"{api}/labels", label)
            assert refused.status == 503
            assert not SECRETS.search(refused.text)
    # The same label again: it is there once, and everything works as before.
    for _ in range(2):
        assert anna.post(f"{api}/labels", label).status == 200
    assert calipers.labels_list(taken.store).pools[0].entries == 1
    assert [path for path in paths if anna.get(path).status != 200] == []
    # What is wrong in itself stays 400, and names no place either.
    assert anna.post(f"{api}/labels", {**label, "request": "w" * 8, "grade": 7}).status == 400
    for path in ("/evaluations/nothing", "/api/v1/pools/77/list"):
        answer = anna.get(path)
        assert answer.status == 400
        assert not SECRETS.search(answer.text), answer.text


def test_a_name_is_compared_as_it_stands_after_the_last_save(tmp_path):
    store = str(tmp_path / "own.db")
    fill(store)
    with served(shelf_of(store)) as running:
        me = running.visitor()
        before = me.get("/compare?of=bm25&of=dense").text
        fill(store, dense=BM25)
        assert me.get("/compare?of=bm25&of=dense").text != before
