"""The interface that every adapter implements, so that one driver can query any retriever.

Secrets come from environment variables at run time and are never written to any output.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.live.answers import Layout

WORKERS = 8
HIDDEN = "***"
LOOKS_SECRET = re.compile(
    r"pass(word|wd|phrase)?$|pwd$|^pw$|[_-]pw$|secret|token$|jwt|bearer|session([_-]?id)?$|^code$|api[_-]?key|^key$|[_-]key$|(access|account|master|private|shared|signing|subscription)key$|credential|authori[sz]ation"
    r"|^auth$|^sig(nature)?$|cookie",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)\}|([A-Za-z_]\w*))")
SHORTEST = 4
"""Shorter values are not redacted: they would match ordinary words."""
SHORTEST_IN_ENVIRONMENT = 8
"""Secrets in the environment are only guessed by name, so short values are left alone."""


class Question(NamedTuple):
    """One question: its query id, and the text to send."""

    id: str
    text: str


class Session:
    """One worker's access to the retriever: a connection, a process, or nothing at all."""

    waited = 0.0
    """Seconds of the last call after its answer had come; not counted in any latency."""

    def prepare(self) -> None:
        """Start whatever must run before the first question; not counted in any latency."""

    def ask(self, question: Question, k: int, timeout: float | None) -> object:
        """Return the raw answer to a question, in any shape; raise if there is none."""
        raise NotImplementedError

    def finish(self) -> None:
        """Check, after the last question, that nothing is left over; raise to stop the run."""

    def close(self) -> None:
        """Close whatever is open."""


class Secrets:
    """Values that must never be shown, and how to redact them from a text."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._values: set[str] = set()

    def add(self, *values: str) -> None:
        """Redact these values from now on."""
        self._values.update(value for value in values if len(value) >= SHORTEST)

    def expand(self, text: str, where: str) -> str:
        """The text with ``$NAME`` and ``${NAME}`` filled in; ``$$`` is a plain dollar.

        >>> secrets = Secrets({"TOKEN": "abc123"})
        >>> secrets.expand("Bearer $TOKEN", "--header")
        'Bearer abc123'
        >>> secrets.redact("the server said: abc123 is not valid")
        'the server said: *** is not valid'
        """

        def value(match: re.Match[str]) -> str:
            if match[1]:
                return "$"
            name = match[2] or match[3]
            known = self._environment.get(name)
            if known is None:
                raise InvalidInput(
                    f"The environment variable {name} is not set, and {where} needs it; "
                    f"set it (export {name}=…), or write $$ for a plain dollar."
                )
            self.add(known)
            return known

        return _VARIABLE.sub(value, text)

    def redact(self, text: str) -> str:
        """The text of an error with every secret replaced."""
        # A user's own code may put a key from its environment into the message of an
        # error.
        guessed = (
            value
            for name, value in self._environment.items()
            if len(value) >= SHORTEST_IN_ENVIRONMENT and LOOKS_SECRET.search(name)
        )
        for spelling in _spellings({*self._values, *guessed}):
            text = text.replace(spelling, HIDDEN)
        return text

    def redact_line(self, line: bytes) -> bytes:
        """A line of JSON with every named secret replaced, wherever a server may echo it."""
        for spelling in _spellings(self._values):
            line = line.replace(spelling.encode(), HIDDEN.encode())
        return line


def _spellings(values: Iterable[str]) -> Iterator[str]:
    """Spellings of each secret, longest first: plain, JSON-escaped and URL-escaped."""
    for value in sorted(values, key=len, reverse=True):
        escaped = msgspec.json.encode(value).decode()[1:-1]
        yield from dict.fromkeys((value, escaped, quote(value, safe=""), quote(value)))


def secrets_in(value: object) -> Secrets:
    """Collect the values of fields that look secret, to be redacted.

    >>> secrets_in({"api_key": "abc123"}).redact("key abc123 is not known")
    'key *** is not known'
    """
    secrets = Secrets()
    left = [value]
    while left:
        current = left.pop()
        for name, inner in current.items() if isinstance(current, Mapping) else ():
            if LOOKS_SECRET.search(str(name)) and isinstance(inner, str | int | float):
                secrets.add(str(inner))
            else:
                left.append(inner)
    return secrets


def shown_value(name: str, value: object) -> object:
    """The value of a field, hidden if its name looks secret.

    >>> shown_value("q", "abc"), shown_value("api_key", "abc")
    ('abc', '***')
    """
    if LOOKS_SECRET.search(name) and value not in (None, True, False):
        return HIDDEN
    return without_secrets(value)


def without_secrets(value: object) -> object:
    """Settings for the run record, with the values of fields that look secret hidden.

    >>> without_secrets({"q": "{query}", "api_key": "abc"})
    {'q': '{query}', 'api_key': '***'}
    """
    if isinstance(value, Mapping):
        return {name: shown_value(str(name), member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(member) for member in value]
    return value


def settings_of(name: str, layout: Layout, **about: object) -> dict[str, object]:
    """Settings that decide a retriever's answers, for the run record; unset ones are left out."""
    shown = {key: without_secrets(value) for key, value in about.items() if value}
    return {"retriever": name, **shown, **layout.to_dict()}


@dataclass(frozen=True, eq=False)
class Retriever:
    """A retriever of any type, ready to be queried."""

    name: str
    """For messages and for the name of the run; holds no secret."""
    settings: Mapping[str, object]
    """Settings that decide its answers, without secrets; other settings make another
    run."""
    open: Callable[[], Session]
    code: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each of its source files, where known (``code.code_of``)."""
    layout: Layout = field(default_factory=Layout)
    secrets: Secrets = field(default_factory=Secrets)
    workers: int = WORKERS
    """Default number of workers."""
    keeps_time: bool = False
    """Whether its sessions end a call at the timeout by themselves."""
    remark: Callable[[], str | None] = lambda: None
    """What ``--check`` says about its answers, beyond how they are read."""
