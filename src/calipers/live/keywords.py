"""How a retriever is asked, declared once: keywords that an editor completes and mypy checks."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from calipers.errors import InvalidInput
from calipers.operation import ASKING, PYTHON, READING, Setting

if TYPE_CHECKING:
    from calipers.live.run_file import AnswerCounts

Progress = Callable[["AnswerCounts"], None]
"""Told the counts as they grow."""
Callbacks = AbstractContextManager[tuple[Any, Any]]
"""For the number of questions, and for the counts as they grow."""
Watch = Callable[[], Callbacks]


def _pairs(given: tuple[str, ...], divider: str, option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        name, divided, value = text.partition(divider)
        if not divided or not name.strip():
            # The value may be a secret, so it is not repeated here.
            raise InvalidInput(
                f"A value of {option} cannot be read: there is no {divider!r} in it; write it as "
                f"{option} '{example}'."
            )
        found[name.strip()] = value.strip()
    return found


def _params(given: tuple[str, ...]) -> dict[str, Any]:
    """Each parameter as the number or the truth value it spells, else the text."""
    import msgspec

    found: dict[str, Any] = {}
    for name, text in _pairs(given, "=", "--param", "index=small").items():
        try:
            found[name] = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            found[name] = text
    return found


_number = partial(Setting, metavar="N", group=ASKING)
_python = partial(Setting, only=PYTHON)
MOST_RESULTS = 100_000
"""Results that a retriever may be asked for: what is beyond is a slip of the hand."""
AskFor = Annotated[
    int | None,
    _number(
        "Results to ask a retriever for. [default: as many as are looked at]",
        file="ask-for",
        least=1,
        most=MOST_RESULTS,
        needs=("retriever", "retrievers"),
        recorded=True,
    ),
]
Workers = Annotated[
    int | None,
    _number(
        "Questions asked at a time. [default: 8; 1 for a command]",
        file="workers",
        needs=("retriever", "retrievers"),
        changes_nothing=True,
    ),
]
ColumnNames = Annotated[
    Any,
    Setting(
        "Which column is what, where its name does not say, such as item=expected_ids; may be "
        "given several times.",
        "--column",
        "FIELD=NAME",
        several=True,
        read=list,
        file="columns",
        group=READING,
        recorded=True,
        pairs=(
            ("sheet", "The sheet of an Excel file to read. [default: the first]"),
            ("grades", "The grades that words stand for, such as good=1,bad=0."),
            ("distance", "The column of distances: the smallest comes first."),
        ),
    ),
]
"""In Python also a mapping, such as {"item": "expected_ids"}."""


class Patience(TypedDict, total=False):
    """How patiently something is asked, and who is told of it."""

    retries: Annotated[
        int,
        _number(
            "Ask again after a lost connection, a timeout, 429 or 5xx; with a growing pause. "
            "[default: 2]",
            default=2,
        ),
    ]
    max_errors: Annotated[int | None, _number("Stop when more than N fail.")]
    progress: Annotated[Progress | None, _python("Told the counts as they grow.")]
    total: Annotated[
        Callable[[int], None] | None, _python("Told once how many questions there are.")
    ]


def _place(what: str) -> Setting:
    return Setting(f"Where in a result its {what} is.", metavar="PATH", group=READING)


class RetrieverOptions(TypedDict, total=False):
    """What a kind of retriever takes, and where in its answers to look."""

    batch: Annotated[
        int | None, _number("For a function that takes a list: give it N questions at once.")
    ]
    params: Annotated[
        Mapping[str, Any] | None,
        Setting(
            "For a function or a tool: a further argument; may be given several times.",
            "--param",
            "NAME=VALUE",
            several=True,
            read=_params,
            group=ASKING,
        ),
    ]
    request: Annotated[
        Any,
        Setting(
            'For an address or a tool: what to send, such as \'{"q": "{query}", "top": "{k}"}\'.',
            metavar="JSON",
            group=ASKING,
        ),
    ]
    method: Annotated[
        str | None,
        Setting(
            "For an address: how to ask it. [default: POST with --request, else GET]",
            metavar="GET|POST|PUT",
            group=ASKING,
        ),
    ]
    headers: Annotated[
        Mapping[str, str] | None,
        Setting(
            "For an address: a header to send. $NAME in it is an environment variable, whose "
            "value is never written anywhere.",
            "--header",
            "'NAME: VALUE'",
            several=True,
            read=lambda given: _pairs(given, ":", "--header", "Authorization: Bearer $TOKEN"),
        ),
    ]
    embed: Annotated[
        Callable[[str], Any] | None, _python("A vector store: a function from a text to a vector.")
    ]
    ids: Annotated[
        Sequence[Any] | None,
        _python(
            "FAISS, bm25s: the id of each vector or text, in the order in which they were added."
        ),
    ]
    texts: Annotated[Sequence[str] | None, _python("FAISS, bm25s: the texts, in the same order.")]
    tokenize: Annotated[
        Callable[[str], Any] | None,
        _python("bm25s: the function from a text to its tokens that the index was made with."),
    ]
    collection: Annotated[str | None, _python("Qdrant: the name of the collection.")]
    using: Annotated[str | None, _python("Qdrant: the name of the vector.")]
    stage_components: Annotated[
        Sequence[str] | None,
        _python("Haystack: components whose documents are kept as earlier stages."),
    ]
    results: Annotated[
        str | None, Setting("Where the results are, such as '$.hits[*]'.", metavar="PATH")
    ]
    id: Annotated[str | None, _place("id")]
    score: Annotated[str | None, _place("score")]
    text: Annotated[str | None, _place("text")]
    document: Annotated[str | None, _place("document")]
    start: Annotated[str | None, _place("start in the document")]
    end: Annotated[str | None, _place("end in the document")]
    page: Annotated[str | None, _place("page")]
    version: Annotated[str | None, _python("Where in a result its version is.")]
    tokens: Annotated[str | None, _python("Where in a result its tokens are.")]
    stages: Annotated[
        Mapping[str, str] | None,
        Setting(
            "Where an earlier stage's results are, such as 'candidates=$.candidates[*]'.",
            "--stage",
            "NAME=PATH",
            several=True,
            read=lambda given: _pairs(given, "=", "--stage", "candidates=$.candidates[*]"),
            group=READING,
        ),
    ]


class Retrieving(Patience, RetrieverOptions, total=False):
    """Everything that says how a retriever is asked."""

    timeout: Annotated[
        float | None,
        Setting(
            "Give up on a question after so long. [default: 30.0]", metavar="SECONDS", default=30.0
        ),
    ]
    """None: as long as it takes."""
    rate: Annotated[float | None, Setting("Questions per second at most.", metavar="N")]
    warm_up: Annotated[
        int | None,
        _number(
            "First questions to keep out of the latencies. [default: one per worker, at most a "
            "tenth of all]"
        ),
    ]
    retry_errors: Annotated[bool, Setting("Ask the failed questions again.", default=False)]
    restart: Annotated[
        bool,
        Setting("Begin again, replacing the output.", default=False, excludes=("resume", "keep")),
    ]
    resume: Annotated[
        bool,
        Setting(
            "Go on with the output as it is, also where it is finished or code has changed.",
            default=False,
            excludes=("keep",),
            group=ASKING,
        ),
    ]
    keep: Annotated[
        bool,
        Setting(
            "Leave a finished output as it is where neither settings nor code have changed.",
            default=False,
            group=ASKING,
        ),
    ]
    cache: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "Keep answers in this file, and ask no question twice with the same settings.",
            "--cache-file",
            "FILE",
        ),
    ]
    label: Annotated[
        str | None, Setting("A name for this version of the retriever.", metavar="TEXT")
    ]
    """Answers of another version are not reused."""
    columns: ColumnNames


class AskingModel(Patience, total=False):
    """How a language model is asked."""

    timeout: Annotated[
        float | None,
        Setting(
            "Give up on a prompt after so long. [default: 60.0]", metavar="SECONDS", default=60.0
        ),
    ]
    rate: Annotated[float | None, Setting("Prompts per second at most.", metavar="N")]
    workers: Annotated[
        int, Setting("Prompts asked at a time. [default: 4]", metavar="N", default=4)
    ]
    cache: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "Keep answers in this folder, and ask no prompt twice. [default: .calipers/answers]",
            "--cache-folder",
            "FOLDER",
        ),
    ]
    """In Python no answers are kept unless a folder is named."""


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
