"""Answers that a caller collected: read by the rule that reads those of a live retriever.

``run={query: search(query) for query in questions}`` means what ``retriever=search`` means,
whatever ``search`` returns: ids, pairs, dictionaries or documents.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.formats.ours import check_spelling
from calipers.io.names import LISTS, METADATA, RESULT, WRAPPED
from calipers.live.adapters.base import AskFailed
from calipers.live.adapters.layout import Layout
from calipers.live.shapes import read_answer

ALL = 1_000_000_000
"""No list is cut off here: the caller asked for as many as there are."""
_COLUMNS = frozenset({"ids", *LISTS})
_INNER = frozenset({*METADATA, *WRAPPED})
_OURS = frozenset({"id", "text", "document"})
_KNOWN = _INNER.union(*RESULT.values())


def with_plain_answers(run: Any) -> Any:
    """The run with answers of every shape written out; one that is plain comes back as it is.

    >>> with_plain_answers({"q": [("a", 0.9)]})
    [{'query': 'q', 'retrieved': [{'id': 'a', 'score': 0.9}]}]
    """
    if isinstance(run, Mapping) and any(map(_is_no_mapping_of_ids, run.values())):
        return [
            {
                "query": query,
                "retrieved": _rows(answer, f"run[{query!r:.60}]")
                if _needs_reading(answer)
                else answer,
            }
            for query, answer in run.items()
        ]
    if isinstance(run, list | tuple) and any(_needs_reading(one) for one in _retrieved(run)):
        return [
            {**record, "retrieved": _rows(record["retrieved"], f"the answer of record {number}")}
            if isinstance(record, Mapping) and _needs_reading(record.get("retrieved"))
            else record
            for number, record in enumerate(run)
        ]
    return run


def _retrieved(records: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    return (one.get("retrieved") for one in records if isinstance(one, Mapping))


def _is_no_mapping_of_ids(answer: Any) -> bool:
    listed = isinstance(answer, list | tuple) and any(
        isinstance(one, Mapping) for one in answer[:1]
    )
    return listed or _needs_reading(answer)


def _needs_reading(answer: Any) -> bool:
    """Whether only a retriever's rule reads it; ids, and scores by id, are plain."""
    if isinstance(answer, list | tuple):
        return any(_is_no_plain_result(one) for one in answer[:1])
    if isinstance(answer, Mapping):
        return not answer.keys().isdisjoint(_COLUMNS) and any(
            isinstance(answer.get(name), list | tuple | Mapping) for name in _COLUMNS
        )
    # Texts, numbers and sets are no answers; the reader of mappings has the sentences for them.
    return hasattr(answer, "__iter__") and not isinstance(answer, str | bytes | set | frozenset)


def _is_no_plain_result(one: Any) -> bool:
    if isinstance(one, Mapping):
        # A result under our own names is read, and its misspellings found, as in a file.
        return not one.keys() & _OURS or bool(one.keys() & _INNER)
    return not isinstance(one, str | int | float | bytes | None)


def _rows(answer: Any, place: str) -> list[dict[str, Any]]:
    _check_spelling(answer, place)
    try:
        rows = read_answer(answer, ALL, Layout()).retrieved
    except AskFailed as error:
        raise InvalidInput(f"{place} cannot be read: {error.sentence}.") from None
    return [msgspec.to_builtins(row) for row in rows]


def _check_spelling(answer: Any, place: str) -> None:
    """Refuse a misspelt field beside ours; ``_score`` and other usual names are no misspellings."""
    if isinstance(answer, list | tuple):
        listed = [
            {name: value for name, value in one.items() if name in RESULT or name not in _KNOWN}
            if isinstance(one, Mapping) and one.keys() & _OURS
            else None
            for one in answer
        ]
        check_spelling({"retrieved": listed}, place)
