"""Assets are ours, small and in the wheel; connections that say nothing are given up."""

import re
import socket
import time
from pathlib import Path

import pytest

from calipers.web import app
from calipers.web.app import ASSETS
from calipers.web.sources import WebSources
from tests.command import calipers_command
from tests.web.served import served

ROOT = Path(__file__).parents[2]
LARGEST = 150_000


def test_all_assets_together_are_small():
    assert sum(path.stat().st_size for path, _ in ASSETS.values()) < LARGEST


def test_scripts_load_nothing_but_each_other_and_never_make_markup():
    for path, kind in ASSETS.values():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), path
        if kind == "text/javascript":
            assert {one[2:] for one in re.findall(r'from "([^"]+)"', text)} <= set(ASSETS)
            assert not re.search(
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
            )


def test_no_template_writes_unescaped_text_of_others():
    folder = ROOT / "src" / "calipers" / "web" / "templates"
    unescaped = {
        found
        for path in folder.glob("*.j2")
        for found in re.findall(r"{{\s*([^}]*?)\|\s*safe", path.read_text(encoding="utf-8"))
    }
    # Charts and documents, which the library writes and escapes.
    expected = {"body(answer)", 'heading(answer, "h1")', "line", "made", "summary"}
    assert {one.strip() for one in unescaped} == expected


def test_the_example_for_a_team_starts_the_command_with_options_that_it_has():
    composed = (ROOT / "templates" / "serve" / "compose.yaml").read_text(encoding="utf-8")
    options = set(re.findall(r"- (--[a-z]+)=", composed))
    assert len(options) == 5
    told = calipers_command("serve", "--help-all").out
    assert not [one for one in options if one not in told]


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


def test_a_head_that_is_too_large_is_refused(site):
    with socket.create_connection(("127.0.0.1", site.listening.port)) as link:
        link.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * (app.LARGEST_HEAD + 10))
        assert b" 400 " in link.recv(200)


def test_who_comes_when_all_connections_are_taken_is_told_to_try_again(tmp_path, monkeypatch):
    monkeypatch.setitem(app.LIMITS, "limit_concurrency", 3)
    with served(WebSources(str(tmp_path / "no.db"))) as running:
        port = running.listening.port
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]

        def is_answered_with(status):
            answers = (running.stranger().get("/assets/web.css").status for _ in range(50))
            return status in answers

        assert is_answered_with(503), "a fourth connection was answered"
        for one in held:
            one.close()
        assert is_answered_with(200), "nobody was answered after the others had gone"
