"""A language model as a first judge; what it says is marked as its own."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.api.ask_model import Reply, ask_model
from calipers.errors import InvalidInput
from calipers.io.labels import read_labels, write_labels
from calipers.model.labels import Label
from calipers.model.retrieval import RetrievalReport
from calipers.retrievers.chat import chat_model, machine_name
from calipers.retrievers.prompts import JUDGE, JUDGE_THIS, filled
from calipers.retrievers.replies import read_grade


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows as the machine labelled them; those it could not label have no grade."""

    rows: tuple[Label, ...]
    judge: str
    without_text: int
    """Rows that were not sent, as there is nothing to read in them."""
    report: RetrievalReport

    @property
    def labelled(self) -> int:
        """Rows with a grade."""
        return sum(row.grade is not None for row in self.rows)

    def write(self, path: str | Path) -> None:
        """The rows as .jsonl or .csv, whole or not at all."""
        write_labels(self.rows, path)

    def to_dict(self) -> dict[str, Any]:
        """The counts: what ``--json`` prints."""
        grades = [row.grade for row in self.rows if row.grade is not None]
        return {
            "judge": self.judge, "rows": len(self.rows), "labelled": self.labelled,
            "without_text": self.without_text,
            "grades": {f"{grade:g}": grades.count(grade) for grade in sorted(set(grades))},
            "errors": dict(self.report.errors), "first_error": self.report.first_error,
            "asked": self.report.asked, "cached": self.report.cached,
        }  # fmt: skip


def judge(
    labels: Any, *, endpoint: str, model: str, key_env: str | None = None, **asking: Any
) -> Judged:
    """Let a language model grade every pair of question and item.

    ``labels`` is a file of ``draft``, or a list of labels; grades that it holds are not shown to
    the model and not kept. ``endpoint`` is an OpenAI-compatible address and has no default;
    ``key_env`` names the environment variable with its key. ``asking``: ``cache`` (a folder),
    ``workers``, ``timeout``, ``retries``, ``rate``, ``max_errors``.

    The grades are 0, 1 and 2. A refusal, a malformed answer or another grade leaves the row
    without one, and is counted.
    """
    rows = _pairs(labels)
    named = machine_name(model)
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
    return Judged(judged, named, len(rows) - len(readable), report)


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
    once = {label.pair: label for label in given}
    if not once:
        raise InvalidInput("There is no row to judge; give a file that `calipers draft` wrote.")
    return list(once.values())
