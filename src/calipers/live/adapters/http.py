"""An HTTP endpoint as a retriever, using only the standard library.

http.client keeps one connection per worker open, which is all that is needed. Redirects
are not followed, so that a header with a key is never sent to another address. A proxy
that the environment sets for the address (HTTPS_PROXY) is used.
"""

import base64
import http.client
import re
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from calipers.errors import InvalidInput
from calipers.live.adapters.base import (
    HIDDEN,
    LOOKS_SECRET,
    Question,
    Retriever,
    Secrets,
    Session,
    settings_of,
    shown_value,
)
from calipers.live.answers import Layout
from calipers.live.code import digest
from calipers.live.failures import (
    LARGEST_ANSWER,
    TOO_LARGE,
    WORTH_RETRYING,
    AskFailed,
    bad_answer,
    beginning,
    decoded,
)

HARMLESS_HEADERS = ("accept", "accept-language", "content-type", "user-agent", "host")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
PIECE = 1 << 16
T = TypeVar("T")
QUERY = "{query}"
K = "{k}"
_PLACE = re.compile(r"\{query\}|\{k\}")


def from_address(
    address: str,
    *,
    request: object = None,
    headers: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> Retriever:
    """A retriever behind an address.

    ``{query}`` and ``{k}`` are filled into the address (GET), or into ``request``, a JSON
    template (POST). ``$NAME`` in address, request and header values is the environment
    variable of that name, read at run time and never written anywhere.
    """
    layout = layout or Layout()
    secrets = Secrets()
    template = None if request is None else RequestTemplate.read(request, secrets)
    parts, sent = read_address(address, headers or {}, secrets)
    shown = shown_address(address)
    if template is None and QUERY not in address:
        raise InvalidInput(
            f"The address {shown} does not say where the question goes; write {{query}} "
            "into it (…/search?q={query}&k={k}), or give a request: "
            '--request \'{"q": "{query}", "k": "{k}"}\'.'
        )
    about: dict[str, object] = {"method": "GET"}
    if template is not None:
        about = {"method": "POST", "request": template.source}
    proxy = _proxy_for(parts, secrets)
    return Retriever(
        name=shown,
        settings=settings_of(shown, layout, headers=header_marks(headers), **about),
        open=lambda: _Session(parts, template, sent, proxy),
        layout=layout,
        secrets=secrets,
        keeps_time=True,
    )


def read_address(
    written: str, headers: Mapping[str, str], secrets: Secrets
) -> tuple[SplitResult, dict[str, str]]:
    """An address and the headers to send there, environment variables filled in."""
    try:
        parts = urlsplit(secrets.expand(written, "the address"))
        port = parts.port
    except ValueError:
        port = 0
    if port == 0 or not parts.hostname:
        raise InvalidInput(
            f"The address {shown_address(written)} cannot be read, or names no host; "
            "write it as http://host:port/path."
        )
    sent = _headers(headers, secrets)
    if parts.username is not None:
        sent.setdefault("Authorization", _basic(parts, secrets))
    for name, _, value in (piece.partition("=") for piece in parts.query.split("&")):
        if shown_value(name, value) != value:
            secrets.add(value, unquote(value))
    return parts, sent


def _basic(parts: SplitResult, secrets: Secrets) -> str:
    password = parts.password or ""
    pair = f"{unquote(parts.username or '')}:{unquote(password)}".encode()
    coded = base64.b64encode(pair).decode()
    secrets.add(unquote(password), password, coded)
    return f"Basic {coded}"


def header_marks(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Headers for the run record: secret values hidden, the others hashed."""
    return {
        name: HIDDEN if LOOKS_SECRET.search(name) else digest(str(text).encode())
        for name, text in sorted((headers or {}).items())
    }


def shown_address(address: str) -> str:
    """The address for display: as written, without a user name, password or key."""
    before, marker, after = address.partition("://")
    host, slash, path = after.partition("/")
    path, question, query = path.partition("?")
    # Each on its own: a parameter may occur twice, and another value is another
    # retriever.
    kept = "&".join(
        f"{name}{equals}{value if value.startswith('$') else shown_value(name, value)}"
        for name, equals, value in (piece.partition("=") for piece in query.split("&"))
    )
    return f"{before}{marker}{host.rpartition('@')[2]}{slash}{path}{question}{kept}"


def _headers(headers: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    sent = {"Accept": "application/json", "User-Agent": "calipers"}
    for name, text in headers.items():
        value = secrets.expand(str(text), f"the header {name!r}").strip()
        if (
            any(ord(character) < 32 for character in f"{name}{value}")
            or not name.strip()
            or ":" in name
        ):
            raise InvalidInput(
                f"The header {name!r} cannot be sent: its name or value holds a line "
                "break or a control character; write it as 'Name: value'."
            )
        if name.lower() not in HARMLESS_HEADERS:
            secrets.add(value, value.rpartition(" ")[2])
        sent[name.strip()] = value
    return sent


@dataclass(frozen=True)
class RequestTemplate:
    """A JSON value with ``{query}`` and ``{k}`` in its strings."""

    source: object
    """As the caller wrote it, environment variables not filled in."""
    value: object

    @classmethod
    def read(cls, template: object, secrets: Secrets) -> Self:
        """A template from JSON text, or from the value itself."""
        source = template
        if isinstance(template, str | bytes):
            try:
                source = msgspec.json.decode(template)
            except (msgspec.DecodeError, RecursionError) as error:
                raise InvalidInput(
                    f"The request is not JSON ({error}): {template!r:.80}; write it as "
                    '\'{"q": "{query}", "k": "{k}"}\'.'
                ) from None
        texts: list[str] = []

        def expanded(text: str, name: str) -> str:
            texts.append(text)
            value = secrets.expand(text, "the request")
            if LOOKS_SECRET.search(name):
                secrets.add(value)
            return value

        value = _mapped(source, expanded)
        if not any(QUERY in text for text in texts):
            raise InvalidInput(
                f"The request {template!r:.80} does not say where the question goes; put "
                '"{query}" into one of its texts.'
            )
        return cls(source, value)

    def filled(self, query: str, k: int) -> object:
        """The request for one question.

        >>> RequestTemplate.read('{"q": "{query}", "top": "{k}"}', Secrets({})).filled("a", 5)
        {'q': 'a', 'top': 5}
        """

        def fill(text: str, _: str) -> str | int:
            # Alone it becomes a number, as a server expects; inside a string it becomes
            # digits.
            return k if text == K else text.replace(K, str(k)).replace(QUERY, query)

        return _mapped(self.value, fill)


def _mapped(
    value: object, change: Callable[[str, str], object], name: str = ""
) -> object:
    """Apply ``change`` to each string of a JSON value, with the name of its field."""
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, dict):
        return {key: _mapped(member, change, str(key)) for key, member in value.items()}
    return (
        [_mapped(member, change, name) for member in value]
        if isinstance(value, list)
        else value
    )


def fill_address(text: str, query: str, k: int) -> str:
    """Fill the question into part of an address, escaped.

    >>> fill_address("q={query}&k={k}", "a & b", 5)
    'q=a%20%26%20b&k=5'
    """
    values = {QUERY: query, K: str(k)}
    # One pass, so that a question with {k} in it stays as it is.
    filled = _PLACE.sub(
        lambda match: quote(values[match[0]], safe="", errors="replace"), text
    )
    return quote(filled, safe="%/?&=:@!$'()*+,;~[]-._")


def _proxy_for(
    parts: SplitResult, secrets: Secrets
) -> tuple[SplitResult, dict[str, str]] | None:
    """The proxy that the environment sets for an address, and its headers."""
    host = parts.hostname or ""
    named = getproxies().get(parts.scheme)
    if named is None or host in LOCAL_HOSTS or proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise InvalidInput(
            f"The proxy in {parts.scheme.upper()}_PROXY cannot be asked; give one such "
            f"as http://proxy:3128, or name {host} in NO_PROXY to ask it directly."
        )
    return proxy, {
        "Proxy-Authorization": _basic(proxy, secrets)
    } if proxy.username else {}


@dataclass(eq=False)
class _Session(Session):
    """One connection, opened when needed and kept as long as the server keeps it."""

    parts: SplitResult
    template: RequestTemplate | None
    headers: Mapping[str, str]
    proxy: tuple[SplitResult, dict[str, str]] | None
    connection: http.client.HTTPConnection | None = None
    until: float | None = None

    def _connect(self) -> http.client.HTTPConnection:
        host = self.parts.hostname or ""
        port = self.parts.port
        place: tuple[str, int | None] = (host, port)
        if self.proxy is not None:
            place = self.proxy[0].hostname or "", self.proxy[0].port or 80
        if self.parts.scheme == "http":
            return http.client.HTTPConnection(*place)
        connection = http.client.HTTPSConnection(
            *place, context=ssl.create_default_context()
        )
        if self.proxy is not None:
            connection.set_tunnel(host, port, self.proxy[1])
        return connection

    def _compose(
        self, query: str, k: int
    ) -> tuple[str, str, bytes | None, dict[str, str]]:
        path = fill_address(self.parts.path or "/", query, k)
        if self.parts.query:
            path += "?" + fill_address(self.parts.query, query, k)
        headers = dict(self.headers)
        if self.proxy is not None and self.parts.scheme == "http":
            path = f"http://{self.parts.netloc.rpartition('@')[2]}{path}"
            headers |= self.proxy[1]
        if self.template is None:
            return "GET", path, None, headers
        headers.setdefault("Content-Type", "application/json")
        return "POST", path, msgspec.json.encode(self.template.filled(query, k)), headers

    def close(self) -> None:
        connection = self.connection
        self.connection = None
        if connection is not None:
            connection.close()

    def ask(self, question: Question, k: int, timeout: float | None) -> object:
        self.until = None if timeout is None else time.monotonic() + timeout
        try:
            content = self._exchange(*self._compose(question.text, k))
        except AskFailed:
            raise
        except TimeoutError:
            self.close()
            raise AskFailed(
                "timeout", f"no answer within {timeout:g} s", retry=True
            ) from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _explained(error, self.parts) from error
        return decoded(content, "the answer")

    def _exchange(self, *request: object) -> bytes:
        reused = self.connection is not None
        try:
            response = self._send(*request)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            if not reused:
                raise
            # A server may close a connection that was idle; the question never reached
            # it.
            self.close()
            response = self._send(*request)
        content = bytearray()
        # A piece at a time, so that a server that drips cannot outlast the timeout.
        while piece := self._in_time(response.read1, PIECE):
            content += piece
            if len(content) > LARGEST_ANSWER:
                self.close()
                raise bad_answer(TOO_LARGE)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        # All is read: now the connection is free for the next question.
        response.close()
        if response.will_close:
            self.close()
        _check_status(response, bytes(content))
        return bytes(content)

    def _send(self, *request: object) -> http.client.HTTPResponse:
        self.connection = self.connection or self._connect()
        self._in_time(self.connection.request, *request)
        return self._in_time(self.connection.getresponse)

    def _in_time(self, step: Callable[..., T], *about: object) -> T:
        """Run a step of the exchange within the time that is left."""
        left = None if self.until is None else self.until - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        if self.connection is not None:
            self.connection.timeout = left
            if self.connection.sock is not None:
                self.connection.sock.settimeout(left)
        return step(*about)


def _check_status(response: http.client.HTTPResponse, content: bytes) -> None:
    status = response.status
    headers = response.headers
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise AskFailed(
            "redirect",
            f"the address answers {status} and points to {headers.get('Location')!r}; "
            "redirects are not followed, give the final address",
            hopeless=True,
        )
    raise AskFailed(
        f"http {status}",
        f"the server answered {status} {response.reason}"
        + (f"; the answer begins with {beginning(content)!r}" if content.strip() else ""),
        retry=status in WORTH_RETRYING,
        after=_retry_after(headers.get("Retry-After")) if status in (429, 503) else None,
        hopeless=status in (401, 403, 405),
    )


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait from a Retry-After header; one with a date is left to our own pauses."""
    with suppress(ValueError, TypeError):
        return max(0.0, float(value or ""))
    return None


def _explained(error: Exception, parts: SplitResult) -> AskFailed:
    place = f"{parts.hostname}:{parts.port or parts.scheme}"
    if isinstance(error, ssl.SSLError):
        why = getattr(error, "verify_message", None) or error.reason
        return AskFailed(
            "tls",
            f"{place} cannot be trusted, or does not speak TLS ({why}); name the file of "
            "its authority in the environment variable SSL_CERT_FILE, or write http://",
            hopeless=True,
        )
    lost = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)
    if isinstance(error, (*lost, http.client.IncompleteRead)):
        return AskFailed(
            "reset", f"{place} closed the connection before its answer", retry=True
        )
    if isinstance(error, http.client.HTTPException):
        why = f"{type(error).__name__} {beginning(str(error))}"
        return bad_answer(f"{place} does not speak HTTP: {why}")
    why = f"{place} cannot be reached: {getattr(error, 'strerror', None) or error}"
    return AskFailed("unreachable", f"{why}; does it run?", retry=True, hopeless=True)
