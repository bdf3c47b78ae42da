"""Middleware that checks every request, and adds headers to every response."""

import logging
import time
import traceback
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from calipers.web.login import Doors

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
        self.app, self.address, self.doors = app, address, doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        began, headers = time.perf_counter(), Headers(scope=scope)
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
            LOG.info("%s %s %d %.0f ms", scope["method"], logged(scope["path"]), status, spent)

    def _refusal(self, scope: Scope, headers: Headers, judge: str | None) -> Response | None:
        """The first rule that a request breaks; None if it keeps them all."""
        method, path, host = scope["method"], scope["path"], self.address.host
        api, writes = path.startswith("/api/"), method not in READS
        target = scope["raw_path"] + b"?" + scope["query_string"]
        length = headers.get("content-length", "0")[:9]  # more digits are too large as well
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if not api and origin == "null" and site == "same-origin":
            # As our pages send no referrer, browsers send this origin with their forms.
            origin = self.address.origin
        ours = origin == self.address.origin or (origin is None and not writes)
        ours &= site in ((None, "same-origin") if writes else (None, "same-origin", "none"))
        rules = (
            (headers.getlist("host") != [host], 421, f"This server answers to {host} alone."),
            (len(target) > LONGEST_TARGET, 414, "The address is too long."),
            (method not in METHODS, 405, f"The method {method[:20]} is not known here."),
            (writes and not api and path not in FORMS, 405, "Only the API takes anything."),
            # A page may be opened by a link on another site; the API and forms may not.
            ((api or writes) and not ours, 403, "The request comes from another site."),
            (api and writes and kind != "application/json", 415, "The API takes JSON alone."),
            (api and judge is None, 401, NOT_IN),
            (not length.isdecimal() or int(length) > LARGEST_BODY, 413, TOO_LARGE),
        )
        broken = [refusal(scope, status, words) for breaks, status, words in rules if breaks]
        return broken[0] if broken else None


NOT_IN = "You are not signed in, or no longer; open your link, or ask the owner for a new one."
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
