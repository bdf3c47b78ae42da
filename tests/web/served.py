"""A real server in this process, on a port of its own, and somebody who asks it."""

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import uvicorn

from calipers.store.pool import PoolSettings
from calipers.web.app import Listening, config, doors_of, listen, make_app
from calipers.web.guard import Doors
from calipers.web.sources import WebSources

FORM = "application/x-www-form-urlencoded"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Visitor:
    """A browser as far as headers go: it says where it is from, and keeps one cookie."""

    host: str
    cookie: str | None = None
    behind: int | None = None
    """The port that is asked, where the address has another."""

    @property
    def port(self) -> int:
        return self.behind or int(self.host.partition(":")[2])

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: Any) -> Answer:
        """One request; a header of None is left out."""
        sent: dict[str, Any] = {"Host": self.host, "Sec-Fetch-Site": "same-origin"}
        if self.cookie:
            sent["Cookie"] = self.cookie
        if method == "POST":
            sent |= {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in sent.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "Content-Length" not in sent:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders()
        if body:
            connection.send(body)
        got = connection.getresponse()
        answer = Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        connection.close()
        return answer

    def get(self, path: str, **headers: Any) -> Answer:
        """What a page shows in the end: while it is being made, its script asks again."""
        answer = self.ask("GET", path, None, **headers)
        while answer.status == 202:
            time.sleep(0.05)  # asked at once again, the tests would take the time of the page
            answer = self.ask("GET", path, None, **headers)
        return answer

    def post(self, path: str, value: Any, **headers: Any) -> Answer:
        return self.ask("POST", path, json.dumps(value).encode(), **headers)

    def enter(self, link: str) -> Answer:
        """Open a link: on this machine it lets in by itself."""
        answer = self.get(re.sub(r"^http://[^/]+", "", link))
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer


@dataclass
class Served:
    listening: Listening
    doors: Doors
    links: dict[str, str]
    pool: int = 0
    store: str = ""
    # What a fixture puts there for its tests.
    ids: Any = field(default_factory=dict)
    people: dict[str, Visitor] = field(default_factory=dict)
    desk: Any = None
    outage: Any = None

    @property
    def host(self) -> str:
        return self.listening.address.host

    def stranger(self) -> Visitor:
        return Visitor(self.host, behind=self.listening.port)

    def visitor(self, judge: str = "me") -> Visitor:
        one = self.stranger()
        assert one.enter(self.links[judge]).status == 200
        return one


def shelf_of(store: str | None, *judges: str, owner: str = "me", **given: Any) -> WebSources:
    """What is served of a store, and of evaluations that are given, to the owner and judges."""
    return WebSources(store, given, PoolSettings(judges=judges or (owner,)), owner)


@contextmanager
def served(
    shelf: WebSources, port: int = 0, listening: Listening | None = None
) -> Iterator[Served]:
    """The server, as long as the block."""
    listening = listening or listen(port=port)
    doors = doors_of(shelf, listening.address)
    server = uvicorn.Server(config(make_app(shelf, listening.address, doors), "error"))
    # As on the command line: what the command set is set for the server.
    run = partial(copy_context().run, server.run, sockets=[listening.socket])
    thread = threading.Thread(target=run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        invited = {one: listening.address.link(doors.invite(one)) for one in doors.names}
        yield Served(listening, doors, invited)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.socket.close()
