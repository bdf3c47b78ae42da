"""Mappings of query to items, as in pytrec_eval, ranx and BEIR, in memory or as JSON."""

from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, cast

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.build import ResultRows, TargetLists, TargetRows, build
from calipers.io.files.probe import Probe
from calipers.io.format import Format, read_records, wrong_format
from calipers.io.formats.ours import Ours
from calipers.io.records import json_files
from calipers.io.records.documents import finite, in_lists, is_answer, is_document
from calipers.io.records.mapped_parts import parts_by_query
from calipers.io.tables.usual_names import is_long
from calipers.model.arrays import Floats, Ints, plain_floats
from calipers.model.matched import Dataset, Role
from calipers.model.run import MOST_RESULTS, SAMPLE, Scored
from calipers.text import are_texts

# The usual ones first: the check for any mapping is slower.
_COLLECTIONS = (dict, list, tuple, set, frozenset, Mapping)
_SETS = (set, frozenset)
Items = Mapping[object, object] | Sequence[object] | Set[object]
"""The items of a query: numbers by item, or items alone."""
ByQuery = Mapping[object, Items]


class MappingFormat(Format):
    """One JSON object of query to items."""

    name = "mapping"
    title = "a mapping of query to items"
    fallback = 3

    def detect(self, probe: Probe) -> bool:
        """Any object."""
        return probe.look is not None and probe.look.shape == "object"

    def read(self, probe: Probe, role: Role) -> Dataset:
        """A ground truth or a run, as the caller says."""
        if not self.detect(probe):
            raise wrong_format(probe, self.title)
        value = probe.given
        if value is None:
            value = json_files.decoded(probe.source.read(), probe.source)
        return answers_by_query(value, role, probe) or read_mapping(
            value, role, probe.name
        )


class MappedParts(Format):
    """One object with the results and the judgements of all queries, each a mapping of them."""

    name = "mapped_parts"
    title = "results and judgements by query"
    example = '{"run": {"q1": ["a", "b"]}, "qrels": {"q1": {"a": 1}}}'

    def detect(self, probe: Probe) -> bool:
        """Whether one field maps queries to results, and another the same ones to targets."""
        return parts_by_query(probe) is not None

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Both parts; ``queries``, where it is there, has the texts."""
        parts = parts_by_query(probe)
        if parts is None:
            raise wrong_format(probe, self.title)
        run, truth, texts = (parts[part] for part in ("run", "ground_truth", "queries"))
        records = (
            {"id": query, "query": texts.get(query, query), "ground_truth": targets}
            for query, targets in truth.items()
        )
        place = f"{probe.name} $"
        raw = json_files.RawRecords(records, lambda i: f"{place}[{[*truth][i]!r:.60}]")
        judged = read_records(Ours(), probe, raw) if role != "run" else None
        if role == "ground_truth":
            returned = None
        else:
            inner = Probe(probe.source, given=run, room=probe.room)
            returned = answers_by_query(run, "run", inner)
            returned = returned or read_mapping(run, "run", probe.name)
        return Dataset(
            None if judged is None else judged.ground_truth,
            None if returned is None else returned.run,
            self.title,
        )


def answers_by_query(
    value: Mapping[object, object], role: Role, probe: Probe
) -> Dataset | None:
    """The answers of a retriever, or lists of targets as objects, by query; else None."""
    if role == "both" or not _any_fits(value, role):
        return None
    if any(isinstance(answer, str | int | float) for answer in value.values()):
        return None  # an object of another tool, which the reader of mappings refuses
    lists = (answer for answer in value.values() if isinstance(answer, list) and answer)
    first = next((answer[0] for answer in lists), None)
    if isinstance(first, Mapping) and is_long(map(str, first)):
        return None  # a list of records under a key
    queries = list(value)
    part = "retrieved" if role == "run" else "ground_truth"
    rows = ({"query": query, part: in_lists(answer)} for query, answer in value.items())
    raw = json_files.RawRecords(rows, lambda i: f"{probe.name}[{queries[i]!r:.60}]")
    return read_records(Ours(), probe, raw)


def _any_fits(value: Mapping[object, object], role: Role) -> bool:
    """Whether any value is an answer (of a run) or a list of targets as objects."""
    if role == "run":
        return any(map(is_answer, value.values()))
    # Of dicts, the usual case, none is a list: known from the type, without a look at each.
    if not any(issubclass(kind, list | tuple) for kind in kinds_of(value)):
        return False
    return any(map(_lists_targets, value.values()))


def _lists_targets(items: object) -> bool:
    """Whether the items of a query are targets as objects, judged by the first."""
    first = items[0] if isinstance(items, list | tuple) and len(items) else None
    return isinstance(first, Mapping) or is_document(first)


def read_mapping(value: Mapping[Any, object], role: Role, name: str) -> Dataset:
    """A ground truth or a run, as the caller says, from ``{query: {item: number}}``.

    The inner mapping may be a list of items: a ranking in a run, targets of grade 1 in a ground
    truth.
    """
    if role == "both":
        raise InvalidInput(
            f"{name} is a mapping of query to items, which can be a ground truth or a run; "
            "give the two separately (--ground-truth and --run)."
        )
    if not value:
        raise InvalidInput(
            f"{name} holds no queries: found an empty mapping; give each query its items (an "
            "empty list where nothing was found)."
        )
    by_query = _checked(value, name)
    if role == "ground_truth":
        return _ground_truth(by_query, name)
    return _run(by_query, name)


def _checked(value: Mapping[object, object], name: str) -> ByQuery:
    """The mapping, whose values are collections that are not too large; else refused."""
    odd = tuple(kind for kind in kinds_of(value) if not issubclass(kind, _COLLECTIONS))
    if any(hasattr(kind, "tolist") or hasattr(kind, "to_list") for kind in odd):
        plain = {query: _as_list(items) for query, items in value.items()}
        return _checked(plain, name)
    for query, items in value.items() if odd else ():
        if isinstance(items, odd):
            raise InvalidInput(
                f"{name}[{query!r}] is {_short(items)}; it must be a mapping of item to number or "
                "a list of items."
            )
    by_query = cast(ByQuery, value)
    if max(map(len, by_query.values())) > MOST_RESULTS:
        query = next(key for key in by_query if len(by_query[key]) > MOST_RESULTS)
        raise InvalidInput(
            f"{name} has {len(by_query[query]):,} items for the query {query!r:.60}; at most "
            f"{MOST_RESULTS:,} are allowed."
        )
    return by_query


def _as_list(items: object) -> object:
    """An array of numpy or a Series as a list; any other value unchanged."""
    listed = getattr(items, "tolist", None) or getattr(items, "to_list", None)
    return listed() if callable(listed) else items


def graded_truth(value: Mapping[object, object], name: str) -> Dataset | None:
    """A ground truth from plain mappings of text to number, without building a table; else None."""
    plain = _plain_targets(value)
    return None if plain is None else build(name, plain)


def _ground_truth(value: ByQuery, name: str) -> Dataset:
    """The ground truth in a mapping."""
    if (plain := graded_truth(value, name)) is not None:
        return plain
    queries = _ids(value, name)
    frame = _flatten(value, queries, name, "grade", default=1.0)

    def where(row: int) -> str:
        return f"{name}[{frame['query'][row]!r}][{frame['item'][row]!r}]"

    return build(name, TargetRows(frame, where, queries.to_frame()))


def _plain_targets(value: Mapping[object, object]) -> TargetLists | None:
    """The targets in plain mappings of text to number, without building a table yet.

    None if it is not plain or has errors, which building a table reports.
    """
    if kinds_of(value) != {dict}:
        return None
    names = cast(list[str], list(value))
    groups = cast(list[dict[str, float]], list(value.values()))
    ids = list(chain.from_iterable(groups))
    numbers = chain.from_iterable(map(dict.values, groups))
    if not are_texts(names, ids) or "" in map(str.strip, ids):
        return None
    grades = _plain_numbers(list(numbers))
    return None if grades is None else TargetLists(names, _lengths(groups), ids, grades)


def _plain_numbers(values: Sequence[object]) -> Floats | None:
    """An array of the values, if all are finite ints and floats; else None."""
    numbers = plain_floats(values)
    if numbers is None and {*map(type, values)} <= {float, int}:
        with suppress(OverflowError):
            numbers = np.array(values, dtype=np.float64)
    if numbers is None:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _run(value: ByQuery, name: str) -> Dataset:
    """The run in a mapping."""
    if (plain := scored_run(value, name)) is not None:
        return plain
    filled = kinds_of(value)
    if not all(issubclass(kind, Mapping) for kind in filled):
        filled = {type(items) for items in value.values() if items}
    scored = [issubclass(kind, Mapping) for kind in filled]
    if any(scored) and not all(scored):
        raise InvalidInput(
            f"{name} gives scores for some queries and bare lists for others; give one kind for "
            "all."
        )
    if any(issubclass(kind, _SETS) for kind in kinds_of(value)):
        unordered = next(
            query for query, items in value.items() if isinstance(items, _SETS)
        )
        raise InvalidInput(
            f"{name}[{unordered!r}] is a set, which has no order; a ranking is a list."
        )
    frame, queries = _results(value, name, scored=all(scored))
    return build(name, results=ResultRows(frame, queries=queries.to_frame()))


def _results(
    value: ByQuery, name: str, *, scored: bool
) -> tuple[pl.DataFrame, pl.Series]:
    """One row per result, and the queries."""
    queries = _ids(value, name)
    frame = _flatten(value, queries, name, "score" if scored else None)
    if queries.n_unique() < len(value):
        twice = queries.filter(queries.is_duplicated())[0]
        raise InvalidInput(
            f"{name} has two queries with the same id {twice!r}, once as a text and once as a "
            "number; give each its own."
        )
    return frame, queries


def scored_run(value: Mapping[object, object], name: str) -> Dataset | None:
    """A run from plain mappings of text to number, without building a table yet; else None."""
    if kinds_of(value) != {dict}:
        return None
    scores_by_item = cast(Mapping[str, dict[str, float]], value)
    head = _head(scores_by_item)
    if head is None:
        return None
    queries = list(value)

    def kept(
        names: list[str], lengths: Ints, items: list[str], scores: Floats
    ) -> pl.DataFrame:
        query = _ids(names, name)[np.repeat(np.arange(lengths.size), lengths)]
        return pl.DataFrame({"query": query, "item": _ids(items, name), "score": scores})

    def table() -> pl.DataFrame:
        return _results(cast(ByQuery, value), name, scored=True)[0]

    rows = ResultRows(
        Scored(scores_by_item, head, table, kept),
        tuple(head),
        queries=lambda: _ids(queries, name).to_frame(),
        in_memory=True,
    )
    return build(name, results=rows)


def _head(value: Mapping[str, dict[str, float]]) -> dict[str, list[object]] | None:
    """A sample of the first results in their order; None unless all are plain."""
    queries: list[str] = []
    items: list[str] = []
    numbers: list[float] = []
    for query, scores in value.items():
        items += scores
        numbers += scores.values()
        queries += repeat(query, len(items) - len(queries))
        if len(items) >= SAMPLE:
            break
    if not items or not are_texts(queries, items):
        return None
    first = _plain_numbers(numbers[:SAMPLE])
    if first is None:
        return None
    return {
        "query": [*queries[:SAMPLE]],
        "item": [*items[:SAMPLE]],
        "score": first.tolist(),
    }


def _lengths(groups: Sequence[Sized]) -> Ints:
    """How many items each query has."""
    return np.fromiter(map(len, groups), dtype=np.int64, count=len(groups))


def _flatten(
    value: ByQuery,
    queries: pl.Series,
    name: str,
    number: str | None,
    default: float | None = None,
) -> pl.DataFrame:
    """One row per query and item, with the number of each; an item alone has the default."""
    groups = [
        sorted(items, key=str) if isinstance(items, _SETS) else items
        for items in value.values()
    ]
    lengths = _lengths(groups)
    query = queries[np.repeat(np.arange(lengths.size), lengths)]
    item = _ids(list(chain.from_iterable(groups)), name).alias("item")
    if number is None:
        return pl.DataFrame([query, item])
    numbers = chain.from_iterable(
        items.values() if isinstance(items, Mapping) else (default,) * len(items)
        for items in groups
    )
    return pl.DataFrame([query, item, _numbers(list(numbers), query, item, number, name)])


def _ids(values: Iterable[object], name: str) -> pl.Series:
    """The ids as a column of texts; one that is neither a text nor a whole number is refused."""
    listed = values if isinstance(values, list) else list(values)
    # Checked before a table is built, which would accept lists nested to any depth.
    for kind in () if are_texts(listed) else set(map(type, listed)):
        if kind is bool or not issubclass(kind, str | int | np.integer):
            odd = next(value for value in listed if type(value) is kind)
            raise InvalidInput(
                f"{name} has the id {_short(odd)}; an id is a text or a whole number."
            )
    try:
        ids = pl.Series("query", listed, dtype=pl.String, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        ids = None
    if ids is not None and not ids.null_count():
        return ids
    return pl.Series("query", list(map(str, listed)), dtype=pl.String)


def _numbers(
    values: list[object], query: pl.Series, item: pl.Series, number: str, name: str
) -> pl.Series:
    """The scores or grades as a column; one that is no finite number is refused."""
    try:
        # What the table library would turn into a number with a warning, or break on.
        none = (list, dict, tuple, set, complex, np.complexfloating)
        if any(issubclass(kind, none) for kind in set(map(type, values))):
            raise TypeError
        series = pl.Series(number, values, dtype=pl.Float64, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        numbers = [
            None if isinstance(value, str | bytes) else finite(value) for value in values
        ]
        series = pl.Series(number, numbers, dtype=pl.Float64)
    good = np.isfinite(series.to_numpy())
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInput(
            f"{name}[{query[row]!r}][{item[row]!r}] is "
            f"{_short(values[row])}; a {number} is a finite number."
        )
    return series


def kinds_of(value: Mapping[object, object]) -> set[type]:
    """The types of the values: few, however many queries."""
    return set(map(type, value.values()))


def _short(value: object) -> str:
    """A value as it is shown in an error."""
    try:
        text = " ".join(repr(value).split())
    except RecursionError:
        return "a value nested too deeply to be shown"
    return text if len(text) <= 60 else text[:57] + "…"
