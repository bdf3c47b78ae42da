"""A search server on loopback that answers as its questions tell it to.

A question is words; each word in it that names a trouble happens: ``slow``, ``hang``, ``fail``,
``once`` (fails the first time only), ``broken`` (JSON cut off), ``types``, ``few``, ``twice``,
``many``, ``unsorted``, ``reset``, ``drip``, ``busy`` (429 with Retry-After, the first time), ...
Every request is counted, and answers are a function of the question alone.
"""

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import JsonHandler, LoopbackServer, serving

SLOW_SECONDS = 0.05


def answer_to(query: str, k: int) -> list[dict[str, Any]]:
    """What a healthy retriever returns for a question."""
    seed = sum(map(ord, query))
    return [{"id": f"d{(seed + 7 * i) % 101}", "score": 1 / (i + 1)} for i in range(k)]


class Server(LoopbackServer):
    def __init__(self) -> None:
        super().__init__(Handler)
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.at_once = 0
        self.most_at_once = 0
        self.connections = 0
        self.headers: list[dict[str, str]] = []

    @property
    def search(self) -> str:
        return self.address + "/search?q={query}&k={k}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)


class Handler(JsonHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:  # noqa: N802 - as the base class calls it
        parts = urlsplit(self.path)
        asked = parse_qs(parts.query)
        self.serve(asked["q"][0], int(asked["k"][0]), parts.path)

    def do_POST(self) -> None:  # noqa: N802 - as the base class calls it
        body = self.body()
        self.serve(body["q"], body["top"], self.path)

    def serve(self, query: str, k: int, path: str) -> None:
        server = self.server
        with server.lock:
            server.asked[query] += 1
            times = server.asked[query]
            server.headers.append(dict(self.headers))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            self.answer(query, k, times, query.split(), path)
        finally:
            with server.lock:
                server.at_once -= 1

    def answer(self, query: str, k: int, times: int, words: list[str], path: str) -> None:
        if "slow" in words:
            time.sleep(SLOW_SECONDS)
        if "hang" in words:
            self.server.released.wait(20)
        elif "reset" in words or ("resetonce" in words and times == 1):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif "fail" in words or ("once" in words and times == 1):
            self.send(500, {"error": f"seen {self.headers.get('Authorization')}"})
        elif "busy" in words and times == 1:
            self.send(429, {}, {"Retry-After": "0.01"})
        elif "overloaded" in words and times == 1:
            self.send(503, {}, {"Retry-After": "0.01"})
        elif "missing" in words:
            self.send(404, {"error": "no such index"})
        elif "moved" in words:
            self.send(302, {}, {"Location": "http://elsewhere.invalid/"})
        elif "echo" in words:
            self.send(200, {"hits": [{"id": "d1", "text": self.headers["Authorization"]}]})
        elif "drip" in words:
            self.drip()
        else:
            content = json.dumps(self.found(query, k, words)).encode()
            self.send(200, content[:-9] if "broken" in words else content)
            with self.server.lock:
                self.server.answered[query] += 1

    def found(self, query: str, k: int, words: list[str]) -> dict[str, Any]:
        hits: list[dict[str, Any]] = answer_to(query, k)
        if "few" in words:
            hits = hits[:1]
        if "none" in words:
            hits = []
        if "twice" in words:
            hits = [hits[0], *hits[:-1]]
        if "many" in words:
            hits = answer_to(query, k + 3)
        if "unsorted" in words:
            hits[0]["score"], hits[1]["score"] = 0.0, 9.0
        if "types" in words:
            hits[0]["score"] = "high"
        return {"result": hits} if "keys" in words else {"hits": hits, "candidates": hits[::-1]}

    def drip(self) -> None:
        """A byte every now and then, for longer than anyone waits."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(1000):
            if self.server.released.wait(0.05):
                return
            self.wfile.write(b" ")


@contextmanager
def running() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server
