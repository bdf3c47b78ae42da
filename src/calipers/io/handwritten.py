"""Our records as people write them: the question and its id have other common names too."""

from collections.abc import Callable
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records import EXAMPLE, Id, Record


class Handwritten(Record):
    """A record whose question may be called ``question`` or ``text``, and its id ``_id``.

    BEIR writes ``_id`` and ``text``. The first name that is there counts.
    """

    query: Id | None = None  # type: ignore[assignment]
    question: str | None = None
    text: str | None = None
    beir_id: Id | dict[str, Any] | None = msgspec.field(default=None, name="_id")
    """Also what databases put there, which is no id of a question."""


class Asked(msgspec.Struct):
    """The part of such a record that is asked, for those who need no more of it."""

    query: Id | None = None
    id: Id | None = None
    question: str | None = None
    text: str | None = None
    beir_id: Id | dict[str, Any] | None = msgspec.field(default=None, name="_id")


def question_and_id(row: Handwritten | Asked) -> tuple[Id | None, Id | None]:
    """The question and its id, under whichever of their names they are given.

    >>> question_and_id(Asked(text="Who?", beir_id="q1"))
    ('Who?', 'q1')
    """
    question, name = row.query, row.id
    if question is None:
        question = row.text if row.question is None else row.question
    if name is None and not isinstance(row.beir_id, dict):
        name = row.beir_id
    return question, name


def as_record(row: Handwritten, at: Callable[[], str]) -> Record:
    """The record under our names; without a question it is an error."""
    question, row.id = question_and_id(row)
    if question is None:
        raise InvalidInput(
            f"A required field is missing at {at()}: no 'query'; a record is {EXAMPLE}."
        )
    row.query = question
    return row


def passed_over(row: Handwritten) -> tuple[str, ...]:
    """The other names under which a record holds something else."""
    question = row.query if row.query is not None else row.question
    return tuple(
        name
        for name, value, ours in (
            ("question", row.question, row.query),
            ("text", row.text, question),
            ("_id", row.beir_id, row.id),
        )
        if value is not None and (ours is not None or isinstance(value, dict))
    )
