"""Settings for querying a retriever, declared once: editors complete and mypy checks them."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.input_types import ColumnsInput, known_as
from calipers.operation import ASKING, PYTHON, READING, Setting, Settings

if TYPE_CHECKING:
    from calipers.live.run_file import AnswerCounts
else:
    AnswerCounts = known_as("calipers.live.run_file.AnswerCounts")

Watch = Callable[[AnswerCounts, int], None]
Watched = Annotated[
    Watch | None,
    Setting(
        "Called while a retriever is asked, with the counts and the number of questions.",
        only=PYTHON,
        changes_nothing=True,
    ),
]


def _pairs(
    texts: tuple[str, ...], divider: str, option: str, example: str
) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, divided, value = text.partition(divider)
        if not divided or not name.strip():
            # The value may be a secret, so it is not repeated here.
            raise InvalidInput(
                f"A value of {option} cannot be read: there is no {divider!r} in it; "
                f"write it as {option} '{example}'."
            )
        pairs[name.strip()] = value.strip()
    return pairs


def _params(texts: tuple[str, ...]) -> dict[str, object]:
    """Parse each parameter as a number or a boolean, else keep the text."""
    import msgspec

    params: dict[str, object] = {}
    for name, text in _pairs(texts, "=", "--param", "index=small").items():
        try:
            params[name] = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            params[name] = text
    return params


_number = partial(Setting, metavar="N", group=ASKING)
_python = partial(Setting, only=PYTHON)
MOST_RESULTS = 100_000
"""Most results that may be requested; a larger number is surely a typo."""
AskFor = Annotated[
    int | None,
    _number(
        "Results to ask a retriever for. [default: as many as are looked at]",
        file="ask-for",
        least=1,
        most=MOST_RESULTS,
        needs=("retriever",),
        recorded=True,
    ),
]
Workers = Annotated[
    int | None,
    _number(
        "Questions asked at a time. [default: 8; 1 for a command]",
        file="workers",
        needs=("retriever",),
        changes_nothing=True,
    ),
]
ColumnNames = Annotated[
    ColumnsInput | None,
    Setting(
        "Which column is what, where its name does not say, such as item=expected_ids; "
        "may be given several times.",
        "--column",
        "FIELD=NAME",
        several=True,
        read=list,
        file="columns",
        group=READING,
        recorded=True,
        unchecked=True,
        pairs=(
            ("sheet", "The sheet of an Excel file to read. [default: the first]"),
            ("grades", "The grades that words stand for, such as good=1,bad=0."),
            ("distance", "The column of distances: the smallest comes first."),
        ),
    ),
]
"""In Python also a mapping, such as {"item": "expected_ids"}."""


Text = str | None
Place = str | os.PathLike[str] | None
_asking = partial(Setting, group=ASKING)


@dataclass(frozen=True, kw_only=True)
class Patience(Settings):
    """Retries, and the progress callback."""

    retries: Annotated[
        int, _number("Attempts after a lost connection, a timeout, 429 or 5xx.")
    ] = 2
    watch: Watched = None


def _place(what: str) -> Setting:
    return Setting(f"Where in a result its {what} is.", metavar="PATH", group=READING)


@dataclass(frozen=True, kw_only=True)
class RetrieverOptions(Settings):
    """Options of each type of retriever, and the paths into its answers."""

    params: Annotated[
        Mapping[str, Any] | None,
        _asking(
            "For a function: a further argument; may be given several times.",
            "--param",
            "NAME=VALUE",
            several=True,
            read=_params,
        ),
    ] = None
    request: Annotated[
        Any,
        _asking(
            'For an address or a tool: what to send, such as \'{"q": "{query}", "top": "{k}"}\'.',
            metavar="JSON",
        ),
    ] = None
    headers: Annotated[
        Mapping[str, str] | None,
        Setting(
            "For an address: a header to send. $NAME in it is an environment variable, "
            "whose value is never written anywhere.",
            "--header",
            "'NAME: VALUE'",
            several=True,
            read=lambda texts: _pairs(
                texts, ":", "--header", "Authorization: Bearer $TOKEN"
            ),
        ),
    ] = None
    results: Annotated[
        Text, Setting("Where the results are, such as '$.hits[*]'.", "", "PATH")
    ] = None
    id: Annotated[Text, _place("id")] = None
    score: Annotated[Text, _place("score")] = None
    text: Annotated[Text, _place("text")] = None
    document: Annotated[Text, _place("document")] = None
    start: Annotated[Text, _place("start in the document")] = None
    end: Annotated[Text, _place("end in the document")] = None
    page: Annotated[Text, _place("page")] = None
    tokens: Annotated[Text, _python("Where in a result its tokens are.")] = None
    stages: Annotated[
        Mapping[str, str] | None,
        Setting(
            "Where an earlier stage's results are, such as 'candidates=$.candidates[*]'.",
            "--stage",
            "NAME=PATH",
            several=True,
            read=lambda texts: _pairs(
                texts, "=", "--stage", "candidates=$.candidates[*]"
            ),
            group=READING,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Retrieving(Settings):
    """All settings for querying a retriever."""

    patience: Patience = Patience()
    options: RetrieverOptions = RetrieverOptions()

    timeout: Annotated[
        float | None, Setting("Give up on a question after so long.", "", "SECONDS")
    ] = 30.0
    """None: no limit."""
    retry_errors: Annotated[bool, Setting("Ask the failed questions again.")] = False
    restart: Annotated[bool, Setting("Begin again, replacing the output.")] = False
    columns: ColumnNames = None


@dataclass(frozen=True, kw_only=True)
class AskingModel(Settings):
    """The language model to query, and how."""

    patience: Patience = Patience()

    endpoint: Annotated[
        str,
        Setting("An OpenAI-compatible address: http://127.0.0.1:8000/v1.", "", "ADDRESS"),
    ]
    model: Annotated[str, Setting("The name of the model.", metavar="NAME")]
    key_env: Annotated[
        Text, Setting("The environment variable that holds the key.", metavar="VARIABLE")
    ] = None
    """Its value is never written anywhere."""
    timeout: Annotated[
        float | None, Setting("Give up on a prompt after so long.", "", "SECONDS")
    ] = 60.0
    workers: Annotated[int, Setting("Prompts asked at a time.", metavar="N")] = 4
    cache: Annotated[
        Place,
        Setting(
            "Keep answers in this folder, and ask no prompt twice. [default: "
            ".calipers/answers]",
            "--cache-folder",
            "FOLDER",
        ),
    ] = None
    """In Python no answers are kept unless a folder is named."""
