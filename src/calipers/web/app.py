"""The application: its routes, what is answered if something fails, and the server it runs in."""

import asyncio
import logging
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from calipers.errors import (
    CalipersError,
    InvalidInput,
    MissingExtra,
    StoreAway,
    UnreadableFile,
    WriteFailed,
    no_command_line,
)
from calipers.frozen import dataclass
from calipers.keywords import as_settings
from calipers.present.escape import clean
from calipers.questions.report.commands import commands_about
from calipers.questions.report.page.page import HERE as REPORT
from calipers.store.label_pools import PoolClosedError
from calipers.web import api, pages
from calipers.web.guard import (
    LIFETIME,
    LOG,
    NOT_IN,
    Address,
    Doors,
    Guard,
    client_of,
    refusal,
)
from calipers.web.pages import render
from calipers.web.sources import WebSources, give_memory_back
from calipers.web.waiting import SlowPages

AWAY = "The database with the evaluations and labels does not answer; it is asked again."
LOCKED = "Another program holds the database locked; it is asked again."
AWAY_ERRORS = (StoreAway, UnreadableFile, WriteFailed, MissingExtra)
"""Requests never name a file, so these come from the store; a later request may succeed."""
RETRY_AFTER = 2
"""Seconds after which a store that was unavailable may be asked again."""
OpenTo = Literal["anybody", "judge", "owner"]
"""Who may open a page: anybody, signed-in judges, or only the owner."""
OWNER_ONLY = "This is for the owner of the server; you are signed in as a judge."
USED_UP = (
    "A link works once, and this one was used, is too old or was never given. Ask the owner for a "
    "new one, or start the server again."
)

TITLES = {
    401: "Not signed in",
    403: "No entry",
    404: "No such page",
    429: "Too many tries",
}

OWN_ASSETS = Path(__file__).parent / "assets"
ASSETS: dict[str, tuple[Path, str]] = {
    "report.css": (REPORT / "style.css", "text/css"),
    "web.css": (OWN_ASSETS / "web.css", "text/css"),
    "icon.svg": (OWN_ASSETS / "icon.svg", "image/svg+xml"),
    **{path.name: (path, "text/javascript") for path in sorted(OWN_ASSETS.glob("*.js"))},
}
"""Assets by name: only those listed here are served."""


def make_app(shelf: WebSources, address: Address, doors: Doors) -> ASGIApp:
    """The whole application, guarded."""
    app = Starlette(
        routes=[guarded(address, *one) for address, one in ADDRESSES.items()],
        exception_handlers=dict.fromkeys(
            (CalipersError, HTTPException, Exception), failed
        ),
    )
    app.state.shelf = shelf
    app.state.address = address
    app.state.doors = doors
    app.state.pending = SlowPages()
    return Guard(app, address, doors)


def guarded(address: str, open_to: OpenTo, answer: Callable[..., Response]) -> Route:
    """A route that checks who may open it; ``address`` is its method and path."""
    method, _, path = address.partition(" ")

    # A page of an evaluation can take long; what changes something is answered once.
    slow = method == "GET" and open_to != "anybody" and not path.startswith("/api/")

    async def handle(request: Request) -> Response:
        if request.state.judge is None and open_to != "anybody":
            raise HTTPException(401, NOT_IN)
        if not request.state.owns and open_to == "owner":
            raise HTTPException(403, OWNER_ONLY)
        body = [await request.body()] if method == "POST" else []
        # What was typed to start the server is nobody's next command.
        with commands_about(None):
            if slow:
                pending: SlowPages = request.app.state.pending
                return await pending.answer(request, answer)
            return await run_in_threadpool(answer, request, *body)

    return Route(path, handle, methods=[method])


def asset(request: Request) -> Response:
    """One file."""
    if request.path_params["name"] not in ASSETS:
        raise HTTPException(404)
    path, kind = ASSETS[request.path_params["name"]]
    kept = {"cache-control": "private, max-age=300"}
    return Response(path.read_bytes(), headers=kept, media_type=kind)


# Signing in


def link(request: Request) -> Response:
    """Sign in at once on this machine; else show a button, so that a link preview uses no token."""
    token = request.query_params.get("token", "")[:200]
    if request.app.state.address.is_loopback:
        return _sign_in(request, token)
    return render(request, "enter", title="Sign in", token=token)


def enter(request: Request, body: bytes) -> Response:
    """Sign in a person who pressed the button."""
    return _sign_in(
        request, parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
    )


def _sign_in(request: Request, token: str) -> Response:
    """Exchange a token for a cookie, and show a page without the token in its address."""
    address = request.app.state.address
    shelf = request.app.state.shelf
    peer = request.client.host if request.client else ""
    client = client_of(peer, request.headers.get("x-forwarded-for"))
    cookie = request.app.state.doors.enter(token, client)
    if cookie is None and request.state.judge is None:
        raise HTTPException(403, USED_UP)
    # A page, not a redirect: coming from another site, a browser would not send the cookie.
    first = "/" if shelf.pool is None else f"/pools/{shelf.pool}/judge"
    response = render(request, "entered", title="Signed in", first=first)
    if cookie is not None:
        # Scripts cannot read it, and other sites cannot send it.
        response.set_cookie(
            address.cookie,
            cookie,
            max_age=LIFETIME,
            secure=address.scheme == "https",
            httponly=True,
            samesite="strict",
        )
    return response


def leave(request: Request, _: bytes) -> Response:
    """Sign out in this browser."""
    name = request.app.state.address.cookie
    request.app.state.doors.leave(request.cookies.get(name))
    response = RedirectResponse("/", 303)
    response.delete_cookie(name)
    return response


# What went wrong


def failed(request: Request, error: Exception) -> Response:
    """What a request that could not be answered gets to read: a page, or JSON from the API."""
    status = 500
    words = "The server made a mistake; its log says which."
    if isinstance(error, HTTPException):
        status = error.status_code
        words = "Check the address, or go back." if status == 404 else error.detail
    elif isinstance(error, AWAY_ERRORS):
        # Only the server's log says why, because the reason names the database.
        LOG.warning("%s", clean(str(error)))
        status = 503
        words = LOCKED if "holds it locked" in str(error) else AWAY
    elif isinstance(error, CalipersError):
        # A closed pool may be reopened, so the page keeps what it could not send.
        status = 409 if isinstance(error, PoolClosedError) else 400
        words = as_settings(request.app.state.shelf.without_place(str(error)))
    if request.url.path.startswith("/api/") or status == 500:
        answer = refusal(request.scope, status, words)
    else:
        title = TITLES.get(status, "That did not work")
        answer = render(
            request, "message", status, title=title, status=status, sentence=words
        )
    if status == 503:
        answer.headers["retry-after"] = str(RETRY_AFTER)
    return answer


ADDRESSES: Mapping[str, tuple[OpenTo, Callable[..., Response]]] = {
    "GET /enter": ("anybody", link),
    "POST /enter": ("anybody", enter),
    "GET /assets/{name}": ("anybody", asset),
    "POST /leave": ("judge", leave),
    "GET /": ("judge", pages.home),
    "GET /pools": ("judge", pages.pools),
    "GET /pools/{number:int}": ("owner", pages.pool),
    "GET /pools/{number:int}/judge": ("judge", pages.judge),
    "GET /pools/{number:int}/mine": ("judge", pages.mine),
    "GET /evaluations/{reference}": ("owner", pages.queries),
    "GET /evaluations/{reference}/report": ("owner", pages.report),
    "GET /evaluations/{reference}/truth": ("owner", pages.truth),
    "GET /compare": ("owner", pages.compared),
    "POST /api/v1/pools": ("owner", api.make_pool),
    "POST /api/v1/pools/{number:int}/take": ("judge", api.taking),
    "POST /api/v1/pools/{number:int}/labels": ("judge", api.label),
    "GET /api/v1/pools/{number:int}/item": ("judge", api.one_item),
    "POST /api/v1/pools/{number:int}/settle": ("owner", api.settle),
    "POST /api/v1/pools/{number:int}/change": ("owner", api.change_pool),
    "GET /api/v1/pools/{number:int}/export": ("owner", api.export),
}
"""Every route by method and path: who may open it, and its handler."""


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


def serve(
    shelf: WebSources, listening: Listening, say: Callable[[dict[str, str]], None]
) -> None:
    """Run until stopped; ``say`` gets the links once the server answers."""
    give_memory_back()
    doors = doors_of(shelf, listening.address)
    app = make_app(shelf, listening.address, doors)
    logging.getLogger("calipers.web").setLevel(logging.INFO)
    say({name: listening.address.link(doors.invite(name)) for name in doors.names})
    with no_command_line():
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

    def _timer(
        self, last: asyncio.TimerHandle | None, on: bool
    ) -> asyncio.TimerHandle | None:
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
