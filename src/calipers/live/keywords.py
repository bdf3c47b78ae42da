"""How a retriever is asked, declared once: keywords that an editor completes and mypy checks."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from calipers.errors import InvalidInput
from calipers.setting import Setting

if TYPE_CHECKING:
    from calipers.live.entries import AnswerCounts

Progress = Callable[["AnswerCounts"], None]
"""Told the counts as they grow."""
Callbacks = AbstractContextManager[tuple[Any, Any]]
"""For the number of questions, and for the counts as they grow."""
Watch = Callable[[], Callbacks]
AskFor = Annotated[
    int | None,
    Setting(
        "Results to ask a retriever for. [default: as many as are looked at]",
        metavar="N",
        file="ask-for",
    ),
]
Workers = Annotated[
    int | None,
    Setting(
        "Questions asked at a time. [default: 8; 1 for a command]", metavar="N", file="workers"
    ),
]
Columns = Annotated[
    Any,
    Setting(
        "Which column is what, where its name does not say, such as item=expected_ids; may be "
        "given several times.",
        "--column",
        "FIELD=NAME",
        several=True,
        read=list,
        file="columns",
    ),
]
"""In Python also a mapping, such as {"item": "expected_ids"}."""


class Patience(TypedDict, total=False):
    """How fast and how patiently something is asked, and who is told of it."""

    timeout: float | None
    """Seconds per question; None: as long as it takes."""
    retries: int
    """Further attempts after lost connections, timeouts, 429 and 5xx."""
    rate: float | None
    """Questions per second at most."""
    max_errors: int | None
    """Stop when more than so many questions fail."""
    progress: Progress | None
    """Told the counts as they grow."""
    total: Callable[[int], None] | None
    """Told once how many questions there are."""


class RetrieverOptions(TypedDict, total=False):
    """What a kind of retriever takes, and where in its answers to look."""

    batch: int | None
    """A function: how many questions it takes at once."""
    params: Mapping[str, Any] | None
    """A function: what it is given by name with every call."""
    request: Any
    """An address: the JSON to send, with {query} and {k} in it."""
    method: str | None
    """An address: GET, POST or PUT."""
    headers: Mapping[str, str] | None
    """An address: headers to send; $NAME is an environment variable."""
    embed: Callable[[str], Any] | None
    """A vector store: a function from a text to a vector."""
    ids: Sequence[Any] | None
    """FAISS: the id of each vector, in the order in which they were added."""
    texts: Sequence[str] | None
    """FAISS: the text of each vector, in the same order."""
    collection: str | None
    """Qdrant: the name of the collection."""
    using: str | None
    """Qdrant: the name of the vector."""
    stage_components: Sequence[str] | None
    """Haystack: components whose documents are kept as earlier stages."""
    results: str | None
    """The path of the list of results in an answer, such as "$.hits[*]"."""
    id: str | None
    """The path of the id in a result; the next six are like it."""
    score: str | None
    text: str | None
    document: str | None
    start: str | None
    end: str | None
    tokens: str | None
    stages: Mapping[str, str] | None
    """The path of each earlier stage's results, by the name of the stage."""


class Retrieving(Patience, RetrieverOptions, total=False):
    """Everything that says how a retriever is asked."""

    warm_up: int | None
    """First questions to keep out of the latencies; None: one per worker, at most a tenth."""
    cache: str | os.PathLike[str] | None
    """A file that keeps answers between runs."""
    label: str | None
    """A name for this version of the retriever: answers of another version are not reused."""
    restart: bool
    """Begin again, replacing the output."""
    resume: bool
    """Go on with the output as it is, also where it is finished or the code has changed."""
    keep: bool
    """Leave a finished output as it is where neither settings nor code have changed."""
    retry_errors: bool
    """Ask the questions again that failed before."""
    columns: Any
    """Which field of the questions is what, where its name does not say: {"query": "frage"}."""


class AskingModel(Patience, total=False):
    """How a language model is asked."""

    workers: int
    """Prompts asked at a time."""
    cache: str | os.PathLike[str] | None
    """A folder that keeps answers: no prompt is asked twice."""


@contextmanager
def callbacks(watch: Callable[..., Callbacks] | None, *about: Any) -> Iterator[tuple[Any, Any]]:
    """The two callbacks while questions are asked; none where nobody watches.

    >>> with callbacks(None) as (total, progress):
    ...     print(total, progress)
    None None
    """
    if watch is None:
        yield None, None
        return
    given = _called(watch, *about)
    if not isinstance(given, AbstractContextManager):
        raise _wrong(given)
    with given as pair:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise _wrong(pair)
        yield pair


def _called(watch: Callable[..., Callbacks], *about: Any) -> Any:
    try:
        return watch(*about)
    except Exception as error:
        raise InvalidInput(
            f"The function given as watch failed: {type(error).__name__}: {error!s:.200}"
        ) from error


def _wrong(given: Any) -> InvalidInput:
    return InvalidInput(
        f"The function given as watch returned {given!r:.60}; it returns a context manager that "
        "gives two callbacks, for the number of questions and for the counts as they grow."
    )
