"""AutoRAG: queries whose ground truth is a list of lists, all of which need one of theirs."""

from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.records import Id, Record, Result, Target
from calipers.io.records.rows import At, EachRow, side_by_side

RETRIEVED = ("retrieved_contents", "retrieved_ids")


class AutoRagQuestion(msgspec.Struct):
    """One row of ``qa.parquet``, or of a result that AutoRAG wrote.

    The ground truth is looked at later: it may be a text, a list, or a list of lists.
    """

    query: str
    retrieval_gt: Any
    qid: Id | None = None
    retrieved_contents: list[str] | None = None
    retrieved_ids: list[Id] | None = None
    retrieve_scores: list[float] | None = None


def _targets(row: AutoRagQuestion, at: At) -> list[Id | Target]:
    """Alternatives share a group; an item may be an alternative in several."""
    targets: list[Id | Target] = []
    for number, group in enumerate(_groups(row.retrieval_gt, at), start=1):
        for item in dict.fromkeys(str(one) for one in group):
            targets.append(Target(id=item, group=str(number) if len(group) > 1 else None))
    return targets


def _groups(value: Any, at: At) -> list[list[Any]]:
    """One text is one target, a flat list is one list of alternatives, as in AutoRAG."""
    if isinstance(value, str):
        return [[value]]
    if isinstance(value, list) and all(_is_id(one) for one in value):
        return [value]
    if isinstance(value, list) and all(
        isinstance(group, list) and all(_is_id(one) for one in group) for group in value
    ):
        return value
    raise InvalidInput(
        f"The ground truth cannot be read at {at()}.retrieval_gt: found {str(value)[:60]}; it is "
        "a list of lists of ids."
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


class AutoRag(EachRow):
    """Questions of AutoRAG, or results it wrote."""

    name = "autorag"
    title = "AutoRAG questions"
    row = AutoRagQuestion
    example = '{"qid": …, "query": …, "retrieval_gt": [["id", "or another"], ["and this"]]}'
    kept = frozenset(AutoRagQuestion.__struct_fields__)
    results_field = "retrieved_ids"
    truth_field = "retrieval_gt"

    def recognise(self, keys: frozenset[str]) -> bool:
        """``retrieval_gt``."""
        return "retrieval_gt" in keys

    def record(self, row: AutoRagQuestion, at: At) -> Record:
        """A row as a record."""
        pairs = side_by_side(row.retrieved_contents, row.retrieved_ids, at, RETRIEVED)
        found: list[Id | Result] | None = None
        if pairs is not None:
            scores: list[float | None] = (
                [*row.retrieve_scores] if row.retrieve_scores else [None] * len(pairs)
            )
            if len(scores) != len(pairs):
                raise InvalidInput(
                    f"There are {len(scores)} scores for {len(pairs)} results at "
                    f"{at()}.retrieve_scores; give one for each."
                )
            found = [
                Result(id=one, text=text, score=score)
                for (text, one), score in zip(pairs, scores, strict=True)
            ]
        return Record(row.query, id=row.qid, retrieved=found, ground_truth=_targets(row, at))
