"""AutoRAG: queries whose ground truth is a list of lists, all of which need one of theirs."""

from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import EachRow
from calipers.io.records.documents import is_id
from calipers.io.records.records import At, Id, Record, Result, Target, side_by_side

KINDS = ("lexical", "semantic")
"""What names of results end in where another step makes one list of both: retrieved_ids_lexical."""


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
    retrieved_contents_lexical: list[str] | None = None
    retrieved_ids_lexical: list[Id] | None = None
    retrieve_scores_lexical: list[float] | None = None
    retrieved_contents_semantic: list[str] | None = None
    retrieved_ids_semantic: list[Id] | None = None
    retrieve_scores_semantic: list[float] | None = None
    retrieved: list[Id] | None = None
    """The one that the user names as the results."""


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
    if isinstance(value, list) and all(map(is_id, value)):
        return [value]
    if isinstance(value, list) and all(
        isinstance(group, list) and all(map(is_id, group)) for group in value
    ):
        return value
    raise InvalidInput(
        f"The ground truth cannot be read at {at()}.retrieval_gt: found {str(value)[:60]}; it is "
        "a list of lists of ids."
    )


class AutoRag(EachRow):
    """Questions of AutoRAG, or results it wrote."""

    name = "autorag"
    title = "AutoRAG questions"
    row = AutoRagQuestion
    example = '{"qid": …, "query": …, "retrieval_gt": [["id", "or another"], ["and this"]]}'
    results_field = "retrieved_ids"
    truth_field = "retrieval_gt"
    known_by = ({"retrieval_gt"},)

    def record(self, row: AutoRagQuestion, at: At) -> Record:
        """A row as a record; a list of one kind is a stage of the list that was made of both."""
        found = _results(row, "", at)
        kinds = {kind: one for kind in KINDS if (one := _results(row, f"_{kind}", at)) is not None}
        if row.retrieved is not None:
            found = [Result(id=one) for one in row.retrieved]
        elif found is None and len(kinds) > 1:
            raise InvalidInput(
                f"There are two lists of results at {at()}: retrieved_ids_lexical and "
                "retrieved_ids_semantic; say which to measure, with --column "
                "retrieved=retrieved_ids_lexical (columns= in Python)."
            )
        elif found is None and kinds:
            found, kinds = next(iter(kinds.values())), {}
        return Record(
            row.query,
            id=row.qid,
            retrieved=found,
            ground_truth=_targets(row, at),
            stages=dict(kinds) or None,
        )


def _results(row: AutoRagQuestion, kind: str, at: At) -> list[Id | Result] | None:
    """The results of one kind, with their texts and scores; None where there are none."""
    names = [f"{name}{kind}" for name in ("retrieved_contents", "retrieved_ids", "retrieve_scores")]
    texts, ids, given = (getattr(row, name) for name in names)
    pairs = side_by_side(texts, ids, at, (names[0], names[1]))
    if pairs is None:
        return None
    scores: list[float | None] = [*given] if given else [None] * len(pairs)
    if len(scores) != len(pairs):
        raise InvalidInput(
            f"There are {len(scores)} scores for {len(pairs)} results at {at()}.{names[2]}; give "
            "one for each."
        )
    return [
        Result(id=one, text=text, score=score)
        for (text, one), score in zip(pairs, scores, strict=True)
    ]
