"""An HTTP endpoint as a retriever, with the standard library alone unless a proxy is named.

http.client keeps one connection per worker open, which is all that is needed; redirects are not
followed, so that a header with a key never travels to another address. Where the environment names
a proxy for the address (HTTPS_PROXY), httpx asks through it.
"""

import base64
import http.client
import re
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from calipers.errors import InvalidInput, MissingExtra
from calipers.live.adapters.base import (
    HIDDEN,
    LOOKS_SECRET,
    Question,
    Retriever,
    Secrets,
    without_secrets,
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
from calipers.version import pip_install

METHODS = ("GET", "POST", "PUT")
HARMLESS_HEADERS = ("accept", "accept-language", "content-type", "user-agent", "host")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
PIECE = 1 << 16
QUERY, K = "{query}", "{k}"
_PLACE = re.compile(r"\{query\}|\{k\}|%7Bquery%7D|%7Bk%7D")


def from_address(
    address: str,
    *,
    request: Any = None,
    method: str | None = None,
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
    chosen = (method or ("GET" if template is None else "POST")).upper()
    if chosen not in METHODS:
        raise InvalidInput(f"The method is {method!r}; it can be {', '.join(METHODS)}.")
    parts, sent = read_address(address, headers or {}, secrets)
    shown = shown_address(address)
    if template is None and "{query}" not in address:
        raise InvalidInput(
            f"The address {shown} does not say where the question goes; write {{query}} "
            "into it (…/search?q={query}&k={k}), or give a request: "
            '--request \'{"q": "{query}", "k": "{k}"}\'.'
        )
    settings = {
        "retriever": shown,
        "method": chosen,
        "headers": header_marks(headers or {}),
        **({"request": without_secrets(template.source)} if template else {}),
        **layout.to_dict(),
    }
    endpoint = _Endpoint(parts, chosen, template, sent)
    session = _ProxiedSession if _needs_proxy(parts, shown) else _Session
    return Retriever(
        name=shown,
        settings=settings,
        open=lambda: session(endpoint),
        layout=layout,
        secrets=secrets,
        keeps_time=True,
    )


def read_address(
    written: str, headers: Mapping[str, str], secrets: Secrets
) -> tuple[SplitResult, dict[str, str]]:
    """An address and the headers to send there, environment variables filled in."""
    parts = _parts(secrets.expand(written, "the address"), written)
    sent = _headers(headers, secrets)
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        sent.setdefault("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
        secrets.add(unquote(parts.password or ""), parts.password or "", sent["Authorization"][6:])
    _hide_parameters(parts, secrets)
    return parts, sent


def header_marks(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers for the record: another value is another run, and none can be read from it."""
    return {
        name: HIDDEN if LOOKS_SECRET.search(name) else digest(str(text).encode())
        for name, text in sorted(headers.items())
    }


def _parts(address: str, written: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise InvalidInput(
            f"The address {shown_address(written)} cannot be read; write it as http://host:port/path."
        ) from None
    if not parts.hostname or port == 0:
        raise InvalidInput(
            f"The address {shown_address(written)} names no host; write it as http://host:port/path."
        )
    return parts


def shown_address(address: str) -> str:
    """The address as it may be shown: as written, without a name, a password or a key in it."""
    before, marker, after = address.partition("://")
    host, slash, path = after.partition("/")
    path, question, query = path.partition("?")
    if "@" in host:
        host = host.rpartition("@")[2]
    # Each by itself: a name may stand there twice, and another value is another retriever.
    kept = "&".join(
        f"{name}{equals}{value if value.startswith('$') else without_secrets({name: value})[name]}"
        for name, equals, value in (piece.partition("=") for piece in query.split("&"))
    )
    return f"{before}{marker}{host}{slash}{path}{question}{kept}"


def _hide_parameters(parts: SplitResult, secrets: Secrets) -> None:
    pairs = (piece.partition("=")[::2] for piece in parts.query.split("&"))
    for name, value in pairs:
        if without_secrets({name: value})[name] != value:
            secrets.add(value, unquote(value))


def _headers(given: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    sent = {"Accept": "application/json", "User-Agent": "calipers"}
    for name, text in given.items():
        value = secrets.expand(str(text), f"the header {name!r}").strip()
        if any(ord(one) < 32 for one in f"{name}{value}") or not name.strip() or ":" in name:
            raise InvalidInput(
                f"The header {name!r} cannot be sent: its name or value holds a line break or a "
                "control character; write it as 'Name: value'."
            )
        if name.lower() not in HARMLESS_HEADERS:
            secrets.add(value, value.rpartition(" ")[2])
        sent[name.strip()] = value
    return sent


@dataclass(frozen=True)
class RequestTemplate:
    """A JSON value with ``{query}`` and ``{k}`` in its texts."""

    source: Any
    """As the caller wrote it, environment variables not filled in."""
    value: Any

    @classmethod
    def read(cls, given: Any, secrets: Secrets) -> Self:
        """A template from JSON text, or from the value itself."""
        source = given
        if isinstance(given, str | bytes):
            try:
                source = msgspec.json.decode(given)
            except (msgspec.DecodeError, RecursionError) as error:
                raise InvalidInput(
                    f"The request is not JSON ({error}): {given!r:.80}; write it as "
                    '\'{"q": "{query}", "k": "{k}"}\'.'
                ) from None
        if not any(QUERY in text for text in _texts(source)):
            raise InvalidInput(
                f"The request {given!r:.80} does not say where the question goes; put "
                '"{query}" into one of its texts.'
            )
        return cls(source, _expanded(source, secrets))

    def fill(self, query: str, k: int) -> bytes:
        """The request for one question, as JSON.

        >>> RequestTemplate.read('{"q": "{query}", "top": "{k}"}', Secrets({})).fill("a", 5)
        b'{"q":"a","top":5}'
        """
        return msgspec.json.encode(self.filled(query, k))

    def filled(self, query: str, k: int) -> Any:
        """The same as a value."""
        return _filled(self.value, query, k)


def fill_address(text: str, query: str, k: int) -> str:
    """A part of an address with the question in it, escaped.

    >>> fill_address("q={query}&k={k}", "a & b", 5)
    'q=a%20%26%20b&k=5'
    """
    values = {QUERY: query, K: str(k)}
    # One pass, so that a question with {k} in it stays as it is.
    filled = _PLACE.sub(
        lambda found: quote(values[unquote(found[0])], safe="", errors="replace"), text
    )
    return quote(filled, safe="%/?&=:@!$'()*+,;~[]-._")


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]


def _expanded(value: Any, secrets: Secrets, name: str = "") -> Any:
    if isinstance(value, str):
        text = secrets.expand(value, "the request")
        if LOOKS_SECRET.search(name):
            secrets.add(text)
        return text
    if isinstance(value, dict):
        return {key: _expanded(one, secrets, str(key)) for key, one in value.items()}
    if isinstance(value, list):
        return [_expanded(one, secrets, name) for one in value]
    return value


def _filled(value: Any, query: str, k: int) -> Any:
    if isinstance(value, str):
        # Alone it is the number, as a server expects it; inside a text it is digits.
        return k if value == K else value.replace(K, str(k)).replace(QUERY, query)
    if isinstance(value, dict):
        return {key: _filled(one, query, k) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, query, k) for one in value]
    return value


def _needs_proxy(parts: SplitResult, shown: str) -> bool:
    """Whether the environment names a proxy for an address; httpx must be there then."""
    host = parts.hostname or ""
    if parts.scheme not in getproxies() or host in LOCAL_HOSTS or proxy_bypass(host):
        return False
    try:
        import httpx  # noqa: F401 - told here, so that no question fails of it
    except ImportError:
        raise MissingExtra(
            f"The environment names a proxy for {shown} ({parts.scheme.upper()}_PROXY), and asking "
            f"through one needs the library httpx: {pip_install('http')}; or name the host in "
            "NO_PROXY to ask it directly."
        ) from None
    return True


@dataclass(frozen=True, eq=False)
class _Endpoint:
    """Where and how to ask."""

    parts: SplitResult
    method: str
    template: RequestTemplate | None
    headers: Mapping[str, str]

    def connect(self) -> http.client.HTTPConnection:
        host = self.parts.hostname or ""
        if self.parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, self.parts.port, context=context)
        return http.client.HTTPConnection(host, self.parts.port)

    def compose(self, query: str, k: int) -> tuple[str, bytes | None, dict[str, str]]:
        path = fill_address(self.parts.path or "/", query, k)
        if self.parts.query:
            path += "?" + fill_address(self.parts.query, query, k)
        headers = dict(self.headers)
        if self.template is None:
            return path, None, headers
        headers.setdefault("Content-Type", "application/json")
        return path, self.template.fill(query, k), headers


class _Session:
    """One connection, opened when needed and kept as long as the server keeps it."""

    def __init__(self, endpoint: _Endpoint) -> None:
        self.endpoint = endpoint
        self.connection: http.client.HTTPConnection | None = None

    def ask(self, questions: Sequence[Question], k: int, timeout: float | None) -> Sequence[Any]:
        deadline = None if timeout is None else time.monotonic() + timeout
        return [self._one(question.text, k, deadline, timeout) for question in questions]

    def close(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()

    def _one(self, query: str, k: int, deadline: float | None, timeout: float | None) -> Any:
        try:
            content = self._exchange(*self.endpoint.compose(query, k), deadline)
        except AskFailed:
            raise
        except TimeoutError:
            self.close()
            raise AskFailed("timeout", f"no answer within {timeout:g} s", retry=True) from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _explained(error, self.endpoint) from error
        return decoded(content, "the answer")

    def _exchange(
        self, path: str, body: bytes | None, headers: dict[str, str], deadline: float | None
    ) -> bytes:
        reused = self.connection is not None
        try:
            response = self._send(path, body, headers, deadline)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            if not reused:
                raise
            # A server may close a connection that was idle; the question never reached it.
            self.close()
            response = self._send(path, body, headers, deadline)
        pieces, length = [], 0
        while piece := self._piece(response, deadline):
            pieces.append(piece)
            length += len(piece)
            if length > LARGEST_ANSWER:
                self.close()
                raise bad_answer(TOO_LARGE)
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        # All is read: now the connection is free for the next question.
        response.close()
        if response.will_close:
            self.close()
        content = b"".join(pieces)
        _check_status(response.status, response.reason, response.headers, content)
        return content

    def _send(
        self, path: str, body: bytes | None, headers: dict[str, str], deadline: float | None
    ) -> http.client.HTTPResponse:
        if self.connection is None:
            self.connection = self.endpoint.connect()
        self._set_time(deadline)
        self.connection.request(self.endpoint.method, path, body, headers)
        self._set_time(deadline)
        return self.connection.getresponse()

    def _piece(self, response: http.client.HTTPResponse, deadline: float | None) -> bytes:
        # A piece at a time, so that a server that drips cannot outlast the timeout.
        self._set_time(deadline)
        return response.read1(PIECE)

    def _set_time(self, deadline: float | None) -> None:
        left = _left(deadline)
        if self.connection is not None:
            self.connection.timeout = left
            if self.connection.sock is not None:
                self.connection.sock.settimeout(left)


class _ProxiedSession(_Session):
    """The same through the proxy that the environment names."""

    def __init__(self, endpoint: _Endpoint) -> None:
        import httpx

        super().__init__(endpoint)
        self.client = httpx.Client(verify=ssl.create_default_context())

    def close(self) -> None:
        self.client.close()

    def _exchange(
        self, path: str, body: bytes | None, headers: dict[str, str], deadline: float | None
    ) -> bytes:
        import httpx

        parts = self.endpoint.parts
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"
        try:
            response = self.client.request(
                self.endpoint.method,
                address,
                content=body,
                headers={**headers, "Accept-Encoding": "identity"},
                timeout=_left(deadline),
            )
        except httpx.TimeoutException:
            raise TimeoutError from None
        except httpx.HTTPError as error:
            raise _first_cause(error) from error
        _check_status(
            response.status_code, response.reason_phrase, response.headers, response.content
        )
        content: bytes = response.content
        return content


def _first_cause(error: BaseException) -> Exception:
    """The error of the system that a library's error was made from, as far as it can be seen."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, OSError):
        found = found.__cause__ or found.__context__
    return found or OSError(str(error))


def _left(deadline: float | None) -> float | None:
    """The seconds that are left until then."""
    left = None if deadline is None else deadline - time.monotonic()
    if left is not None and left <= 0:
        raise TimeoutError
    return left


def _check_status(
    status: int, reason: str, headers: Mapping[str, Any] | Any, content: bytes
) -> None:
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise AskFailed(
            "redirect",
            f"the address answers {status} and points to {headers.get('Location')!r}; redirects "
            "are not followed, give the final address",
            hopeless=True,
        )
    raise AskFailed(
        f"http {status}",
        f"the server answered {status} {reason}"
        + (f"; the answer begins with {beginning(content)!r}" if content.strip() else ""),
        retry=status in WORTH_RETRYING,
        after=_retry_after(headers.get("Retry-After")) if status in (429, 503) else None,
        hopeless=status in (401, 403, 405),
    )


def _retry_after(value: str | None, now: Callable[[], float] = time.time) -> float | None:
    """The seconds that a server asks us to wait, given as a number or as a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except ValueError:
        return None


def _explained(error: Exception, endpoint: _Endpoint) -> AskFailed:
    place = f"{endpoint.parts.hostname}:{endpoint.parts.port or endpoint.parts.scheme}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return AskFailed(
            "certificate",
            f"the certificate of {place} cannot be trusted ({error.verify_message}); name the "
            "file of its authority in the environment variable SSL_CERT_FILE",
            hopeless=True,
        )
    if isinstance(error, ssl.SSLError):
        return AskFailed(
            "tls",
            f"{place} does not speak TLS as expected ({error.reason}); is it http, not "
            "https, or does it ask for a client certificate?",
            hopeless=True,
        )
    if isinstance(error, ConnectionRefusedError):
        return AskFailed(
            "refused",
            f"{place} refuses connections; is the server running?",
            retry=True,
            hopeless=True,
        )
    if isinstance(error, ConnectionError | http.client.RemoteDisconnected):
        return AskFailed("reset", f"{place} closed the connection before answering", retry=True)
    if isinstance(error, http.client.IncompleteRead):
        return AskFailed("reset", f"{place} closed the connection in mid-answer", retry=True)
    if isinstance(error, http.client.HTTPException):
        return bad_answer(
            f"{place} does not speak HTTP: {type(error).__name__} {beginning(str(error))}"
        )
    return AskFailed(
        "unreachable",
        f"{place} cannot be reached: {getattr(error, 'strerror', None) or error}",
        retry=True,
        hopeless=True,
    )
