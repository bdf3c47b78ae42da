"""A language model as a first judge; what it says is marked as its own."""

import os
from collections.abc import Iterable
from typing import Any, Unpack

from calipers.errors import InvalidInput
from calipers.io.records.label_files import read_labels
from calipers.live.chat.client import Reply, ask_model, chat_model
from calipers.live.chat.prompts import JUDGE, JUDGE_THIS, filled, read_grade
from calipers.live.chat.result import MachineLabels
from calipers.live.keywords import AskingModel
from calipers.model.labels import MACHINE, Label


def grade_labels(
    labels: Any, *, endpoint: str, model: str, key_env: str | None, **asking: Unpack[AskingModel]
) -> MachineLabels:
    """Let a language model grade every pair of question and item.

    A refusal, a malformed answer or a grade that there is not leaves the row without one, and
    is counted.
    """
    rows = _pairs(labels)
    named = MACHINE + model
    machine = chat_model(endpoint, model, JUDGE, read_grade, key_env=key_env)
    readable = [row for row in rows if row.text is not None]
    if not readable:
        raise InvalidInput(
            "No row has a text, and an id alone cannot be judged; draft again with --corpus."
        )
    prompts = [
        filled(JUDGE_THIS, question=row.query or row.query_id, passage=row.text or "")
        for row in readable
    ]
    replies, report = ask_model(machine, prompts, **asking)
    said = dict(zip((row.pair for row in readable), replies, strict=True))
    silent = Reply(None, "there is no text to judge")
    judged = tuple(_judged(row, said.get(row.pair, silent), named) for row in rows)
    return MachineLabels(judged, named, len(rows) - len(readable), report)


def _judged(row: Label, reply: Reply, judge: str) -> Label:
    if reply.text is None:
        return row.judged(judge, None, f"not graded: {reply.error}")
    found = read_grade(reply.text)
    return row.judged(judge, found.grade, found.why)


def _pairs(labels: Any) -> list[Label]:
    """Every pair once; several judges' rows for it are the same work for the machine."""
    if isinstance(labels, str | os.PathLike):
        given: Iterable[Label] = (label for _, label in read_labels(labels))
    else:
        given = labels
    given = list(given) if isinstance(given, Iterable) else [given]
    for label in given:
        if not isinstance(label, Label):
            raise InvalidInput(
                f"A row to judge is a {type(label).__name__}; give a path, or a list of labels."
            )
    once = {label.pair: label for label in given}
    if not once:
        raise InvalidInput(
            "There is no row to judge; give a file that `calipers labels draft` wrote."
        )
    return list(once.values())
