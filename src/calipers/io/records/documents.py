"""Convert one document to a row: ids, pairs, dictionaries, objects of the usual libraries.

No library is imported: a document is recognised by its attributes, not by its class.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from numbers import Complex, Integral, Real
from typing import Any
from uuid import UUID

import msgspec

from calipers.model.ground_truth import page_label
from calipers.names import (
    ATTRIBUTES,
    COLUMNS,
    HOLDERS,
    LISTS,
    METADATA,
    RESULT,
    ROW,
    SCORE_IN_METADATA,
    WRAPPED,
    plain_name,
)
from calipers.text import field

SCALARS = (str, bytes, Real, type(None), list, tuple)

Get = Callable[[str], object]
Names = tuple[tuple[str, tuple[str, ...]], ...]
Places = tuple[Names, tuple[str, ...], tuple[str, ...]]
EVERYWHERE: Places = (tuple(RESULT.items()), WRAPPED, METADATA)
_LISTED = ("ids", *LISTS)
ITEM_IDS = ROW["item"][:10]
"""Names of an id in a table, which a result of its own kind may use, too."""


class BadDocument(Exception):
    """A document that cannot be used; the message continues "result 3 ..."."""


class IncompleteAnswer(BadDocument):
    """An answer that says that it lacks results; the message continues "the answer ..."."""


class Row(msgspec.Struct, omit_defaults=True, gc=False):
    """One result as written; only plain values, so that garbage collection can skip it."""

    id: str | None = None
    score: float | None = None
    text: str | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None
    tokens: int | None = None
    page: str | None = None
    title: str | None = None


def results_in(answer: Any, most: int | None = None) -> Sequence[Any]:
    """The results in an answer of any shape, in order, for ``read_document`` to read one by one.

    An answer is a list, a mapping of id to score, an object or a mapping with a list under a usual
    name, a table, parallel columns, or a list of ids with a list of scores. ``most`` limits a
    generator.

    >>> results_in({"hits": {"hits": [{"_id": "a"}]}}), results_in({"a": 0.1, "b": 0.9})
    ([{'_id': 'a'}], [('b', 0.9), ('a', 0.1)])
    """
    if isinstance(answer, list | tuple) and len(answer) == 2:
        pairs = _from_two_lists(answer)
        if pairs is not None:
            return pairs
    if isinstance(answer, list):
        # Milvus answers a list of queries, even for a single one.
        only = answer[0] if len(answer) == 1 and isinstance(answer[0], list) else [""]
        return answer if any(isinstance(one, SCALARS) for one in only) else only
    if isinstance(answer, Mapping):
        return _in_mapping(answer)
    if hasattr(answer, "meta") and isinstance(
        getattr(answer, "body", None), Mapping | list
    ):
        # A response of Elasticsearch's client, which is not a mapping itself.
        return results_in(answer.body, most)
    if isinstance(answer, tuple):
        return answer
    if answer is None or isinstance(answer, str | bytes | Real):
        raise BadDocument("is no list of results")
    if isinstance(answer, set | frozenset):
        raise BadDocument("is a set, which has no order; return a list")
    if isinstance(answer, Iterator):
        return list(answer if most is None else islice(answer, most + 1))
    if hasattr(answer, "columns"):
        # A table of polars, Arrow or pandas; iterating over it would give the column names.
        for name, *how in (("to_dicts",), ("to_pylist",), ("to_dict", "records")):
            if hasattr(answer, name):
                return list(getattr(answer, name)(*how))
    check_complete(getattr(answer, "_d_", None))  # a response of elasticsearch.dsl
    for name in ATTRIBUTES:
        inner = getattr(answer, name, None)
        if isinstance(inner, list | tuple):
            # Vespa's client gives no hits for an error, too, which its JSON tells.
            said = None if inner else getattr(answer, "json", None)
            return _in_mapping(said) if isinstance(said, Mapping) else inner
    if hasattr(answer, "tolist"):
        listed = answer.tolist()
        # Numbers alone are the scores of a Series, whose index holds the ids.
        if isinstance(listed, list) and not all(map(is_number, listed)):
            return listed
    if callable(getattr(answer, "to_dict", None)) and isinstance(
        answer.to_dict(), Mapping
    ):
        return _in_mapping(answer.to_dict())
    found = answer.tolist() if hasattr(answer, "tolist") else answer
    if isinstance(found, Iterable):
        return list(found)
    raise BadDocument(f"is a {type(answer).__name__} that holds no list of results")


def _from_two_lists(answer: Sequence[Any]) -> list[tuple[Any, Any]] | None:
    """Pairs from a list of ids and a list of scores, as BM25 libraries answer; None if it is none.

    >>> _from_two_lists((["a", "b"], [0.9, 0.5])), _from_two_lists([("a", 0.9), ("b", 0.5)])
    ([('a', 0.9), ('b', 0.5)], None)
    """
    columns = [_column(one) for one in answer]
    if not all(isinstance(column, list | tuple) for column in columns):
        return None
    ids, scores = map(_only_row, columns)
    if not ids and not scores and isinstance(answer, tuple):
        return []
    # Two pairs of whole numbers, as (id, score), look the same unless they are lists.
    are_lists = isinstance(answer, tuple) and not isinstance(answer[0], tuple)
    as_ids = is_id if are_lists else (lambda one: isinstance(one, str))
    if ids and all(isinstance(one, float) for one in ids) and all(map(as_ids, scores)):
        raise BadDocument("is a list of scores before one of ids; return the ids first")
    if not ids or not all(map(as_ids, ids)) or not all(map(is_number, scores)):
        return None
    if len(ids) != len(scores):
        raise BadDocument(
            f"is a list of {len(ids)} ids and a list of {len(scores)} scores"
        )
    return list(zip(ids, scores, strict=True))


def in_lists(answer: Any) -> Any:
    """An answer whose columns are lists, where they were arrays or Series.

    >>> import numpy as np
    >>> in_lists((np.array(["a"]), np.array([0.5]))), in_lists({"ids": np.array([7])})
    ((['a'], [0.5]), {'ids': [7]})
    """
    if isinstance(answer, dict):
        return {name: _column(values) for name, values in answer.items()}
    if isinstance(answer, list | tuple) and len(answer) == 2:
        columns = [_column(values) for values in answer]
        if any(
            column is not values for column, values in zip(columns, answer, strict=True)
        ):
            return tuple(columns) if isinstance(answer, tuple) else columns
    return answer


def _column(values: Any) -> Any:
    """The values of an array or a Series as a list; anything else as it is."""
    for name in ("tolist", "to_list", "to_pylist"):
        if not isinstance(values, SCALARS) and callable(getattr(values, name, None)):
            return getattr(values, name)()
    return values


def _only_row(column: Sequence[Any]) -> list[Any]:
    """The values of a single question: libraries answer several with a row for each."""
    if not column or not all(isinstance(row, list) for row in column):
        return [*column]
    if len(column) > 1:
        raise BadDocument(f"has {len(column)} rows; return the row of the one question")
    return [*column[0]]


def check_complete(answer: object) -> None:
    """Refuse an answer of Elasticsearch or OpenSearch that lacks the hits of a part of the index.

    >>> check_complete({"_shards": {"total": 5, "failed": 1}, "hits": {"hits": []}})
    Traceback (most recent call last):
    ...
    calipers.io.records.documents.IncompleteAnswer: lacks results: 1 of 5 shards failed; ask again
    """
    if not isinstance(answer, Mapping):
        return
    shards = answer.get("_shards")
    failed = shards.get("failed") if isinstance(shards, Mapping) else None
    if isinstance(shards, Mapping) and isinstance(failed, int) and failed > 0:
        total = shards.get("total", "all")
        raise IncompleteAnswer(
            f"lacks results: {failed} of {total} shards failed; ask again"
        )
    if answer.get("timed_out") is True:
        raise IncompleteAnswer("lacks results: the search timed out; ask again")


def _in_mapping(answer: Mapping[object, object]) -> Sequence[Any]:
    check_complete(answer)
    answer = in_lists(answer)
    if isinstance(answer.get("ids"), list | tuple):
        return _from_columns(answer)
    for name in (*LISTS, *HOLDERS):
        inner = answer.get(name)
        if isinstance(inner, list | tuple) and len(inner) == 2:
            pairs = _from_two_lists(inner)
            if pairs is not None:
                return pairs
        if isinstance(inner, list | tuple | Iterator):
            return list(inner)
        if isinstance(inner, Mapping) and any(deeper in inner for deeper in LISTS):
            return _in_mapping(inner)
        if (
            isinstance(inner, Mapping)
            and name == "root"
            and {"relevance", "fields"} <= {*inner}
        ):
            if inner.get("errors"):
                raise BadDocument(f"reports errors: {inner['errors']!r:.120}")
            return []  # Vespa leaves the list out where there are no hits
    if all(map(is_number, answer.values())):
        return sorted(answer.items(), key=lambda pair: -float(pair[1]))
    for key, inner in answer.items():
        # The same names in another style: ResultItems, retrievalResults.
        if isinstance(inner, list) and plain_name(str(key)) in LISTS:
            return inner
    raise BadDocument("is a dictionary without a list of results")


def _from_columns(answer: Mapping[Any, Any]) -> Sequence[Any]:
    """Results given column by column, as Chroma does: ids, distances, documents, metadatas."""
    columns: dict[str, Sequence[Any]] = {}
    for name, places in COLUMNS.items():
        pool_items = next(
            (answer[place] for place in places if answer.get(place) is not None), None
        )
        if pool_items is not None:
            # A single query returns a list with one list in it.
            columns[name] = (
                pool_items[0]
                if len(pool_items) == 1 and isinstance(pool_items[0], list)
                else pool_items
            )
    if len({len(column) for column in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(column)}" for name, column in columns.items())
        raise BadDocument(f"has columns of different lengths: {lengths}")
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in rows]


def read_document(one: object) -> Row:
    """Convert a document to a row; refused if it has nothing to identify it by.

    >>> read_document({"id": 7, "score": 0.5, "metadata": {"source": "a.md"}})
    Row(id='7', score=0.5, text=None, document='a.md', ...)
    """
    if is_id(one):
        return Row(str(one))
    if isinstance(one, list | tuple):
        return whole(_from_pair(one))
    if isinstance(one, SCALARS):
        raise BadDocument("is neither an id nor an object")
    return whole(from_object(one))


def whole(row: Row) -> Row:
    """Complete the derived fields of a row; refused if it has nothing to identify it by."""
    with_end(row)
    if row.id is None and row.text is None:
        if row.document is None:
            raise BadDocument("has neither an id nor a text")
        if row.start is None:
            row.id = row.document
    return row


def with_end(row: Row) -> Row:
    """The row with its end computed from its start and text."""
    if row.start is not None and row.end is None and row.text is not None:
        row.end = row.start + len(row.text)
    return row


def _from_pair(one: Sequence[object]) -> Row:
    if hasattr(one, "_asdict"):
        return from_object(one._asdict())
    if len(one) == 3 and isinstance(one[1], str) and is_id(one[0]) and is_number(one[2]):
        return Row(str(one[0]), checked("score", one[2]), one[1])
    if len(one) not in (2, 3):
        raise BadDocument(
            f"is a list of {len(one)}, not an (id, score) pair{_if_a_batch(one)}"
        )
    first = one[0]
    second = one[1]
    score_first = not is_number(second) or (
        isinstance(first, float) and isinstance(second, Integral)
    )
    if isinstance(first, Integral) and isinstance(second, str):
        raise BadDocument(
            "is a whole number and a text, which may be (id, text) or (score, id); return "
            "dictionaries with 'id', 'score' and 'text'"
        )
    if is_number(first) and score_first:
        first, second = second, first
    if not is_number(second):
        raise BadDocument(f"is a pair without a score that is a number{_if_a_batch(one)}")
    row = Row(str(first)) if is_id(first) else from_object(first)
    row.score = checked("score", second)
    if len(one) == 3 and isinstance(one[2], str):
        row.text = one[2]
    return row


def _if_a_batch(one: Sequence[object]) -> str:
    """Advice for a result that is itself a list of results."""
    if one and isinstance(one[0], list | tuple | Mapping):
        return (
            " (it holds a list for each of several questions: return the results of one)"
        )
    return ""


def from_object(one: Any) -> Row:
    """Convert an object or a dictionary with any of the usual field names to a row."""
    if isinstance(one, SCALARS):
        raise BadDocument("has no id and no text")
    if (
        not isinstance(one, Mapping)
        and hasattr(one, "keys")
        and hasattr(one, "__getitem__")
    ):
        # A database row, by its column names.
        one = {name: one[name] for name in one.keys()}  # noqa: SIM118 - these give no names else
    get = _getter(one)
    row = Row()
    names, wrapped, metadata = _places(tuple(one)) if type(one) is dict else EVERYWHERE
    for name, places in names:
        _take(row, name, get, places)
    for place in wrapped:
        inner = get(place)
        if inner is not None and not isinstance(inner, SCALARS):
            _fill(row, from_object(inner))
    if row.text is None:
        row.text = text_in_parts(get("content"))
    if row.text is None and _is_node(one):
        row.text = checked("text", one.get_content())
    for place in metadata:
        inner = get(place)
        if isinstance(inner, Mapping):
            _fill(row, from_metadata(inner))
        elif hasattr(inner, "__dict__"):
            _fill(row, from_metadata(vars(inner)))
    if (
        row.id is None
        and isinstance(one, dict)
        and is_id(own := getattr(one, "id", None))
    ):
        row.id = str(own)  # a hit of Milvus knows its primary key
    if row.id is None and isinstance(one, Mapping):
        _take(row, "id", get, _spelled(tuple(one), ITEM_IDS))
    return row


def text_in_parts(content: object) -> str | None:
    """The text of a result that is given in parts, as the search of OpenAI's vector stores does.

    Bedrock gives it as one part.

    >>> text_in_parts([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}])
    'One.\\nTwo.'
    """
    if isinstance(content, Mapping):
        text = content.get("text")
        return text if isinstance(text, str) else None
    if not isinstance(content, list | tuple) or not content:
        return None
    texts = [field(part, "text") for part in content if not isinstance(part, str)]
    known = [text for text in texts if isinstance(text, str)]
    return "\n".join(known) if known and len(known) == len(content) else None


def from_metadata(metadata: Mapping[str, object]) -> Row:
    """Convert the metadata of a document to a row; unusable values are skipped."""
    row = Row()
    names, _, _ = _places(tuple(metadata)) if type(metadata) is dict else EVERYWHERE
    for name, places in names:
        known = places if name != "score" else SCORE_IN_METADATA
        _take(row, name, metadata.get, known, strict=False)
    return row


@lru_cache(maxsize=256)
def _places(keys: tuple[object, ...]) -> Places:
    """The lookups that can succeed for a dictionary with these keys.

    >>> _places(("chunkId", "text"))[0]
    (('id', ('chunkId',)), ('text', ('text',)))
    """
    known = set(keys)
    if known >= {"relevance", "fields"}:
        keys = tuple(
            key for key in keys if key != "source"
        )  # of a Vespa hit: its cluster
    names = ((name, _spelled(keys, places)) for name, places in RESULT.items())
    return (
        tuple((name, places) for name, places in names if places),
        tuple(place for place in WRAPPED if place in known),
        tuple(place for place in METADATA if place in known),
    )


@lru_cache(maxsize=1024)
def _spelled(keys: tuple[object, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """The keys with these names; where none is spelled so, those in another style.

    >>> _spelled(("id", "ID"), ("id",)), _spelled(("CHUNK_ID", "text"), ("chunk_id",))
    (('id',), ('CHUNK_ID',))
    """
    exact = tuple(name for name in names if name in keys)
    if exact:
        return exact
    styled = {plain_name(key): key for key in reversed(keys) if isinstance(key, str)}
    return tuple(styled[name] for name in names if name in styled)


def _take(
    row: Row, name: str, get: Get, places: Sequence[str], *, strict: bool = True
) -> None:
    """Set a field from the first usable value; metadata may use the same key differently."""
    for place in places:
        value = get(place)
        if place == "relevance" and isinstance(value, bool):
            continue  # a judgement, and no score
        if value is None or not isinstance(value, str | UUID | Real):
            continue
        try:
            setattr(row, name, checked(name, value))
        except BadDocument:
            if strict and name in ("id", "score"):
                raise
            continue
        return


def _fill(row: Row, other: Row) -> None:
    for name in RESULT:
        if getattr(row, name) is None:
            setattr(row, name, getattr(other, name))


def _getter(one: object) -> Get:
    if isinstance(one, Mapping):
        return one.get

    def attribute(name: str) -> Any:
        try:
            value = getattr(one, name, None)
        except (ValueError, NotImplementedError, KeyError):
            # Some documents raise if they have no text.
            return None
        return None if callable(value) else value

    return attribute


def checked(name: str, value: Any) -> Any:
    """The value of a field in its own type; refused if it does not fit."""
    if value is None:
        return None
    if name in ("id", "document"):
        if not is_id(value):
            raise BadDocument(
                f"has the {name} {value!r}; it must be a text or a whole number"
            )
        return str(value)
    if name == "page":
        if isinstance(value, bool):
            raise BadDocument(f"has the page {value!r}; it must be a number or a label")
        return page_label(value)
    if name == "title":
        return value if isinstance(value, str) else None
    if name == "text":
        if not isinstance(value, str):
            raise BadDocument(f"has the text {value!r:.60}; it must be a text")
        return value
    if name == "score":
        value = number_in(value)
        if not is_number(value):
            raise BadDocument(f"has the score {value!r:.60}; it must be a number")
        number = float(value)
        if not math.isfinite(number):
            raise BadDocument(f"has the score {number}; it must be a finite number")
        return number
    if isinstance(value, bool) or not (
        isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    ):
        raise BadDocument(f"has {name} {value!r:.60}; it must be a whole number")
    return int(value)


def number_in(value: object) -> object:
    """The number in a text, as DPR writes scores; any other value unchanged.

    >>> number_in("82.5"), number_in("high"), number_in(3)
    (82.5, 'high', 3)
    """
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def is_id(value: object) -> bool:
    """Whether a value can be an id: a text or a whole number."""
    return isinstance(value, str | Integral | UUID) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether a value is a number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def finite(value: Any) -> float | None:
    """A value as a finite number; None if it is not one.

    >>> finite("2.5"), finite("two"), finite("nan")
    (2.5, None, None)
    """
    if isinstance(value, Complex) and value.imag:
        return None  # numpy would leave the imaginary part out, with a warning
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_answer(value: object) -> bool:
    """Whether a value is an answer of a retriever, or lists objects: neither ids nor scores by id.

    >>> is_answer(["a"]), is_answer({"a": 0.5}), is_answer([("a", 0.5)]), is_answer({"hits": []})
    (False, False, True, True)
    """
    if isinstance(value, list | tuple):
        return bool(value) and not isinstance(value[0], str | int | float | bytes | None)
    if isinstance(value, Mapping):
        named = (value[name] for name in _LISTED if name in value)
        return any(isinstance(_column(one), list | tuple | Mapping) for one in named)
    # Texts, numbers and sets are no answers; the reader of mappings reports them.
    return hasattr(value, "__iter__") and not isinstance(
        value, str | bytes | set | frozenset
    )


def is_document(value: object) -> bool:
    """Whether a value is a document of LangChain, LlamaIndex or Haystack, alone or with a score.

    >>> from types import SimpleNamespace
    >>> is_document(SimpleNamespace(page_content="text", metadata={}))
    True
    >>> is_document("chunk_1")
    False
    """
    if type(value) in (
        str,
        int,
        dict,
    ):  # nearly always; looking for attributes takes longer
        return False
    if isinstance(value, tuple):
        return len(value) == 2 and is_document(value[0])
    return (
        (hasattr(value, "page_content") and hasattr(value, "metadata"))
        or _is_node(value)
        or (hasattr(value, "node") and hasattr(value, "score") and _is_node(value.node))
        or all(hasattr(value, name) for name in ("id", "content", "meta"))
    )


def _is_node(value: object) -> bool:
    return hasattr(value, "get_content") and hasattr(value, "node_id")


def as_result(value: object) -> dict[str, object]:
    """Convert a document to a result: id, text, score, and its place in its source.

    >>> from types import SimpleNamespace
    >>> as_result(SimpleNamespace(id="c1", page_content="text", metadata={"source": "a.md"}))
    {'id': 'c1', 'text': 'text', 'document': 'a.md'}
    """
    row = with_end(_from_pair(value) if isinstance(value, tuple) else from_object(value))
    return {name: one for name in RESULT if (one := getattr(row, name)) is not None}
