"""chunking_evaluation: questions with the passages of a document that answer them."""

import msgspec

from calipers.io.format import EachRow
from calipers.io.records.records import At, Id, Record, Target


class ChunkingReference(msgspec.Struct):
    """A passage and its place in the document, in characters."""

    content: str
    start_index: int
    end_index: int


class ChunkingQuestion(msgspec.Struct):
    """One question; all its references are needed."""

    question: str
    references: list[ChunkingReference]
    corpus_id: Id


class ChunkingEvaluation(EachRow):
    """Questions with passages of a document."""

    name = "chunking_evaluation"
    title = "questions of chunking_evaluation"
    row = ChunkingQuestion
    example = (
        '{"question": …, "references": [{"content": …, "start_index": 0, "end_index": 9}], '
        '"corpus_id": …}'
    )
    truth_field = "references"
    known_by = ({"question", "references"},)

    def record(self, row: ChunkingQuestion, _: At) -> Record:
        """A row as a record."""
        truth: list[Id | Target] = [
            Target(
                quote=one.content, document=row.corpus_id, start=one.start_index, end=one.end_index
            )
            for one in row.references
        ]
        return Record(row.question, ground_truth=truth)
