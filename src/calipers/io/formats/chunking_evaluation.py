"""chunking_evaluation: questions with the passages of a document that answer them."""

import msgspec

from calipers.io.records import Id, Record, Target
from calipers.io.rows import At, RowFormat, each


class Reference(msgspec.Struct):
    """A passage and its place in the document, in characters."""

    content: str
    start_index: int
    end_index: int


class Question(msgspec.Struct):
    """One question; all its references are needed."""

    question: str
    references: list[Reference]
    corpus_id: Id


def recognise(keys: frozenset[str]) -> bool:
    """``question`` beside ``references``."""
    return {"question", "references"} <= keys


def _record(row: Question, _: At) -> Record:
    truth: list[Id | Target] = [
        Target(quote=one.content, document=row.corpus_id, start=one.start_index, end=one.end_index)
        for one in row.references
    ]
    return Record(row.question, ground_truth=truth)


FORM = RowFormat(
    name="chunking_evaluation",
    title="questions of chunking_evaluation",
    recognise=recognise,
    row=Question,
    records=each(_record),
    example=(
        '{"question": …, "references": [{"content": …, "start_index": 0, "end_index": 9}], '
        '"corpus_id": …}'
    ),
    kept=frozenset(Question.__struct_fields__),
    fields={"ground_truth": "references"},
)
