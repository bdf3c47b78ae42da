"""Starting the server again signs nobody out; whoever was signed out stays so."""

import time

import pytest

from calipers.errors import StoreAway
from calipers.store.open import open_store
from calipers.store.schema import SESSION
from calipers.web.app import doors_of
from calipers.web.guard import LIFETIME, Address, Doors
from tests.store.judged import pool
from tests.web.served import FORM, served, shelf_of


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("sessions") / "history.db")
    pool(path, judges=("me", "anna"))
    return path


def test_a_restart_signs_nobody_out_who_did_not_sign_out(store):
    shelf = shelf_of(store, "anna", "ben", "carl", owner="lea")
    with served(shelf) as first:
        anna, ben, carl, lea = (first.visitor(one) for one in ("anna", "ben", "carl", "lea"))
        assert ben.ask("POST", "/leave", b"", Content_Type=FORM).status == 303
        assert lea.post("/api/v1/people", {"name": "carl", "out": True}).status == 200
        port = first.listening.port
    with open_store(store).reading() as connection:
        kept = connection.execute(SESSION.select()).all()
    assert sorted(one.name for one in kept) == ["anna", "lea"]
    cookies = {one.cookie.partition("=")[2] for one in (anna, ben, carl, lea)}
    assert not cookies & {one.digest for one in kept}
    with served(shelf_of(store, "ben", owner="lea"), port) as second:
        assert {one.host for one in (anna, lea)} == {second.host}
        assert [one.get("/").status for one in (anna, ben, carl, lea)] == [200, 401, 401, 200]
        assert [anna.get("/team").status, lea.get("/team").status] == [403, 200]


def test_a_session_of_another_address_or_of_last_week_is_none(store):
    shelf = shelf_of(store, "anna", owner="lea")
    here, there = Address("http", "127.0.0.1:1"), Address("http", "127.0.0.1:2")
    doors = doors_of(shelf, here)
    cookie = doors.enter(doors.invite("anna"))
    assert doors_of(shelf, here).who(cookie) == "anna"
    assert doors_of(shelf, there).who(cookie) is None
    later = Doors("lea", (), lambda: time.time() + LIFETIME + 1, doors._store, here.origin)
    assert later.who(cookie) is None
    later.enter(later.invite("ben"))  # with whom those that expired go
    with open_store(store).reading() as connection:
        kept = connection.execute(SESSION.select().where(SESSION.c.address == here.origin)).all()
    assert [one.name for one in kept] == ["ben"]


def test_a_store_that_is_away_keeps_nobody_out_and_forgets_no_removal(store, monkeypatch):
    shelf = shelf_of(store, "anna", owner="lea")
    doors = doors_of(shelf, Address("http", "127.0.0.1:3"))

    def away(*given, **more):
        raise StoreAway("The store does not answer.")

    monkeypatch.setattr(doors, "_write", away)
    assert doors.who(doors.enter(doors.invite("anna"))) == "anna"
    with pytest.raises(StoreAway):
        doors.shut_out("anna")
    assert doors.people()[1] == ("anna", 1, False)
