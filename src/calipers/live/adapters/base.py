"""What every kind of retriever is made of, so that one driver can ask them all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import msgspec

from calipers.live.adapters.layout import Layout
from calipers.live.adapters.secrets import Secrets

WORKERS = 8
LARGEST_ANSWER = 64 << 20
"""Bytes of one answer, over HTTP or as a line of a command."""
TOO_LARGE = f"the answer is larger than {LARGEST_ANSWER >> 20} MB"


class Question(NamedTuple):
    """One question: the id under which it is measured, and the text that is asked."""

    id: str
    text: str


class Session(Protocol):
    """One worker's own way to the retriever: a connection, a process, or nothing at all."""

    def ask(self, questions: Sequence[Question], k: int, timeout: float | None) -> Sequence[Any]:
        """What came back for each question, in any shape; raises where nothing did."""

    def close(self) -> None:
        """Close whatever is held open."""


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


class AskFailed(Exception):
    """One question got no usable answer; recorded and counted, never the end of the run."""

    def __init__(
        self,
        kind: str,
        sentence: str,
        *,
        retry: bool = False,
        after: float | None = None,
        hopeless: bool = False,
    ) -> None:
        super().__init__(f"{kind}: {sentence}")
        self.kind = kind
        """A word or two by which errors are counted."""
        self.sentence = sentence
        self.retry = retry
        """Whether asking again may help."""
        self.after = after
        """Seconds that the retriever asked us to wait before that."""
        self.hopeless = hopeless
        """Whether every other question would fail the same way."""


def decoded(content: bytes, what: str) -> Any:
    """The value that an answer writes as JSON; ``what`` names the answer in an error."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AskFailed(
            "bad answer", f"{what} is not JSON; it begins with {beginning(content)!r}"
        ) from None


def beginning(value: Any, limit: int = 160) -> str:
    """The beginning of what came, for an error."""
    if isinstance(value, bytes):
        value = value[: 4 * limit].decode(errors="replace")
    if isinstance(value, str):
        text = value
    else:
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a broken repr of a user's object must not hide the error
            text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
