"""Answers of any shape become rows: ids, pairs, dictionaries, documents of the usual libraries.

``read_answer`` is the one way in. What stands where is found by the usual names, or by paths that
the caller gives (``Layout``). Answers that a caller collected are read by the same rule:
``run={query: search(query) for query in questions}`` means what ``retriever=search`` means.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral, Real
from typing import Any, Self
from uuid import UUID

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
from calipers.io.records.fields import check_spelling
from calipers.live.failures import AskFailed, bad_answer, beginning
from calipers.model.arrays import LARGEST
from calipers.names import ATTRIBUTES, COLUMNS, LISTS, METADATA, RESULT, WRAPPED

ALLOWED = (
    "a retriever returns a list of ids, of (id, score) pairs, of dictionaries with an id or a "
    "text, or of documents; a dictionary of id to score; or a dictionary with such a list as "
    "'retrieved'"
)
ALL = 1_000_000_000
"""No list is cut off here: the caller asked for as many as there are."""
LAYOUT = ("results", *RESULT, "stages")
"""What a caller may give a path for."""
_LISTED = frozenset({"ids", *LISTS})
_NESTED = frozenset({*METADATA, *WRAPPED})
_OURS = frozenset({"id", "text", "document"})
_KNOWN = _NESTED.union(*RESULT.values())
_STEP = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*)
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \['(?P<single>[^']*)'\]
      | \["(?P<double>[^"]*)"\]""",
    re.VERBOSE,
)


class NoMatch(Exception):
    """A path that leads nowhere in an answer; the message says how far it got."""


@dataclass(frozen=True)
class Path:
    """A small part of JSONPath: ``$``, ``.name`` or ``['name']``, ``[0]`` or ``[-1]``, ``[*]``.

    A name may also be that of an attribute, so that a path works on objects as on JSON.
    """

    text: str
    steps: tuple[str | int | None, ...]
    """A field's name, an element's number, or None for every element."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """A path from its text.

        >>> Path.parse("$.a['b c'][0]").steps
        ('a', 'b c', 0)
        """
        steps: list[str | int | None] = []
        position = 1 if text[:1] == "$" else 0
        while position and (found := _STEP.match(text, position)):
            position = found.end()
            if found["index"] is not None:
                steps.append(int(found["index"]))
            elif found["all"]:
                steps.append(None)
            else:
                steps.append(found["name"] or found["single"] or found["double"] or "")
        if position < len(text) or not text:
            raise InvalidInput(
                f"The path {text!r} cannot be read at {text[position:]!r}; a path begins with $ "
                "and goes on with .name, ['name'], [0] or [*], such as $.hits[*] or $.metadata.id."
            )
        return cls(text, tuple(steps))

    def all(self, value: Any) -> list[Any]:
        """Every value it leads to.

        >>> Path.parse("$.hits[*].id").all({"hits": [{"id": "a"}, {"id": "b"}]})
        ['a', 'b']
        """
        values, walked = [value], "$"
        for step in self.steps:
            if step is None:
                values = [one for value in values for one in _listed(value, walked)]
            else:
                values = [_step(value, step, walked) for value in values]
            walked += f".{step}" if isinstance(step, str) else f"[{'*' if step is None else step}]"
        return values


def _listed(value: Any, walked: str) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    raise NoMatch(f"{walked} is {_kind(value)}, not a list")


def _step(value: Any, step: str | int, walked: str) -> Any:
    if isinstance(step, int):
        listed = _listed(value, walked)
        if not -len(listed) <= step < len(listed):
            raise NoMatch(f"{walked} has {len(listed)} elements, so there is no [{step}]")
        return listed[step]
    if isinstance(value, Mapping):
        if step in value:
            return value[step]
        names = ", ".join(map(repr, islice(value, 6))) or "no fields"
        raise NoMatch(f"{walked} has no {step!r}; it has {names}{' …' * (len(value) > 6)}")
    found = None if isinstance(value, SCALARS) else getattr(value, step, None)
    if found is None:
        raise NoMatch(f"{walked} is {_kind(value)}, which has no {step!r}")
    return found


def _kind(value: Any) -> str:
    kinds: dict[Any, str] = {
        type(None): "null",
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return kinds.get(type(value), f"a {type(value).__name__}")


@dataclass(frozen=True)
class Layout:
    """Paths that the caller gave; where there is none, the usual names are looked for."""

    results: Path | None = None
    fields: Mapping[str, Path] = field(default_factory=dict)
    """For the id, the score and so on of a result."""
    stages: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def from_texts(cls, texts: Mapping[str, Any]) -> Self:
        """A layout from paths as texts; ``stages`` is a mapping of name to path.

        >>> Layout.from_texts({"results": "$.hits[*]", "id": "$.key"}).fields["id"].steps
        ('key',)
        """
        stages = texts.get("stages") or {}
        if not isinstance(stages, Mapping):
            raise InvalidInput(
                f"The stages are {stages!r}; give a mapping of name to path, such as "
                "{'candidates': '$.candidates[*]'}."
            )
        given = {name: texts[name] for name in RESULT if texts.get(name) is not None}
        results = texts.get("results")
        return cls(
            None if results is None else _path("results", results),
            {name: _path(name, text) for name, text in given.items()},
            {str(name): _path(name, text) for name, text in stages.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """The paths that are given, as texts."""
        said: dict[str, Any] = {} if self.results is None else {"results": self.results.text}
        said |= {name: path.text for name, path in self.fields.items()}
        stages = {name: path.text for name, path in self.stages.items()}
        return {**said, "stages": stages} if stages else said


def _path(name: Any, text: Any) -> Path:
    if not isinstance(text, str):
        raise InvalidInput(f"The path of {name} is {text!r}; it is a text such as $.hits[*].")
    return Path.parse(text)


class Answer(msgspec.Struct, frozen=True):
    """The results for one question, in order, and what was remarkable about them."""

    retrieved: list[Row]
    stages: Mapping[str, list[Row]] = {}
    longer: bool = False
    """Whether there were more than k; the rest is cut off."""
    unsorted: bool = False
    """Whether the scores neither fall nor rise; the order of the list counts."""


def read_answer(raw: Any, k: int = ALL, layout: Layout | None = None) -> Answer:
    """The results in an answer.

    >>> read_answer([("a", 0.9), ("b", 0.5)]).retrieved[1]
    Row(id='b', score=0.5, text=None, ...)
    """
    layout = layout or Layout()
    stages: Mapping[str, list[Row]] = {}
    if type(raw) is list and layout.results is None and not layout.stages:
        listed: Sequence[Any] = raw
    else:
        stages = {
            name: _rows(found, layout, f"stage {name!r}") for name, found in _stages(raw, layout)
        }
        listed = list_in(raw, k) if layout.results is None else _at(layout.results, raw)
    rows = _rows(listed[:k], layout, "the answer")
    return Answer(rows, stages, len(listed) > k, _is_unsorted(rows))


def _rows(listed: Sequence[Any], layout: Layout, where: str) -> list[Row]:
    rows = None if layout.fields else rows_at_once(listed)
    if rows is not None:
        return rows
    rows = []
    for number, one in enumerate(listed):
        try:
            rows.append(row_of(one, layout))
        except BadDocument as error:
            hint = (
                "; say where its id is with --id '$.NAME'" if "neither an id" in str(error) else ""
            )
            raise bad_answer(
                f"result {number} of {where} {error}; found {beginning(one)}{hint}"
            ) from None
    return rows


def rows_at_once(listed: Sequence[Any]) -> list[Row] | None:
    """The rows of ids, or of pairs of id and score, that are all alike; None for anything else.

    The same rows as one after the other, in a seventh of the time: the driver stays within 50 µs
    a question.

    >>> rows_at_once([("a", 0.9), ("b", 0.5)])[1]
    Row(id='b', score=0.5, text=None, ...)
    >>> rows_at_once([("a", 0.9), "b"])
    """
    kinds = set(map(type, listed))
    if len(kinds) != 1:
        return None
    if not kinds <= {tuple, list}:
        ids = _ids(listed)
        return None if ids is None else list(map(Row, ids))
    if set(map(len, listed)) != {2}:
        return None
    first, second = zip(*listed, strict=True)
    ids, scores = _ids(first), _scores(second)
    return None if ids is None or scores is None else list(map(Row, ids, scores))


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(kind is not bool and issubclass(kind, Real) for kind in set(map(type, values)))


def _ids(values: Sequence[Any]) -> Sequence[str] | None:
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    if all(kind is not bool and issubclass(kind, str | Integral | UUID) for kind in kinds):
        return list(map(str, values))
    return None


def _scores(values: Sequence[Any]) -> Sequence[float] | None:
    if set(map(type, values)) != {float}:
        if not _are_numbers(values):
            return None
        values = list(map(float, values))
    # Infinite or no number as soon as one of them is.
    return values if math.isfinite(sum(values)) else None


def row_of(one: Any, layout: Layout) -> Row:
    """A result as a row, refused where `calipers eval` would refuse it.

    >>> row_of({"key": 7, "rank": {"score": 0.5}}, Layout.from_texts({"score": "$.rank.score"}))
    Row(id='7', score=0.5, text=None, ...)
    """
    if not layout.fields or isinstance(one, str | Integral):
        row = read_document(one)
    else:
        row = Row() if isinstance(one, SCALARS) else from_object(one)
        for name, path in layout.fields.items():
            try:
                value = next(iter(path.all(one)), None)
            except NoMatch as error:
                if name == "id":
                    raise BadDocument(f"has no id at {path.text}: {error}") from None
                value = None
            setattr(row, name, checked(name, value))
        row = whole(row)
    start, end = row.start, row.end
    if any(place is not None and not 0 <= place <= LARGEST for place in (start, end)) or (
        start is not None and end is not None and end < start
    ):
        raise BadDocument(
            f"stands from {start} to {end}; a span begins at 0 or later and ends where it begins "
            "or later"
        )
    return row


def _is_unsorted(rows: Sequence[Row]) -> bool:
    if len(rows) < 3 or rows[0].score is None:
        return False
    known = [row.score for row in rows if row.score is not None]
    ordered = sorted(known)
    return known not in (ordered, ordered[::-1])


def _stages(raw: Any, layout: Layout) -> Iterator[tuple[str, Sequence[Any]]]:
    if layout.stages:
        for name, path in layout.stages.items():
            yield name, _at(path, raw)
        return
    stages = raw.get("stages") if isinstance(raw, Mapping) else None
    if stages is not None and not isinstance(stages, Mapping):
        raise bad_answer(
            f"'stages' is {beginning(stages)}; it is a dictionary of a stage's name to its list "
            "of results"
        )
    for name, value in (stages or {}).items():
        yield str(name), list_in(value)


def _at(path: Path, raw: Any) -> Sequence[Any]:
    try:
        found = path.all(raw)
    except NoMatch as error:
        raise bad_answer(
            f"the path {path.text} matches nothing: {error}; the answer begins with "
            f"{beginning(raw)}"
        ) from None
    return found if None in path.steps else list_in(found[0])


def list_in(raw: Any, k: int | None = None) -> Sequence[Any]:
    """The list of results in an answer without a path."""
    if isinstance(raw, list):
        return raw
    if isinstance(raw, Mapping):
        return _from_mapping(raw)
    if hasattr(raw, "meta") and isinstance(getattr(raw, "body", None), Mapping | list):
        # An answer of Elasticsearch's client, which is no mapping itself.
        return list_in(raw.body, k)
    if isinstance(raw, tuple):
        return _side_by_side(raw) or raw
    if raw is None or isinstance(raw, str | bytes | Real):
        came = "None (is a `return` missing?)" if raw is None else beginning(raw)
        raise bad_answer(f"the retriever returned {came}; {ALLOWED}")
    if isinstance(raw, set | frozenset):
        raise bad_answer("the retriever returned a set, which has no order; return a list")
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
    raise bad_answer(f"the retriever returned a {type(raw).__name__}: {beginning(raw)}; {ALLOWED}")


def _from_mapping(raw: Mapping[Any, Any]) -> Sequence[Any]:
    if isinstance(raw.get("ids"), list | tuple):
        return _columns(raw)
    for name in LISTS:
        inner = raw.get(name)
        if isinstance(inner, list | tuple | Iterator):
            return list(inner)
        if isinstance(inner, Mapping) and any(deeper in inner for deeper in LISTS):
            return _from_mapping(inner)
    if _are_numbers(raw.values()):
        return sorted(raw.items(), key=lambda pair: -float(pair[1]))
    raise bad_answer(
        f"the answer is a dictionary without a list of results: {beginning(raw)}; {ALLOWED}"
    )


def _columns(raw: Mapping[Any, Any]) -> Sequence[Any]:
    """Results given column by column, as Chroma does: ids, distances, documents, metadatas."""
    columns: dict[str, Sequence[Any]] = {}
    for name, places in COLUMNS.items():
        found = next((raw[place] for place in places if raw.get(place) is not None), None)
        if found is not None:
            # A query of one question comes back as a list with one list in it.
            columns[name] = found[0] if len(found) == 1 and isinstance(found[0], list) else found
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise bad_answer(f"the columns of the answer have different lengths: {lengths}")
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


def with_plain_answers(run: Any) -> Any:
    """The run with answers of every shape written out; one that is plain comes back as it is.

    >>> with_plain_answers({"q": [("a", 0.9)]})
    [{'query': 'q', 'retrieved': [{'id': 'a', 'score': 0.9}]}]
    """
    if isinstance(run, Mapping):
        if not any(_needs_reading(one) or _lists_mappings(one) for one in run.values()):
            return run
        return [
            {"query": query, "retrieved": _plain(answer, f"run[{query!r:.60}]")}
            for query, answer in run.items()
        ]
    if not isinstance(run, list | tuple):
        return run
    chosen = [isinstance(one, Mapping) and _needs_reading(one.get("retrieved")) for one in run]
    if not any(chosen):
        return run
    return [
        {**one, "retrieved": _plain(one["retrieved"], f"the answer of record {number}")}
        if chosen[number]
        else one
        for number, one in enumerate(run)
    ]


def _lists_mappings(answer: Any) -> bool:
    return isinstance(answer, list | tuple) and any(isinstance(one, Mapping) for one in answer[:1])


def _needs_reading(answer: Any) -> bool:
    """Whether only a retriever's rule reads it; ids, and scores by id, are plain."""
    if isinstance(answer, list | tuple):
        return any(not _is_plain_result(one) for one in answer[:1])
    if isinstance(answer, Mapping):
        return any(isinstance(answer.get(name), list | tuple | Mapping) for name in _LISTED)
    # Texts, numbers and sets are no answers; the reader of mappings has the sentences for them.
    return hasattr(answer, "__iter__") and not isinstance(answer, str | bytes | set | frozenset)


def _is_plain_result(one: Any) -> bool:
    if isinstance(one, Mapping):
        # A result under our own names is read, and its misspellings found, as in a file.
        return bool(one.keys() & _OURS) and not one.keys() & _NESTED
    return isinstance(one, str | int | float | bytes | None)


def _plain(answer: Any, place: str) -> Any:
    if not _needs_reading(answer):
        return answer
    if isinstance(answer, list | tuple):
        # A misspelt field beside ours; `_score` and other usual names are no misspellings.
        listed = [
            {name: value for name, value in one.items() if name in RESULT or name not in _KNOWN}
            if isinstance(one, Mapping) and one.keys() & _OURS
            else None
            for one in answer
        ]
        check_spelling({"retrieved": listed}, place)
    try:
        rows = read_answer(answer).retrieved
    except AskFailed as error:
        raise InvalidInput(f"{place} cannot be read: {error.sentence}.") from None
    return [msgspec.to_builtins(row) for row in rows]
