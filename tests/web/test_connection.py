"""Connections of those who say nothing, say it slowly, or read nothing."""

import socket
import time

import pytest

from calipers.web import app
from calipers.web.sources import WebSources
from tests.web.served import served


@pytest.fixture(scope="module")
def hasty(tmp_path_factory):
    """A server with little patience."""
    before, app.PATIENCE = app.PATIENCE, 0.4
    with served(WebSources(str(tmp_path_factory.mktemp("hasty") / "no.db"))) as running:
        yield running
    app.PATIENCE = before


def is_hung_up(link, within=3.0):
    """Whether the other side ends it, and how many seconds that took."""
    link.settimeout(within)
    began = time.monotonic()
    try:
        while link.recv(1000):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return time.monotonic() - began < within


HEAD = "POST /api/v1/pools HTTP/1.1\r\nHost: {host}\r\n"
BEGUN = [
    "",
    "GET / HT",
    HEAD,
    HEAD + "Origin: http://{host}\r\nContent-Type: application/json\r\nCookie: {cookie}\r\n"
    "Content-Length: 50\r\n\r\n{{",
]


@pytest.mark.parametrize("begun", BEGUN)
def test_a_request_that_does_not_go_on_is_given_up(hasty, begun):
    with socket.create_connection(("127.0.0.1", hasty.listening.port)) as link:
        link.sendall(begun.format(host=hasty.host, cookie=hasty_cookie(hasty)).encode())
        assert is_hung_up(link)


def hasty_cookie(hasty):
    visitor = hasty.stranger()
    visitor.enter(f"/enter?token={hasty.doors.invite('me')}")
    return visitor.cookie


def test_a_byte_now_and_then_buys_no_time(hasty):
    with socket.create_connection(("127.0.0.1", hasty.listening.port)) as link:
        sent = 0
        try:
            for sent in range(40):  # noqa: B007 - how far it came is what is looked at
                link.sendall(b"G")
                time.sleep(0.05)
        except OSError:
            pass
        assert sent < 30


def test_a_head_that_is_too_large_is_refused(hasty):
    with socket.create_connection(("127.0.0.1", hasty.listening.port)) as link:
        link.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (app.LARGEST_HEAD + 10))
        assert b" 400 " in link.recv(200)


def test_who_comes_when_all_connections_are_taken_is_told_to_try_again(tmp_path, monkeypatch):
    monkeypatch.setitem(app.LIMITS, "limit_concurrency", 3)
    with served(WebSources(str(tmp_path / "no.db"))) as running:
        port = running.listening.port
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for _ in range(50):
            if running.stranger().get("/assets/web.css").status == 503:
                break
        else:
            pytest.fail("a fourth connection was answered")
        for one in held:
            one.close()
        for _ in range(50):
            if running.stranger().get("/assets/web.css").status == 200:
                break
        else:
            pytest.fail("nobody was answered after the others had gone")
