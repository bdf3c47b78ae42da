"""Turn answers of any shape into rows: ids, pairs, dictionaries, documents of common libraries.

Fields are found by the document reader in ``io``, which reads files, too, or by the
caller's paths (``Layout``).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from numbers import Integral
from typing import Self

import msgspec

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.records.documents import (
    SCALARS,
    BadDocument,
    IncompleteAnswer,
    Row,
    check_complete,
    checked,
    from_object,
    read_document,
    results_in,
    whole,
)
from calipers.live.failures import bad_answer, beginning
from calipers.model.arrays import LARGEST
from calipers.names import RESULT

ALLOWED = (
    "a retriever returns a list of ids, of (id, score) pairs, of dictionaries with an id "
    "or a text, or of documents"
)
ALL = 1_000_000_000
"""No limit: the caller wants all results."""
LAYOUT = ("results", *(name for name in RESULT if name != "title"), "stages")
"""Fields that a caller may give a path for."""
_STEP = re.compile(r"""\.([^\W\d][\w-]*)|\[(-?\d+|\*)\]|\['([^']*)'\]|\["([^"]*)"\]""")


class NoMatch(Exception):
    """A path that matches nothing in an answer; the message says how far it got."""


@dataclass(frozen=True)
class Path:
    """A subset of JSONPath: ``$``, ``.name`` or ``['name']``, ``[0]`` or ``[-1]``, ``[*]``.

    A name may also be an attribute, so that a path works on objects as well as on JSON.
    """

    text: str
    steps: tuple[str | int | None, ...]
    """A field's name, an element's number, or None for every element."""

    @classmethod
    def parse(cls, text: object, name: str = "results") -> Self:
        """Parse a path.

        >>> Path.parse("$.a['b c'][0]").steps
        ('a', 'b c', 0)
        """
        if not isinstance(text, str):
            raise InvalidInput(
                f"The path of {name} is {text!r}; it is a text such as $.hits[*]."
            )
        steps: list[str | int | None] = []
        position = 1 if text[:1] == "$" else 0
        while position and (match := _STEP.match(text, position)):
            position = match.end()
            word, index, *quoted = match.groups()
            number = None if index in (None, "*") else int(index)
            steps.append(number if index else next((n for n in (word, *quoted) if n), ""))
        if position < len(text) or not text:
            raise InvalidInput(
                f"The path {text!r} cannot be read at {text[position:]!r}; a path begins "
                "with $ and goes on with .name, ['name'], [0] or [*], such as $.hits[*] "
                "or $.metadata.id."
            )
        return cls(text, tuple(steps))

    def all(self, value: object) -> list[object]:
        """Return every value that the path matches.

        >>> Path.parse("$.hits[*].id").all({"hits": [{"id": "a"}, {"id": "b"}]})
        ['a', 'b']
        """
        values = [value]
        walked = "$"
        for step in self.steps:
            reached: list[object] = []
            for holder in values:
                try:
                    reached += _step(holder, step)
                except (LookupError, TypeError, AttributeError):
                    has = "is no list" if step is None else f"has no {step!r}"
                    raise NoMatch(
                        f"{walked} {has}; it is {beginning(holder, 80)}"
                    ) from None
            values = reached
            walked += (
                f".{step}"
                if isinstance(step, str)
                else f"[{'*' if step is None else step}]"
            )
        return values


def _step(value: object, step: str | int | None) -> Sequence[object]:
    if isinstance(step, str):
        if isinstance(value, Mapping):
            return [value[step]]
        if isinstance(value, SCALARS):
            raise TypeError
        return [getattr(value, step)]
    if not isinstance(value, list | tuple):
        raise TypeError
    return value if step is None else [value[step]]


@dataclass(frozen=True)
class Layout:
    """Paths given by the caller; for fields without one, the usual names are tried."""

    results: Path | None = None
    fields: Mapping[str, Path] = field(default_factory=dict)
    """Paths to the id, the score and other fields of a result."""
    stages: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def from_texts(cls, texts: Mapping[str, object]) -> Self:
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
        named = {name: text for name, text in texts.items() if text is not None}
        return cls(
            Path.parse(named["results"]) if "results" in named else None,
            {name: Path.parse(named[name], name) for name in RESULT if name in named},
            {str(name): Path.parse(text, name) for name, text in stages.items()},
        )

    def to_dict(self) -> dict[str, object]:
        """The given paths as texts."""
        paths = {} if self.results is None else {"results": self.results}
        by_name: dict[str, object] = {
            n: path.text for n, path in {**paths, **self.fields}.items()
        }
        stages = {name: path.text for name, path in self.stages.items()}
        return {**by_name, "stages": stages} if stages else by_name


class Answer(msgspec.Struct, frozen=True):
    """The results for one question, in order, and anything unusual about them."""

    retrieved: list[Row]
    stages: Mapping[str, list[Row]] = {}
    unsorted: bool = False
    """Whether the scores neither fall nor rise; the order of the list counts."""


def read_answer(raw: object, k: int = ALL, layout: Layout | None = None) -> Answer:
    """Read the results in an answer.

    >>> read_answer([("a", 0.9), ("b", 0.5)]).retrieved[1]
    Row(id='b', score=0.5, text=None, ...)
    """
    layout = layout or Layout()
    listed = _listed(raw, k) if layout.results is None else _at(layout.results, raw)
    stages: Mapping[str, list[Row]] = {}
    if layout.stages or isinstance(raw, Mapping):
        by_stage = _stages(raw, layout)
        stages = {name: _rows(some, layout, f"stage {name!r}") for name, some in by_stage}
    rows = _rows(listed[:k], layout, "the answer")
    return Answer(rows, stages, _is_unsorted(rows))


def _listed(raw: object, k: int = ALL) -> Sequence[object]:
    try:
        return raw if type(raw) is list and not _is_nested(raw) else results_in(raw, k)
    except IncompleteAnswer as error:
        raise bad_answer(f"the answer {error}") from None
    except BadDocument as error:
        came = "None (is a `return` missing?)" if raw is None else beginning(raw)
        raise bad_answer(
            f"the retriever returned {came}, which {error}; {ALLOWED}"
        ) from None


def _is_nested(raw: list[object]) -> bool:
    """Whether a list may hold the lists of one question, or a list of ids and one of scores."""
    return len(raw) in (1, 2) and not isinstance(raw[0], str | int | dict | tuple)


def _at(path: Path, raw: object) -> Sequence[object]:
    try:
        check_complete(raw)
        values = path.all(raw)
    except IncompleteAnswer as error:
        raise bad_answer(f"the answer {error}") from None
    except NoMatch as error:
        raise bad_answer(f"the path {path.text} matches nothing: {error}") from None
    return values if None in path.steps else _listed(values[0])


def _stages(raw: object, layout: Layout) -> Iterator[tuple[str, Sequence[object]]]:
    for name, path in layout.stages.items():
        yield name, _at(path, raw)
    stages = None if layout.stages or not isinstance(raw, Mapping) else raw.get("stages")
    if stages is None:
        return
    if not isinstance(stages, Mapping):
        raise bad_answer(
            f"'stages' is {beginning(stages)}; it is a dictionary of a stage's name to "
            "its list of results"
        )
    for name, value in stages.items():
        yield str(name), _listed(value)


def _rows(listed: Sequence[object], layout: Layout, where: str) -> list[Row]:
    rows = []
    for number, result in enumerate(listed):
        try:
            rows.append(row_of(result, layout))
        except BadDocument as error:
            hint = "; say where its id is with --id '$.NAME'" * (
                "neither an id" in str(error)
            )
            raise bad_answer(
                f"result {number} of {where} {error}; found {beginning(result)}{hint}"
            ) from None
    return rows


def row_of(result: object, layout: Layout) -> Row:
    """Read one result as a row; refuse what `calipers eval` would refuse.

    >>> row_of({"key": 7, "rank": {"score": 0.5}}, Layout.from_texts({"score": "$.rank.score"}))
    Row(id='7', score=0.5, text=None, ...)
    """
    if not layout.fields or isinstance(result, str | Integral):
        row = read_document(result)
    else:
        row = Row() if isinstance(result, SCALARS) else from_object(result)
        for name, path in layout.fields.items():
            try:
                value = next(iter(path.all(result)), None)
            except NoMatch as error:
                if name == "id":
                    raise BadDocument(f"has no id at {path.text}: {error}") from None
                value = None
            setattr(row, name, checked(name, value))
        row = whole(row)
    start = row.start
    end = row.end
    if not all(place is None or 0 <= place <= LARGEST for place in (start, end)) or (
        start is not None and end is not None and end < start
    ):
        raise BadDocument(f"stands from {start} to {end}, which is no span")
    return row


def _is_unsorted(rows: Sequence[Row]) -> bool:
    if len(rows) < 3 or rows[0].score is None:
        return False
    known = [row.score for row in rows if row.score is not None]
    ordered = sorted(known)
    return known not in (ordered, ordered[::-1])
