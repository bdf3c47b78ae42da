"""One line of the run file: what came back for one question, in our record form.

``calipers eval --run`` reads these lines as they are. The last four fields are for the report;
readers that do not know them pass over them.
"""

from collections.abc import Mapping

import msgspec

from calipers.io.records.documents import Row
from calipers.live.adapters.base import Question
from calipers.live.shapes import Answer


class RunEntry(msgspec.Struct, omit_defaults=True):
    """What is written about one question."""

    query: str
    retrieved: list[Row]
    id: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    stages: Mapping[str, list[Row]] | None = None
    warm_up: bool = False
    cached: bool = False
    cut: bool = False
    unsorted: bool = False


class Glance(msgspec.Struct):
    """An entry as it is read back for the report: results counted, not decoded."""

    query: str
    retrieved: list[msgspec.Raw]
    id: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    warm_up: bool = False
    cached: bool = False
    cut: bool = False
    unsorted: bool = False

    @property
    def key(self) -> str:
        """The id of the question."""
        return self.query if self.id is None else self.id


encode = msgspec.json.Encoder().encode
_glance = msgspec.json.Decoder(Glance)


def glance(line: bytes) -> Glance | None:
    """A line as an entry, or None where it is none."""
    try:
        return _glance.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def entry_of(question: Question, answer: Answer, seconds: float, warm_up: bool) -> RunEntry:
    """The entry of a question that was answered."""
    # By position: this runs once per question, and names would cost as much as the rest.
    return RunEntry(
        question.text,
        answer.retrieved,
        _own_id(question),
        round(seconds * 1000, 3),
        None,
        answer.stages or None,
        warm_up,
        False,
        answer.longer,
        answer.unsorted,
    )


def failed_entry(question: Question, error: str) -> RunEntry:
    """The entry of a question that was not."""
    return RunEntry(question.text, [], _own_id(question), error=error)


def _own_id(question: Question) -> str | None:
    return None if question.id == question.text else question.id
