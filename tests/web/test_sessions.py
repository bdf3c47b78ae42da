"""Starting the server again signs nobody out; whoever was signed out stays so."""

import pytest

from calipers.errors import StoreAway
from calipers.store.open import open_store
from calipers.store.schema import SESSION
from calipers.store.sessions import SessionKeeper
from calipers.web.guard import Address
from calipers.web.login import LIFETIME, Doors
from calipers.web.sources import WebShelf
from calipers.web.start import doors_of
from tests.store.judged import pool
from tests.web.served import FORM, served


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("sessions") / "history.db")
    pool(path, judges=("me", "anna"))
    return path


def test_a_restart_signs_nobody_out_who_did_not_sign_out(store):
    shelf = WebShelf(store, {}, ("anna", "ben", "carl"), lead="lea")
    with served(shelf) as first:
        anna, ben, carl, lea = (first.visitor(one) for one in ("anna", "ben", "carl", "lea"))
        assert ben.ask("POST", "/leave", b"", Content_Type=FORM).status == 303
        assert lea.post("/api/v1/people", {"name": "carl", "out": True}).status == 200
        assert lea.post("/api/v1/people", {"name": "anna", "role": "lead"}).status == 201
        port = first.listening.port
    with open_store(store).reading() as connection:
        kept = connection.execute(SESSION.select()).all()
    assert sorted((one.name, one.role) for one in kept) == [("anna", "lead"), ("lea", "lead")]
    cookies = {one.cookie.partition("=")[2] for one in (anna, ben, carl, lea)}
    assert not cookies & {one.digest for one in kept}
    with served(WebShelf(store, {}, ("ben",), lead="lea"), port) as second:
        assert {one.host for one in (anna, lea)} == {second.host}
        assert [one.get("/").status for one in (anna, ben, carl, lea)] == [200, 401, 401, 200]
        assert anna.get("/team").status == 200
        others = second.visitor("ben")
        # A judge who asks for it signs out alone.
        assert others.ask("POST", "/leave", b"everybody=1", Content_Type=FORM).status == 303
        assert [anna.get("/").status, others.get("/").status] == [200, 401]
        answer = lea.ask("POST", "/leave", b"everybody=1", Content_Type=FORM)
        assert (answer.status, answer.headers["location"]) == (303, "/team")
        assert [anna.get("/").status, lea.get("/").status] == [401, 200]


def test_a_session_of_another_address_or_of_last_week_is_none(store):
    shelf = WebShelf(store, {}, ("anna",), lead="lea")
    here, there = Address("http", "127.0.0.1:1"), Address("http", "127.0.0.1:2")
    doors = doors_of(shelf, here)
    cookie = doors.enter(doors.invite("anna"))
    assert doors_of(shelf, here).who(cookie).name == "anna"
    assert doors_of(shelf, there).who(cookie) is None
    late = doors._clock() + LIFETIME + 1
    assert Doors(["anna"], clock=lambda: late, keeper=doors._keeper).who(cookie) is None
    assert doors._keeper.all(0) == []


def test_a_store_that_is_away_keeps_nobody_out_and_forgets_no_removal(store, monkeypatch):
    shelf = WebShelf(store, {}, ("anna",), lead="lea")
    doors = doors_of(shelf, Address("http", "127.0.0.1:3"))

    def away(*given, **more):
        raise StoreAway("The store does not answer.")

    monkeypatch.setattr(SessionKeeper, "_write", away)
    assert doors.who(doors.enter(doors.invite("anna"))).name == "anna"
    with pytest.raises(StoreAway):
        doors.shut_out("anna")
    assert doors.people()[1].browsers == 1
