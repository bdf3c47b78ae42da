"""Start the server: where it listens, who gets a link, and how long it waits for anybody."""

import asyncio
import logging
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from calipers.errors import InvalidInput
from calipers.web.app import make_app
from calipers.web.guard import Address
from calipers.web.held import give_memory_back
from calipers.web.login import Doors
from calipers.web.sources import WebSources

PORT = 8642
LOOPBACK = "127.0.0.1"
HERE = (LOOPBACK, "localhost", "::1")
"""Hosts that only this machine can reach."""
TRIED = 50
"""How many ports are tried to find a free one."""
PATIENCE = 20.0
"""Seconds for the head of a request, for its body, and for a stalled reader of an answer."""
LARGEST_HEAD = 32_000
LIMITS: dict[str, Any] = {
    "h11_max_incomplete_event_size": LARGEST_HEAD,
    # Connections open at the same time; further ones are told to try again.
    "limit_concurrency": 500,
}
_UNFINISHED = (h11.IDLE, h11.SEND_BODY)
_PUBLIC = re.compile(r"(https?)://([A-Za-z0-9.-]+(?::\d{1,5})?)/?")


@dataclass(frozen=True)
class Listening:
    """A bound socket, and the address that browsers use."""

    socket: socket.socket
    address: Address
    port: int


def listen(
    host: str | None = None, port: int | None = None, public: str | None = None
) -> Listening:
    """Bind a port. With a ``host`` beyond this machine ``public`` is required.

    ``public`` is the address that browsers use, such as https://judge.example.org: no other Host
    is answered.
    """
    bound = host or LOOPBACK
    if public is None and bound not in HERE:
        raise InvalidInput(
            f"The host is {bound}, which opens the server to other machines; say under which "
            "address they reach it, such as --address https://judge.example.org. TLS is the work "
            "of a proxy in front of it."
        )
    if port is not None and not 0 <= port <= 65535:
        raise InvalidInput(f"The port is {port}; a port is a number from 1 to 65535.")
    made = _bind(bound, port)
    actual = int(made.getsockname()[1])
    if public is None:
        name = f"[{bound}]" if ":" in bound else bound
        return Listening(made, Address("http", f"{name}:{actual}"), actual)
    form = _PUBLIC.fullmatch(public)
    if form is None:
        made.close()
        raise InvalidInput(
            f"The address {public[:80]!r} cannot be read; write it as https://judge.example.org "
            "or http://10.0.0.5:8642, without a path."
        )
    return Listening(made, Address(form[1], form[2]), actual)


def _bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in [port] if port is not None else range(PORT, PORT + TRIED):
        try:
            return socket.create_server((host, candidate), family=family, backlog=128)
        except OSError as error:
            why = error.strerror
    offer = "" if port is None else "; without --port the next free one is taken"
    raise InvalidInput(f"The port {candidate} on {host} cannot be used: {why}{offer}.")


def doors_of(shelf: WebSources, address: Address) -> Doors:
    """Who has access; sessions survive a restart of the server."""
    return Doors(
        shelf.owner,
        shelf.settings.judges,
        store=lambda: shelf.store() if shelf.has_store else None,
        address=address.origin,
    )


def serve(shelf: WebSources, listening: Listening, say: Callable[[dict[str, str]], None]) -> None:
    """Run until stopped; ``say`` gets the links once the server answers."""
    give_memory_back()
    doors = doors_of(shelf, listening.address)
    app = make_app(shelf, listening.address, doors)
    logging.getLogger("calipers.web").setLevel(logging.INFO)
    say({one: listening.address.link(doors.invite(one)) for one in doors.names})
    uvicorn.Server(config(app)).run(sockets=[listening.socket])


def config(app: ASGIApp, log_level: str = "warning") -> uvicorn.Config:
    """The settings of uvicorn: only what we need, with a limit on everything."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        log_level=log_level,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        **LIMITS,
    )


class PatientProtocol(H11Protocol):
    """The HTTP protocol of uvicorn, with timeouts."""

    _sender: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None

    def _timer(self, last: asyncio.TimerHandle | None, on: bool) -> asyncio.TimerHandle | None:
        """Stop a timeout; if it is ``on``, start it anew."""
        if last is not None:
            last.cancel()
        return self.loop.call_later(PATIENCE, self.transport.abort) if on else None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the head of the first request."""
        super().connection_made(transport)
        self._sender = self._timer(None, on=True)

    def data_received(self, data: bytes) -> None:
        """Keep the timeout until the head or the body is complete; a trickle does not extend it."""
        before = self.conn.their_state
        super().data_received(data)
        after = self.conn.their_state
        if after not in _UNFINISHED or after is not before or self._sender is None:
            self._sender = self._timer(self._sender, on=after in _UNFINISHED)

    def pause_writing(self) -> None:
        """Start the timeout for the reader."""
        super().pause_writing()
        self._reader = self._timer(self._reader, on=True)

    def resume_writing(self) -> None:
        """Stop the timeout: the client reads again."""
        super().resume_writing()
        self._reader = self._timer(self._reader, on=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts."""
        super().connection_lost(exc)
        self._sender, self._reader = (
            self._timer(one, on=False) for one in (self._sender, self._reader)
        )
