"""The rules of safety, one test for each."""

import hmac
import logging
import re
import time
from typing import Any

import pytest
from starlette.exceptions import HTTPException

from calipers.errors import InvalidInput, StoreAway
from calipers.store.open import open_store
from calipers.store.schema import SESSION
from calipers.web.app import doors_of, listen
from calipers.web.guard import LARGEST_BODY, LIFETIME, TRIES, WITHIN, Address, Doors
from calipers.web.sources import WebSources
from tests.store.judged import entries as log
from tests.store.judged import pool
from tests.web.served import FORM, served, shelf_of


@pytest.fixture(scope="module")
def labelling(tmp_path_factory):
    """Somebody who may label, where labels go, and how many are there."""
    store = str(tmp_path_factory.mktemp("labelling") / "own.db")
    number = pool(store, judges=("me",)).content.number
    with served(shelf_of(store)) as running:
        yield (
            running.visitor(),
            f"/api/v1/pools/{number}/labels",
            lambda: len(log(store, number)),
        )


def test_only_this_machine_is_listened_on_unless_browsers_are_told_an_address():
    with listen(port=0).socket as here:
        assert here.getsockname()[0] == "127.0.0.1"
    with pytest.raises(InvalidInput, match="opens the server to other machines"):
        listen(host="0.0.0.0", port=0)
    with pytest.raises(InvalidInput, match="cannot be read; write it as https://"):
        listen(host="0.0.0.0", port=0, public="judge.example.org/path")
    listening = listen(host="127.0.0.1", port=0, public="https://judge.example.org")
    with listening.socket:
        assert listening.address.origin == "https://judge.example.org"
    for host in ("localhost", "::1"):
        listening = listen(host=host, port=0)
        with listening.socket:
            assert listening.address.is_loopback
            assert listening.address.host.startswith(("localhost:", "[::1]:"))


def test_a_taken_port_is_refused_and_without_one_the_next_free_one_is_taken():
    with listen().socket as first, listen().socket as second:
        port = first.getsockname()[1]
        assert second.getsockname()[1] != port
        with pytest.raises(InvalidInput, match=rf"The port {port} .*; without --port the next"):
            listen(port=port)


def test_a_link_works_once_and_leaves_the_address(site):
    token, visitor = site.doors.invite("ann"), site.stranger()
    entered = visitor.enter(f"/enter?token={token}")
    assert entered.status == 200
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert f"Max-Age={LIFETIME}" in cookie
    assert 'content="0; url=/"' in entered.text
    assert token not in entered.text
    # Who is in goes on, also with a link that is used up.
    assert visitor.enter(f"/enter?token={token}").status == 200
    again = site.stranger().enter(f"/enter?token={token}")
    assert again.status == 403
    assert "set-cookie" not in again.headers


def test_elsewhere_a_preview_or_an_image_does_not_use_a_link_up(tmp_path):
    public = listen(port=0, public="https://judge.example.org")
    with served(shelf_of(str(tmp_path / "no.db")), listening=public) as running:
        visitor = running.stranger()
        headers: dict[str, Any] = {"Host": "judge.example.org"}
        path = running.links["me"].removeprefix("https://judge.example.org")
        for method in ("HEAD", "GET", "GET"):
            looked = visitor.ask(method, path, **headers)
            assert looked.status == 200
            assert "set-cookie" not in looked.headers
        headers |= {"Origin": "https://judge.example.org", "Content-Type": FORM}
        token = path.partition("?")[2].encode()
        pressed = visitor.ask("POST", "/enter", token, **headers)
        assert "Secure" in pressed.headers["set-cookie"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "null"}, 200),
        ({"Origin": "null", "Sec_Fetch_Site": None}, 403),
        ({"Origin": None}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site", "Origin": "null"}, 403),
    ],
)
def test_nobody_is_signed_in_by_a_form_of_another_site(site, headers, status):
    token = f"token={site.doors.invite('bo')}".encode()
    answer = site.stranger().ask("POST", "/enter", token, Content_Type=FORM, **headers)
    assert answer.status == status


def test_who_signs_out_is_out_in_that_browser_alone(site):
    here = site.stranger()
    here.enter(f"/enter?token={site.doors.invite('cy')}")
    there = site.stranger()
    there.enter(f"/enter?token={site.doors.invite('cy')}")
    assert here.ask("POST", "/leave", b"", Content_Type=FORM).status == 303
    assert here.get("/pools").status == 401
    assert there.get("/pools").status == 200


def test_tries_are_limited_for_each_client_and_the_limit_passes(monkeypatch):
    now = [0.0]
    doors = Doors("lea", ["ann"], clock=lambda: now[0])
    token = doors.invite("ann")
    for _ in range(TRIES):
        assert doors.enter("wrong", "6.6.6.6") is None
    with pytest.raises(HTTPException, match="too many wrong links"):
        doors.enter(token, "6.6.6.6")
    assert doors.enter(token, "7.7.7.7")
    now[0] += WITHIN + 1
    assert doors.enter("wrong", "6.6.6.6") is None
    # Those of very many clients are not kept forever.
    monkeypatch.setattr("calipers.web.guard.MOST_CLIENTS", 5)
    for n in range(20):
        doors.enter("wrong", f"10.0.0.{n}")
    assert len(doors._wrong) == 5


def test_the_server_stops_answering_a_client_after_too_many_and_goes_on_with_others(tmp_path):
    with served(WebSources(str(tmp_path / "no.db"))) as running:
        guessing = running.stranger()
        for client in ("6.6.6.6", "7.7.7.7"):
            sent = {"Content_Type": FORM, "X_Forwarded_For": f"1.2.3.4, {client}"}
            for _ in range(TRIES):
                assert guessing.ask("POST", "/enter", b"token=x", **sent).status == 403
            assert guessing.ask("POST", "/enter", b"token=x", **sent).status == 429
        assert running.stranger().enter(running.links["me"]).status == 200


def test_a_cookie_ends_with_its_lifetime():
    now = [0.0]
    doors = Doors("lea", ["ann"], clock=lambda: now[0])
    cookie, unused = doors.enter(doors.invite("ann")), doors.invite("ann")
    assert doors.who(cookie) == "ann"
    assert doors.who(cookie + "x") is None
    now[0] += LIFETIME + 1
    assert doors.who(cookie) is None
    assert doors.enter(unused) is None


def test_secrets_are_compared_in_constant_time_and_kept_as_digests(monkeypatch):
    seen = []
    real = hmac.compare_digest

    def compared(one, other):
        seen.append(one)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compared)
    doors = Doors("lea", ["ann", "ben", "carl"])
    tokens = [doors.invite(one) for one in ("ann", "ben", "carl")]
    doors.enter("wrong")
    assert len(seen) == 3
    assert not {one.encode() for one in tokens} & set(doors._tokens)


READ = "/api/v1/pools/1/item"
"""An answer of the API that anybody who is in may read."""
HOSTS = [
    "evil.example",
    "localhost:{port}",
    "127.0.0.1",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1:1",
    "",
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/pools", "/enter", "/assets/web.css"])
def test_a_foreign_host_is_refused_everywhere(me, site, host, path):
    port = site.host.partition(":")[2]
    assert me.get(path, Host=host.format(port=port)).status in (400, 421)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (403, {"Origin": "http://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "https://{host}"}),
        (403, {"Origin": None}),
        (403, {"Sec_Fetch_Site": "cross-site"}),
        (403, {"Sec_Fetch_Site": "same-site"}),
        (403, {"Sec_Fetch_Site": "none"}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": FORM}),
        (415, {"Content_Type": ""}),
        (415, {"Content_Type": None}),
    ],
)
def test_what_comes_from_another_site_or_is_no_json_changes_nothing(labelling, status, headers):
    visitor, path, entries = labelling
    headers = {k: v and v.format(host=visitor.host) for k, v in headers.items()}
    before = entries()
    label = {"request": f"request-{before}", "item": 0, "grade": 1}
    assert visitor.post(path, label, **headers).status == status
    assert entries() == before
    assert visitor.post(path, label).status == 200
    assert entries() == before + 1


def test_reading_the_api_from_another_site_is_refused_too(me):
    assert me.get(READ, Sec_Fetch_Site="cross-site").status == 403
    assert me.get(READ, Origin="http://evil.example").status == 403
    assert me.get(READ).status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT"])
def test_other_methods_are_refused_and_pages_take_nothing(me, method):
    assert me.ask(method, "/api/v1/pools").status in (400, 405)
    assert me.post("/", {}).status == 405


def test_a_body_that_is_too_large_is_refused_whatever_it_says_of_itself(labelling):
    visitor, path, _ = labelling
    large = b" " * (LARGEST_BODY + 1)
    assert visitor.ask("POST", path, large).status == 413
    assert visitor.ask("POST", path, b"", Content_Length="9" * 15).status == 413
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(large), large)
    answer = visitor.ask("POST", path, chunked, Transfer_Encoding="chunked", Content_Length=None)
    assert answer.status == 413
    assert visitor.get("/" + "x" * 9000).status in (400, 414)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"request": "abcdefgh", "grade": "1"}',
        b"\xff",
        b'{"request": "abcdefgh", "grade": 1, "more": 1}',
        b'{"request": "x", "grade": 1}',
        b'{"request": "abcdefgh", "item": 1.5, "grade": 1}',
        b'{"request": "abcdefgh", "grade": 1, "kind": "drop"}',
        b'{"request": "../../../etc", "grade": 1}',
        b'{"request": "abcdefgh", "grade": 1e400}',
    ],
)
def test_types_are_strict(labelling, body):
    visitor, path, _ = labelling
    answer = visitor.ask("POST", path, body)
    assert answer.status == 400
    assert set(answer.json()) == {"error"}


def test_every_answer_has_the_headers(me, site):
    for answer in (
        me.get("/"),
        me.get(READ),
        me.get("/nowhere"),
        site.stranger().get("/"),
        me.get("/", Host="evil.example"),
        me.get("/assets/judge.js"),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
    assert me.get("/").headers["cache-control"] == "no-store"
    assert me.get(READ).headers["cache-control"] == "no-store"


TRICKS = [
    "/assets/../app.py",
    "/assets/%2e%2e/app.py",
    "/assets/..%2fapp.py",
    "/assets//etc/passwd",
    "/assets/%00",
    "/evaluations/..%2f..%2fetc",
    "/pools/1e3/judge",
    "/pools/-1/judge",
    "/pools/99999/judge",
    "/evaluations/@x",
    "/pools/999999999999999999999/judge",
    "/evaluations/%F0%9F%92%A5",
]


@pytest.mark.parametrize("path", TRICKS)
def test_tricks_with_paths_lead_nowhere(me, path):
    answer = me.get(path)
    assert answer.status in (400, 404), answer.text[:300]
    assert b"import" not in answer.body
    assert b"Traceback" not in answer.body


def test_a_download_has_a_safe_name(tmp_path):
    store = str(tmp_path / "h.db")
    desk = pool(store, "team/größe..2", judges=("me",))
    with served(WebSources(store)) as running:
        answer = running.visitor().get(f"/api/v1/pools/{desk.content.number}/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="team-gr--e--2.jsonl"'


def test_no_secret_and_no_text_reaches_the_log(site, me, caplog):
    with caplog.at_level(logging.INFO):
        visitor = site.stranger()
        visitor.enter("/enter?token=s3cr3t-token")
        visitor.cookie = "calipers=s3cr3t-cookie"
        visitor.get("/?text=s3cr3t-words")
        visitor.get(READ, Origin="http://evil.example/s3cr3t")
        me.get("/", Host="s3cr3t.example")
        me.ask("DELETE", "/api/v1/pools")
        me.post("/api/v1/pools", {"of": ["s3cr3t" * 20_000], "queries": []})
        site.stranger().get(f"{READ}?text=s3cr3t")
        me.get(READ)  # a line is written when its answer is gone already
    refused = ("GET /enter 403", "GET / 421", "DELETE /api/v1/pools 405", "POST /api/v1/pools 413")
    for line in (*refused, f"GET {READ} 401"):
        assert line in caplog.text
    assert "s3cr3t" not in caplog.text


def test_a_line_of_the_log_is_one_line_and_steers_no_terminal(me, caplog):
    with caplog.at_level(logging.INFO):
        me.get("/x%0a12:00:00%20GET%20/forged%20200%1b[31m%e2%80%ae")
        me.get("/pools")
    assert "GET /x\\n12:00:00 GET /forged 200\\x1b[31m\\u202e 404" in caplog.text
    assert not {"\x1b", "\u202e"} & set(caplog.text)
    assert not any("\n" in one.getMessage() for one in caplog.records if one.name == "calipers.web")


def test_a_mistake_of_ours_is_logged_with_its_place_and_without_a_text(
    site, me, caplog, monkeypatch
):
    def broken(self):
        raise ValueError("s3cr3t words of a corpus")

    monkeypatch.setattr(WebSources, "pools", broken)
    with caplog.at_level(logging.INFO):
        answer = me.get("/pools")
        assert answer.status == 500
        assert "s3cr3t" not in answer.text
        me.get("/assets/web.css")  # a line is written when its answer is gone already
    assert "ValueError" in caplog.text
    assert "in broken" in caplog.text
    assert "GET /pools 500" in caplog.text
    assert "s3cr3t" not in caplog.text


def test_a_database_that_cannot_be_reached_keeps_its_password(monkeypatch):
    with served(WebSources("postgresql://ann:s3cr3t@127.0.0.1:9/team")) as running:
        answer = running.visitor().get("/")
    assert answer.status == 503
    assert "does not answer" in answer.text
    assert not re.search("s3cr3t|ann|127.0.0.1|team", answer.text.partition("<main")[2])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("sessions") / "history.db")
    pool(path, judges=("me", "anna"))
    return path


def test_a_restart_signs_nobody_out_who_is_named_and_did_not_sign_out(store):
    shelf = shelf_of(store, "anna", "ben", "carl", owner="lea")
    with served(shelf) as first:
        anna, ben, carl, lea = (first.visitor(one) for one in ("anna", "ben", "carl", "lea"))
        assert ben.ask("POST", "/leave", b"", Content_Type=FORM).status == 303
        port = first.listening.port
    with open_store(store).reading() as connection:
        kept = connection.execute(SESSION.select()).all()
    assert sorted(one.name for one in kept) == ["anna", "carl", "lea"]
    cookies = {one.cookie.partition("=")[2] for one in (anna, ben, carl, lea)}
    assert not cookies & {one.digest for one in kept}
    # Who is not named any more is out.
    with served(shelf_of(store, "anna", "ben", owner="lea"), port) as second:
        assert {one.host for one in (anna, lea)} == {second.host}
        assert [one.get("/").status for one in (anna, ben, carl, lea)] == [200, 401, 401, 200]


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


def test_a_store_that_is_away_keeps_nobody_out(store, monkeypatch):
    doors = doors_of(shelf_of(store, "anna", owner="lea"), Address("http", "127.0.0.1:3"))

    def away(*given, **more):
        raise StoreAway("The store does not answer.")

    monkeypatch.setattr(doors, "_write", away)
    assert doors.who(doors.enter(doors.invite("anna"))) == "anna"
