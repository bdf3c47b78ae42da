"""Answers of any shape become rows: ids, pairs, dictionaries, documents of the usual libraries.

Answers that a caller collected are read by the same rule: ``run={query: search(query) for query in
questions}`` means what ``retriever=search`` means, whatever ``search`` returns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any

import msgspec

from calipers.errors import InvalidInput
from calipers.io.records.documents import (
    SCALARS,
    BadDocument,
    Row,
    checked,
    from_object,
    is_number,
    read_document,
    whole,
)
from calipers.io.records.spelling import check_spelling
from calipers.live.adapters.base import AskFailed, beginning
from calipers.live.adapters.layout import Layout, NoMatch, Path
from calipers.live.at_once import are_numbers, rows_at_once
from calipers.model.arrays import LARGEST
from calipers.names import ATTRIBUTES, COLUMNS, LISTS, METADATA, RESULT, WRAPPED

ALLOWED = (
    "a retriever returns a list of ids, of (id, score) pairs, of dictionaries with an id or a "
    "text, or of documents; a dictionary of id to score; or a dictionary with such a list as "
    "'retrieved'"
)
ALL = 1_000_000_000
"""No list is cut off here: the caller asked for as many as there are."""
_LISTED = frozenset({"ids", *LISTS})
_NESTED = frozenset({*METADATA, *WRAPPED})
_OURS = frozenset({"id", "text", "document"})
_KNOWN = _NESTED.union(*RESULT.values())


class Answer(msgspec.Struct, frozen=True):
    """The results for one question, in order, and what was remarkable about them."""

    retrieved: list[Row]
    stages: Mapping[str, list[Row]] = {}
    longer: bool = False
    """Whether there were more than k; the rest is cut off."""
    unsorted: bool = False
    """Whether the scores neither fall nor rise; the order of the list counts."""


def read_answer(raw: Any, k: int, layout: Layout) -> Answer:
    """The results in an answer.

    >>> read_answer([("a", 0.9), ("b", 0.5)], 10, Layout()).retrieved[1]
    Row(id='b', score=0.5, text=None, ...)
    """
    if type(raw) is list and layout.results is None and not layout.stages:
        stages: Mapping[str, list[Row]] = {}
        listed: Sequence[Any] = raw
    else:
        stages = {
            name: _rows(found, layout, f"stage {name!r}") for name, found in _stages(raw, layout)
        }
        listed = _results(raw, layout, k)
    rows = _rows(listed[:k], layout, "the answer")
    return Answer(rows, stages, len(listed) > k, _is_unsorted(rows))


def _rows(listed: Sequence[Any], layout: Layout, where: str) -> list[Row]:
    rows = None if layout.named else rows_at_once(listed)
    if rows is not None:
        return _with_spans_that_can_be(rows, where)
    rows = []
    for number, one in enumerate(listed):
        try:
            rows.append(row_of(one, layout))
        except BadDocument as error:
            hint = (
                "; say where its id is with --id '$.NAME'" if "neither an id" in str(error) else ""
            )
            raise AskFailed(
                "bad answer",
                f"result {number} of {where} {error}; found {beginning(one)}{hint}",
            ) from None
    return _with_spans_that_can_be(rows, where)


def _with_spans_that_can_be(rows: list[Row], where: str) -> list[Row]:
    """The rows, refused where `calipers eval` would refuse the run that they are written to."""
    for number, row in enumerate(rows):
        start, end = row.start, row.end
        if start is None and end is None:
            continue
        if any(one is not None and not 0 <= one <= LARGEST for one in (start, end)) or (
            start is not None and end is not None and end < start
        ):
            raise AskFailed(
                "bad answer",
                f"result {number} of {where} stands from {start} to {end}; a span begins at 0 or "
                "later and ends where it begins or later",
            )
    return rows


def row_of(one: Any, layout: Layout) -> Row:
    """A result as a row: from the paths that the caller named, else by the usual names.

    >>> row_of({"key": 7, "rank": {"score": 0.5}}, Layout.from_texts({"score": "$.rank.score"}))
    Row(id='7', score=0.5, text=None, ...)
    """
    if not layout.named or isinstance(one, str | Integral):
        return read_document(one)
    row = Row() if isinstance(one, SCALARS) else from_object(one)
    for name, path in layout.named:
        try:
            value = path.one(one)
        except NoMatch as error:
            if name == "id":
                raise BadDocument(f"has no id at {path}: {error}") from None
            value = None
        except IndexError:
            value = None
        setattr(row, name, checked(name, value))
    return whole(row)


def _results(raw: Any, layout: Layout, k: int) -> Sequence[Any]:
    if layout.results is not None:
        return _at(layout.results, raw)
    return list_in(raw, k)


def _stages(raw: Any, layout: Layout) -> Iterator[tuple[str, Sequence[Any]]]:
    for name, path in layout.stages.items():
        yield name, _at(path, raw)
    if layout.stages or not isinstance(raw, Mapping):
        return
    stages = raw.get("stages")
    if stages is None:
        return
    if not isinstance(stages, Mapping):
        raise AskFailed(
            "bad answer",
            f"'stages' is {beginning(stages)}; it is a dictionary of a stage's name to its list "
            "of results",
        )
    for name, value in stages.items():
        yield str(name), list_in(value, None)


def _at(path: Path, raw: Any) -> Sequence[Any]:
    try:
        found = path.all(raw)
    except NoMatch as error:
        raise AskFailed(
            "bad answer",
            f"the path {path} matches nothing: {error}; the answer begins with {beginning(raw)}",
        ) from None
    if path.spreads:
        return found
    return list_in(found[0], None)


def list_in(raw: Any, k: int | None) -> Sequence[Any]:
    """The list of results in an answer without a path."""
    if isinstance(raw, list):
        return raw
    if isinstance(raw, Mapping):
        return _from_mapping(raw)
    if isinstance(raw, tuple):
        return _side_by_side(raw) or raw
    if raw is None or isinstance(raw, str | bytes | Real):
        came = "None (is a `return` missing?)" if raw is None else beginning(raw)
        raise AskFailed("bad answer", f"the retriever returned {came}; {ALLOWED}")
    if isinstance(raw, set | frozenset):
        raise AskFailed(
            "bad answer", "the retriever returned a set, which has no order; return a list"
        )
    if isinstance(raw, Iterator):
        # One more than k, so that a generator that would go on is noticed and never drained.
        return list(raw if k is None else islice(raw, k + 1))
    if hasattr(raw, "columns"):
        # A table of polars, Arrow or pandas; to go through it would give the names of its columns.
        for name, *how in (("to_dicts",), ("to_pylist",), ("to_dict", "records")):
            if hasattr(raw, name):
                return list(getattr(raw, name)(*how))
    for name in ATTRIBUTES:
        inner = getattr(raw, name, None)
        if isinstance(inner, list | tuple):
            return inner
    found = raw.tolist() if hasattr(raw, "tolist") else raw
    if isinstance(found, Iterable):
        return list(found)
    raise AskFailed(
        "bad answer", f"the retriever returned a {type(raw).__name__}: {beginning(raw)}; {ALLOWED}"
    )


def _from_mapping(raw: Mapping[Any, Any]) -> Sequence[Any]:
    if isinstance(raw.get("ids"), list | tuple):
        return _columns(raw)
    for name in LISTS:
        inner = raw.get(name)
        if inner is None:
            continue
        if isinstance(inner, list | tuple | Iterator):
            return list(inner)
        if isinstance(inner, Mapping) and any(deeper in inner for deeper in LISTS):
            return _from_mapping(inner)
    if are_numbers(raw.values()):
        return sorted(raw.items(), key=lambda pair: -float(pair[1]))
    raise AskFailed(
        "bad answer",
        f"the answer is a dictionary without a list of results: {beginning(raw)}; {ALLOWED}",
    )


def _columns(raw: Mapping[Any, Any]) -> Sequence[Any]:
    """Results given column by column, as Chroma does: ids, distances, documents, metadatas."""
    columns: dict[str, Sequence[Any]] = {}
    for name, places in COLUMNS.items():
        found = next((raw[place] for place in places if raw.get(place) is not None), None)
        if found is None:
            continue
        # A query of one question comes back as a list with one list in it.
        columns[name] = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    if len({len(column) for column in columns.values()}) > 1:
        raise AskFailed(
            "bad answer",
            "the columns of the answer have different lengths: "
            + ", ".join(f"{name} {len(column)}" for name, column in columns.items()),
        )
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _side_by_side(raw: tuple[Any, ...]) -> Sequence[Any] | None:
    """A pair of equally long lists: ids and scores, or as FAISS has it scores and ids."""
    if len(raw) != 2 or any(isinstance(one, str | tuple | Mapping) for one in raw):
        return None
    first, second = (one.tolist() if hasattr(one, "tolist") else one for one in raw)
    if not isinstance(first, list) or not isinstance(second, list) or len(first) != len(second):
        return None
    if all(is_number(one) for one in second) and not all(isinstance(one, float) for one in first):
        return list(zip(first, second, strict=True))
    if all(is_number(one) for one in first):
        return list(zip(second, first, strict=True))
    return None


def _is_unsorted(rows: Sequence[Row]) -> bool:
    if len(rows) < 3 or rows[0].score is None:
        return False
    known = [row.score for row in rows if row.score is not None]
    ordered = sorted(known)
    return known not in (ordered, ordered[::-1])


def with_plain_answers(run: Any) -> Any:
    """The run with answers of every shape written out; one that is plain comes back as it is.

    >>> with_plain_answers({"q": [("a", 0.9)]})
    [{'query': 'q', 'retrieved': [{'id': 'a', 'score': 0.9}]}]
    """
    if isinstance(run, Mapping) and any(map(_is_no_mapping_of_ids, run.values())):
        return [
            {
                "query": query,
                "retrieved": _plain_rows(answer, f"run[{query!r:.60}]")
                if _needs_reading(answer)
                else answer,
            }
            for query, answer in run.items()
        ]
    if isinstance(run, list | tuple) and any(_needs_reading(one) for one in _retrieved(run)):
        return [
            {
                **record,
                "retrieved": _plain_rows(record["retrieved"], f"the answer of record {number}"),
            }
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
        return not answer.keys().isdisjoint(_LISTED) and any(
            isinstance(answer.get(name), list | tuple | Mapping) for name in _LISTED
        )
    # Texts, numbers and sets are no answers; the reader of mappings has the sentences for them.
    return hasattr(answer, "__iter__") and not isinstance(answer, str | bytes | set | frozenset)


def _is_no_plain_result(one: Any) -> bool:
    if isinstance(one, Mapping):
        # A result under our own names is read, and its misspellings found, as in a file.
        return not one.keys() & _OURS or bool(one.keys() & _NESTED)
    return not isinstance(one, str | int | float | bytes | None)


def _plain_rows(answer: Any, place: str) -> list[dict[str, Any]]:
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
