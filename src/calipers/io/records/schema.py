"""Our own JSON, as it is decoded: one record per query, with its results and targets."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from calipers.errors import InvalidInput
from calipers.model.run import MOST_RESULTS

MOST = msgspec.Meta(max_length=MOST_RESULTS)

Id = str | int
PlainRecord = Mapping[str, object]
"""A record as our JSON has it: a query, and its results, its targets, or both."""
At = Callable[[], str]
"""Returns the place of a row in words; called only when needed."""
Place = Callable[[int], str]
"""Maps the number of a record to the place it was read from."""

EXAMPLE = '{"query": …, "retrieved": […], "ground_truth": {…}}'


class JsonResult(msgspec.Struct):
    """One retrieved item as an object."""

    id: Id | None = None
    score: float | None = None
    text: str | None = None
    document: Id | None = None
    start: int | None = None
    end: int | None = None
    page: str | int | float | None = None
    tokens: int | None = None
    title: Any = None
    call: int | None = None
    """The retriever call that returned it, from 1, if an agent makes several."""
    rank: int | float | str | None = None
    """Not used, as results are listed in order; but it must agree with that order."""


class JsonTarget(msgspec.Struct):
    """One target as an object."""

    id: Id | None = None
    quote: str | None = None
    document: Id | None = None
    start: int | None = None
    end: int | None = None
    page: str | int | float | None = None
    grade: float | msgspec.UnsetType = msgspec.UNSET
    """1 where none is given."""
    group: Id | None = None


Tag = str | int | float | bool | None
ResultList = Annotated[list[Id | JsonResult], MOST] | dict[str, float]
TargetList = Annotated[list[Id | JsonTarget], MOST] | dict[str, float]


class Asked(msgspec.Struct):
    """The question of a record and its id, under any of their names.

    BEIR writes ``_id`` and ``text``, others ``query_id`` or ``qid``. The first name found counts.
    """

    query: Id | None = None
    id: Id | None = None
    question: str | None = None
    text: str | None = None
    beir_id: Id | dict[str, Any] | None = msgspec.field(default=None, name="_id")
    """Databases put other objects there, which are no ids of questions."""
    query_id: Id | None = None
    qid: Id | None = None


class JsonRecord(Asked):
    """One query with its results and its targets."""

    retrieved: ResultList | None = None
    ground_truth: TargetList | None = None
    forbidden: Annotated[list[Id | JsonTarget], MOST] | None = None
    excluded: Annotated[list[Id | JsonTarget], MOST] | None = None
    tags: dict[str, Tag] | None = None
    latency_ms: float | None = None
    error: str | None = None
    stages: dict[str, list[Id | JsonResult] | dict[str, float]] | None = None
    missing_from: Literal["run", "ground_truth"] | None = None
    """The side without this query, which is not the same as an empty list."""
    judged_only: Literal["returned"] | None = None
    """Says that only what was returned was judged, so that nobody knows what was missed."""


def question_and_id(row: Asked) -> tuple[Id | None, Id | None]:
    """The question and its id, under any of their names.

    >>> question_and_id(Asked(text="Who?", beir_id="q1"))
    ('Who?', 'q1')
    """
    question = row.query
    name = row.id
    if question is None:
        question = row.text if row.question is None else row.question
    if name is None and not isinstance(row.beir_id, dict):
        name = row.beir_id
    if name is None:
        name = row.qid if row.query_id is None else row.query_id
    return question, name


def named_question(row: Asked, at: At) -> tuple[Id, Id | None]:
    """The question of a record, and its id if it has one; refused without either."""
    question, name = question_and_id(row)
    question = name if question is None else question
    if question is None:
        raise InvalidInput(
            f"A required field is missing at {at()}: no 'query'; a record is {EXAMPLE}."
        )
    return question, name


_StrictResult = msgspec.defstruct(
    "_StrictResult", [], bases=(JsonResult,), forbid_unknown_fields=True
)
_StrictTarget = msgspec.defstruct(
    "_StrictTarget", [], bases=(JsonTarget,), forbid_unknown_fields=True
)
_Results = Annotated[list[Id | _StrictResult], MOST] | dict[str, float]  # type: ignore[valid-type]
_Targets = Annotated[list[Id | _StrictTarget], MOST] | dict[str, float]  # type: ignore[valid-type]

StrictRecord = msgspec.defstruct(
    "StrictRecord",
    [
        ("retrieved", _Results | None, None),
        ("ground_truth", _Targets | None, None),
        ("forbidden", list[Id | _StrictTarget] | None, None),  # type: ignore[valid-type]
        ("excluded", list[Id | _StrictTarget] | None, None),  # type: ignore[valid-type]
        ("stages", dict[str, _Results] | None, None),
    ],
    bases=(JsonRecord,),
    forbid_unknown_fields=True,
)
"""A record with only our fields; tried first, as most records are like this."""
