"""Whatever a server sends back, the answer is a run or one of our errors."""

import gzip
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

import pytest

from calipers import retrieve
from calipers.errors import CalipersError

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


def _said(body: bytes, status: bytes = b"200 OK", further: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n" % (status, len(body))
    return head + further + b"\r\n" + body


FAULTS = {
    "nothing": b"",
    "no HTTP": b"hello\r\n",
    "half a head": b"HTTP/1.1 200",
    "a head without end": OK + b"X: " + b"a" * 100_000,
    "very many headers": OK + b"X: a\r\n" * 5_000 + b"\r\n[]",
    "no length and no body": OK + b"\r\n",
    "a body cut off": OK + b'Content-Length: 1000\r\n\r\n["a"',
    "a length that is no number": OK + b'Content-Length: many\r\n\r\n["a"]',
    "a negative length": OK + b'Content-Length: -5\r\n\r\n["a"]',
    "broken chunks": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n",
    "an empty body": _said(b""),
    "a page": _said(b"<html>Login</html>"),
    "text that is not UTF-8": _said(b'["\xff"]'),
    "packed, and damaged": _said(b"\x1f\x8bxxxx", further=b"Content-Encoding: gzip\r\n"),
    "packed": _said(gzip.compress(b'["a"]'), further=b"Content-Encoding: gzip\r\n"),
    "lists in lists": _said(b"[" * 3_000 + b"]" * 3_000),
    "not a number": _said(b'[{"id": "a", "score": NaN}]'),
    "a score beyond all": _said(b'[{"id": "a", "score": 1e999}]'),
    "a place beyond all": _said(b'[{"document": "a", "start": 0, "end": 99999999999999999999}]'),
    "a place that ends early": _said(b'[{"document": "a", "start": 9, "end": 2}]'),
    "an id that is empty": _said(b'[{"id": ""}]'),
    "control characters": _said(b'["\\u001b[31m\\u0000"]'),
    "not found": _said(b"no", b"404 Not Found"),
    "too many requests": _said(b"wait", b"429 Too Many", b"Retry-After: x\r\n"),
    "a fault of the server": _said(b"boom", b"500 Error"),
    "a redirection without a place": _said(b"", b"302 Found"),
    "a redirection to a file": _said(b"", b"302 Found", b"Location: file:///etc/passwd\r\n"),
    "a status that is no number": _said(b"[]", b"OK OK"),
    "a status beyond all": _said(b"[]", b"99999 Odd"),
    "nothing wrong": _said(b'["a", "b"]'),
}
READABLE = (
    *("nothing wrong", "a length that is no number", "a negative length"),
    *("an id that is empty", "control characters"),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that answers with the fault that the question names."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    asked = connection.recv(65_536).split(b" ")[1].partition(b"=")[2]
                    connection.sendall(FAULTS[unquote(asked.decode())])
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(1)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/?q={{query}}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_answer_is_an_error_of_ours_or_a_run(fault: str, address: str) -> None:
    try:
        run = retrieve(address, [fault], k=2, retries=0, timeout=2)
    except CalipersError as error:
        said = str(error)
    else:
        said = ""
        assert run.frame.height <= 2
    assert (said == "") == (fault in READABLE)
    assert "Traceback" not in said
    assert "root:" not in said
