"""What every kind of retriever is made of, so that one driver can ask them all.

Secrets come from environment variables at run time, and never go out again.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from calipers.errors import InvalidInput
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
"""Anything shorter hides nothing and would tear holes into sentences."""
SHORTEST_IN_ENVIRONMENT = 8
"""Secrets of the environment are only guessed by their names, so short words are left alone."""


class Question(NamedTuple):
    """One question: the id under which it is measured, and the text that is asked."""

    id: str
    text: str


class Session:
    """One worker's own way to the retriever: a connection, a process, or nothing at all."""

    def prepare(self) -> None:
        """Start what must run before a question can be asked; no question's time goes by."""

    def ask(self, questions: Sequence[Question], k: int, timeout: float | None) -> Sequence[Any]:
        """What came back for each question, in any shape; raises where nothing did."""
        return [self.ask_one(question, k, timeout) for question in questions]

    def ask_one(self, question: Question, k: int, timeout: float | None) -> Any:
        """What came back for one."""
        raise NotImplementedError

    def close(self) -> None:
        """Close whatever is held open."""


class Secrets:
    """The values that must never be shown, and how to take them out of a text."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._values: set[str] = set()

    def add(self, *values: str) -> None:
        """Never show these from now on."""
        self._values.update(value for value in values if len(value) >= SHORTEST)

    def expand(self, text: str, where: str) -> str:
        """The text with ``$NAME`` and ``${NAME}`` filled in; ``$$`` is a plain dollar.

        >>> secrets = Secrets({"TOKEN": "abc123"})
        >>> secrets.expand("Bearer $TOKEN", "--header")
        'Bearer abc123'
        >>> secrets.redact("the server said: abc123 is not valid")
        'the server said: *** is not valid'
        """

        def value(found: re.Match[str]) -> str:
            if found[1]:
                return "$"
            name = found[2] or found[3]
            known = self._environment.get(name)
            if known is None:
                raise InvalidInput(
                    f"The environment variable {name} is not set, and {where} needs it; set it "
                    f"(export {name}=…), or write $$ for a plain dollar."
                )
            self.add(known)
            return known

        return _VARIABLE.sub(value, text)

    def redact(self, text: str) -> str:
        """The text of an error with every secret replaced."""
        # A user's own code may put a key from its environment into the message of an error.
        guessed = (
            value
            for name, value in self._environment.items()
            if len(value) >= SHORTEST_IN_ENVIRONMENT and LOOKS_SECRET.search(name)
        )
        for form in _forms({*self._values, *guessed}):
            text = text.replace(form, HIDDEN)
        return text

    def redact_line(self, line: bytes) -> bytes:
        """A line of JSON with every named secret replaced, wherever a server may echo it."""
        for form in _forms(self._values):
            line = line.replace(form.encode(), HIDDEN.encode())
        return line


def _forms(values: Iterable[str]) -> Iterator[str]:
    """Secrets as they may turn up, long ones first: plain, escaped in JSON or in an address."""
    for value in sorted(values, key=len, reverse=True):
        escaped = msgspec.json.encode(value).decode()[1:-1]
        yield from dict.fromkeys((value, escaped, quote(value, safe=""), quote(value)))


def secrets_in(value: Any) -> Secrets:
    """The values of fields that look secret, never to be shown.

    >>> secrets_in({"api_key": "abc123"}).redact("key abc123 is not known")
    'key *** is not known'
    """
    found, left = Secrets(), [value]
    while left:
        one = left.pop()
        for name, inner in one.items() if isinstance(one, Mapping) else ():
            if LOOKS_SECRET.search(str(name)) and isinstance(inner, str | int | float):
                found.add(str(inner))
            else:
                left.append(inner)
    return found


def without_secrets(value: Any) -> Any:
    """Settings with the values of fields that look secret hidden, for the record.

    >>> without_secrets({"q": "{query}", "api_key": "abc"})
    {'q': '{query}', 'api_key': '***'}
    """
    if isinstance(value, Mapping):
        return {
            name: HIDDEN
            if LOOKS_SECRET.search(str(name)) and one not in (None, True, False)
            else without_secrets(one)
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(one) for one in value]
    return value


def settings_of(name: str, layout: Layout, **about: Any) -> dict[str, Any]:
    """What decides the answers of a retriever, for the record; what is not given is left out."""
    given = {key: without_secrets(value) for key, value in about.items() if value}
    return {"retriever": name, **given, **layout.to_dict()}


@dataclass(frozen=True, eq=False)
class Retriever:
    """A retriever of any kind, ready to be asked."""

    name: str
    """For messages and for the name of the run; holds no secret."""
    settings: Mapping[str, Any]
    """What decides its answers, without secrets: a run with other settings is another run."""
    open: Callable[[], Session]
    code: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint of each file it is written in, where that can be seen (``code.code_of``)."""
    layout: Layout = field(default_factory=Layout)
    secrets: Secrets = field(default_factory=Secrets)
    batch: int = 1
    """How many questions it takes at once."""
    workers: int = WORKERS
    """How many workers ask it where the caller does not say."""
    keeps_time: bool = False
    """Whether its sessions end a call at the timeout by themselves."""
    close: Callable[[], None] = lambda: None
    """Closes what is held open beside the sessions."""
