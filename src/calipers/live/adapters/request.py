"""The request that carries a question: a template, filled in for each."""

import re
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, unquote

import msgspec

from calipers.errors import InvalidInput
from calipers.live.adapters.secrets import LOOKS_SECRET, Secrets

QUERY, K = "{query}", "{k}"
_PLACE = re.compile(r"\{query\}|\{k\}|%7Bquery%7D|%7Bk%7D")


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
