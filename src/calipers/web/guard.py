"""Who may come in, and what is checked of every request.

A link with a one-time token per person is exchanged for a cookie. Sessions are saved in the store,
so that a restart signs nobody out; only the digest of a cookie is, which cannot be used to sign in.
"""

import hashlib
import hmac
import logging
import secrets
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from typing import Any

from sqlalchemy import delete, insert, select
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from calipers.errors import CalipersError
from calipers.frozen import dataclass
from calipers.store.open import Store
from calipers.store.schema import SESSION

LIFETIME = 7 * 24 * 3600
"""Seconds for which a link and a cookie are valid: judging takes days."""
TRIES = 10
WITHIN = 60.0
"""Wrong tokens, within so many seconds, after which a client has to wait."""
MOST_CLIENTS = 10_000
"""Clients whose wrong tokens are remembered; the oldest goes first."""


Secrets = dict[bytes, tuple[str, float]]
"""Whose a secret is and until when it is valid, by the digest of the secret."""


class Doors:
    """Valid tokens and open sessions of the server at one address; secrets only as digests."""

    def __init__(
        self,
        owner: str,
        judges: Iterable[str] = (),
        clock: Callable[[], float] = time.time,
        store: Callable[[], Store | None] = lambda: None,
        address: str = "",
    ) -> None:
        self.owner = owner
        self.names = list(dict.fromkeys((owner, *judges)))
        """Everybody who gets a link; the owner may judge too."""
        self._clock = clock
        self._store = store
        self._address = address
        self._mine = SESSION.c.address == address
        self._lock = threading.Lock()
        self._tokens: Secrets = {}
        self._sessions: Secrets = {}
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()
        with suppress(CalipersError):
            self._read()

    def _read(self) -> None:
        if (store := self._store()) is None:
            return
        with store.reading() as connection:
            kept = select(SESSION).where(self._mine, SESSION.c.until >= self._clock())
            for one in connection.execute(kept.where(SESSION.c.name.in_(self.names))):
                self._sessions[bytes.fromhex(one.digest)] = one.name, one.until

    def _write(self, *statements: Any) -> None:
        if (store := self._store()) is not None:
            with store.writing() as connection:
                for statement in statements:
                    connection.execute(statement)

    def invite(self, name: str) -> str:
        """Make a token for a person."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens[_digest(token)] = name, self._clock() + LIFETIME
        return token

    def enter(self, token: str, client: str = "") -> str | None:
        """Exchange a valid token for a cookie, once; None if it is not valid.

        Wrong tokens are counted per client; after too many, none is accepted for a while.
        """
        with self._lock:
            now = self._clock()
            recent = [when for when in self._wrong.get(client, ()) if now - when < WITHIN]
            if len(recent) >= TRIES:
                raise HTTPException(429, "You tried too many wrong links; wait a minute.")
            found = _find(self._tokens, token)
            name, until = self._tokens.pop(found) if found else (None, 0.0)
            if name is None or until < now:
                self._wrong[client] = [*recent, now]
                self._wrong.move_to_end(client)
                if len(self._wrong) > MOST_CLIENTS:
                    self._wrong.popitem(last=False)
                return None
        cookie = secrets.token_urlsafe(32)
        until = now + LIFETIME
        # Without the store the session lasts until the server stops.
        with suppress(CalipersError):
            row = {"digest": _digest(cookie).hex(), "name": name, "until": until}
            expired = delete(SESSION).where(SESSION.c.until < now)
            self._write(expired, insert(SESSION).values(address=self._address, **row))
        with self._lock:
            self._sessions[_digest(cookie)] = name, until
        return cookie

    def who(self, cookie: str | None) -> str | None:
        """The person of a cookie; None if it is wrong or expired."""
        with self._lock:
            found = _find(self._sessions, cookie or "")
            name, until = self._sessions[found] if found else (None, 0.0)
        return name if until >= self._clock() else None

    def leave(self, cookie: str | None) -> None:
        """End the session of one cookie."""
        digest = _digest(cookie or "")
        self._write(delete(SESSION).where(self._mine, SESSION.c.digest == digest.hex()))
        with self._lock:
            self._sessions.pop(digest, None)


def client_of(peer: str, forwarded: str | None) -> str:
    """The client's address, for counting: from a proxy's header, or else the peer's.

    A proxy is on this machine or in a private network, and appends the address. For IPv6 it is
    the /64 network, as one machine has all of its addresses.

    >>> client_of("127.0.0.1", "6.6.6.6, 203.0.113.9"), client_of("8.8.4.4", "6.6.6.6")
    ('203.0.113.9', '8.8.4.4')
    >>> client_of("2001:db8:1:2:3:4:5:6", None)
    '2001:db8:1:2'
    """
    try:
        address = ip_address(peer)
        if forwarded and address.is_private:
            address = ip_address(forwarded.rpartition(",")[2].strip())
    except ValueError:
        return peer
    if isinstance(address, IPv6Address):
        return ":".join(
            word.lstrip("0") or "0" for word in address.exploded.split(":")[:4]
        )
    return str(address)


def _find(known: Secrets, secret: str) -> bytes | None:
    """The known digest that fits a secret, found in constant time."""
    given = _digest(secret)
    return next(iter([one for one in known if hmac.compare_digest(one, given)]), None)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


LARGEST_BODY = 64_000
FORMS = ("/enter", "/leave")
"""Pages that take a form."""
LONGEST_TARGET = 8_000
READS = ("GET", "HEAD")
METHODS = (*READS, "POST")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
LOG = logging.getLogger("calipers.web")


@dataclass(frozen=True)
class Address:
    """How browsers reach the server: the only Host and Origin that are accepted."""

    scheme: str
    host: str
    """With the port, if the address has one."""

    @property
    def origin(self) -> str:
        """The Origin header of our pages."""
        return f"{self.scheme}://{self.host}"

    def link(self, token: str) -> str:
        """The sign-in link for a token."""
        return f"{self.origin}/enter?token={token}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return self.host.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]")

    @property
    def cookie(self) -> str:
        """The name of the cookie; it differs by port, as servers on one host share cookies."""
        return f"calipers-{self.host.rpartition(':')[2] or 'web'}"


class Guard:
    """ASGI middleware that refuses requests that our pages would never send."""

    def __init__(self, app: ASGIApp, address: Address, doors: Doors) -> None:
        self.app = app
        self.address = address
        self.doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        began = time.perf_counter()
        headers = Headers(scope=scope)
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    sent[name] = value
                if "cache-control" not in sent:
                    sent["cache-control"] = "no-store"
            await send(message)

        cookies = cookie_parser(headers.get("cookie", ""))
        judge = self.doors.who(cookies.get(self.address.cookie))
        refused = self._refusal(scope, headers, judge)
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BODY:
                raise HTTPException(413, TOO_LARGE)
            return message

        try:
            if refused is not None:
                await refused(scope, receive, answer)
            else:
                owns = judge == self.doors.owner
                scope.setdefault("state", {}).update(judge=judge, owns=owns)
                await self.app(scope, counted, answer)
        except ClientDisconnect:
            pass
        except Exception as error:  # noqa: BLE001 - a mistake of ours, whatever it is
            # It was answered already. The server would log it with its words, and these may be
            # words of a corpus.
            LOG.error("%s", whereabouts(error))
        finally:
            # The path only: a query string may contain a token or words of a corpus.
            spent = 1000 * (time.perf_counter() - began)
            LOG.info(
                "%s %s %d %.0f ms", scope["method"], logged(scope["path"]), status, spent
            )

    def _refusal(
        self, scope: Scope, headers: Headers, judge: str | None
    ) -> Response | None:
        """The first rule that a request breaks; None if it keeps them all."""
        method = scope["method"]
        path = scope["path"]
        host = self.address.host
        api = path.startswith("/api/")
        writes = method not in READS
        target = scope["raw_path"] + b"?" + scope["query_string"]
        length = headers.get("content-length", "0")[
            :9
        ]  # more digits are too large as well
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if not api and origin == "null" and site == "same-origin":
            # As our pages send no referrer, browsers send this origin with their forms.
            origin = self.address.origin
        ours = origin == self.address.origin or (origin is None and not writes)
        ours &= site in (
            (None, "same-origin") if writes else (None, "same-origin", "none")
        )
        rules = (
            (
                headers.getlist("host") != [host],
                421,
                f"This server answers to {host} alone.",
            ),
            (len(target) > LONGEST_TARGET, 414, "The address is too long."),
            (method not in METHODS, 405, f"The method {method[:20]} is not known here."),
            (
                writes and not api and path not in FORMS,
                405,
                "Only the API takes anything.",
            ),
            # A page may be opened by a link on another site; the API and forms may not.
            ((api or writes) and not ours, 403, "The request comes from another site."),
            (
                api and writes and kind != "application/json",
                415,
                "The API takes JSON alone.",
            ),
            (api and judge is None, 401, NOT_IN),
            (not length.isdecimal() or int(length) > LARGEST_BODY, 413, TOO_LARGE),
        )
        broken = [
            refusal(scope, status, words) for breaks, status, words in rules if breaks
        ]
        return broken[0] if broken else None


NOT_IN = (
    "You are not signed in, or no longer; open your link, or ask the owner for a new one."
)
TOO_LARGE = f"The request is too large; at most {LARGEST_BODY:,} bytes are taken."


def logged(path: str) -> str:
    r"""Escape a path so that it stays on one line of the log.

    >>> logged("/x" + chr(10) + "GET /forged 200" + chr(27) + "[31m")
    '/x\\nGET /forged 200\\x1b[31m'
    """
    return path[:200].encode("unicode_escape").decode("ascii")


def whereabouts(error: BaseException) -> str:
    """The type and place of an error, without its text, which may quote user data.

    >>> whereabouts(ValueError("a text of somebody"))
    'ValueError'
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n  ".join([type(error).__name__, *places])


def refusal(scope: Scope, status: int, sentence: str) -> Response:
    """A sentence as JSON for the API, else as plain text."""
    if scope["path"].startswith("/api/"):
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence + "\n", status)
