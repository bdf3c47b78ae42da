"""What every kind of retriever is made of, so that one driver can ask them all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from calipers.live.adapters.secrets import Secrets
from calipers.live.answers import Layout

WORKERS = 8


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
