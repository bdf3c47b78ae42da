"""Exports of search engines, vector stores and evaluation platforms, by names and values.

A log with the answer of an engine beside each question (Elasticsearch, Vespa, Qdrant, Pinecone,
Weaviate, Azure, BigQuery, Chroma, Haystack, LlamaIndex), an experiment with inputs, outputs and
reference outputs (LangSmith, Langfuse, MLflow, promptfoo), a table with its columns apart (Weights
& Biases, pandas), predictions of MTEB.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import combinations, islice
from pathlib import Path
from typing import TypeGuard

import msgspec
import polars as pl

from calipers.errors import InvalidInput, Unclear
from calipers.frozen import dataclass
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe
from calipers.io.format import Format, read_records
from calipers.io.formats.ours import Ours
from calipers.io.records.documents import (
    Row,
    is_answer,
    is_number,
    read_document,
    text_in_parts,
)
from calipers.io.records.explode import SAME_QUERY
from calipers.io.records.fields import names_of_parts
from calipers.io.records.json_files import (
    MOST_COLUMNS,
    RawRecords,
    first_object,
    is_list_of_objects,
    opened,
    rows_of_columns,
)
from calipers.io.records.layout import (
    Layout,
    ids_in,
    layout_of,
    nearest,
    only_object,
    part_at,
    question_at,
    question_in,
    question_inside,
    question_or_id,
    shown,
    value_at,
    with_open_texts,
)
from calipers.io.records.rankings import are_rankings, later_stage_first
from calipers.io.records.reviews import annotated
from calipers.io.tables.cells import cell_value
from calipers.io.tables.columns import Columns
from calipers.io.tables.scan import InputTable, explained
from calipers.io.tables.usual_names import renaming
from calipers.model.matched import Dataset, Role
from calipers.names import NEIGHBOUR, QUERY_ID, ROW_ID, plain_name

_SOME = 50
"""Records that are looked at, and read as a trial."""
_DEEPEST = 3
"""How many objects may wrap the list of records."""
_ROWS_AT_ONCE = 2_000
"""Rows of a table that are decoded together."""


@dataclass(frozen=True)
class Export:
    """Records of another tool, where they stand, and where they keep their parts."""

    records: RawRecords
    layout: Layout
    sample: Sequence[Mapping[str, object]]

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield the records under our names, without what is none of their parts."""
        names = self.layout.names()
        nested = "." in names["query"]
        for record in map(with_open_texts, self.records.plain()):
            row = {ours: part_at(record, path) for ours, path in names.items()}
            if "ground_truth" in row:
                row["ground_truth"] = _with_texts(row["ground_truth"])
            row["query"] = question_at(record, names["query"])
            # An experiment numbers its rows; its questions are known by their texts.
            held = value_at(record, names["query"].rpartition(".")[0]) if nested else None
            ident = self._id_beside(held) if nested else self._id_of(record)
            yield row if ident is None else {"id": ident, **row}

    def _id_of(self, record: Mapping[str, object]) -> object:
        for key in self._ids:
            if isinstance(record.get(key), str | int):
                return record[key]
        return None

    def _id_beside(self, held: object) -> object:
        """The id of a question that stands in an object with it, ``{"text": …, "qid": …}``."""
        known = held if isinstance(held, Mapping) else {}
        return next((known[name] for name in QUERY_ID if name in known), None)

    @cached_property
    def _ids(self) -> list[str]:
        plain = {plain_name(key): key for key in map(str, self.sample[0])}
        return [plain[name] for name in (*QUERY_ID, *ROW_ID) if name in plain]

    def note(self) -> str:
        """How the records were understood, with one of them as an example."""
        called = {"retrieved": "results", "ground_truth": "targets"}
        names = self.layout.names()
        said = ", ".join(
            f"{called.get(ours, ours)} ← {path}" for ours, path in names.items()
        )
        for record in self.sample:
            targets, results = (
                _names_in(part_at(record, names[part])) if part in names else []
                for part in ("ground_truth", "retrieved")
            )
            if targets or results:
                query = str(question_at(record, names["query"]))
                return f"{said}: {shown(query, targets, results)}."
        return f"{said}."


def _with_texts(targets: object) -> object:
    """The targets, with the text of those that Bedrock gives in parts.

    >>> _with_texts([{"content": [{"text": "One."}]}])
    [{'quote': 'One.'}]
    """
    if not isinstance(targets, list):
        return targets
    texts = [
        text_in_parts(one.get("content")) if isinstance(one, Mapping) else None
        for one in targets
    ]
    return [
        one if text is None else {"quote": text}
        for one, text in zip(targets, texts, strict=True)
    ]


def _names_in(value: object) -> list[str]:
    """The ids or texts in a list of results or targets."""
    if isinstance(value, Mapping) and all(map(is_number, value.values())):
        return [str(key) for key in value]
    return ids_in(value) or []


class Exports(Format):
    """Records whose parts are found by their names and values."""

    name = "export"
    title = "an export with questions and results"
    example = '{"query": …, "matches": [{"id": …}], "expected_ids": […]}'

    def detect(self, probe: Probe) -> bool:
        """Never by itself: what it holds depends on the role, so the registry looks for it."""
        del probe
        return False

    def read(self, probe: Probe, role: Role) -> Dataset:
        """Read the parts that are found."""
        export = find_export(probe, role)
        if export is None:
            raise InvalidInput(
                f"{probe.name} holds no list of results beside its questions."
            )
        raw = replace(export.records, items=export.rows())
        dataset = read_records(Ours(), probe, raw, [export.note()])
        return replace(dataset, kind=self.title)


def find_export(probe: Probe, role: Role, *, whole: bool = False) -> Export | None:
    """The export in a file; None if it is none, or if our names already say what it holds.

    ``whole`` wants results and targets of a file that is to hold both.
    """
    said = {*probe.columns_said.named}
    for place in _places(probe):
        if not _is_record(place.first):
            continue
        if question_or_id(place.first) is None and question_inside(place.first) is None:
            continue
        if {"item", "quote"} & place.first.keys():
            continue
        if _says_all(place.first, role):
            continue
        items = islice(place.records().plain(), _SOME)
        sample = [with_open_texts(row) for row in items if _is_record(row)]
        layout = layout_of(sample, said) if sample else None
        if layout is None or not _has_what_is_needed(layout, role, whole=whole):
            continue
        layout = nearest(layout, sample)
        _refuse_several(layout, sample, probe.name)
        export = Export(place.records(), layout, sample)
        if _can_be_read(export, probe.name):
            return export
    return None


@dataclass(frozen=True)
class _Place:
    """A list of records in a file: the first one, and how to read all of them."""

    first: Mapping[str, object]
    records: Callable[[], RawRecords]


def _places(probe: Probe) -> Iterator[_Place]:
    """Yield every list of records in a file or a value, the outermost first."""
    if probe.table is not None:
        yield from _rows_of_table(probe.table)
        return
    look = probe.look
    if look is None or len(look.first) > MOST_COLUMNS:
        return
    if look.shape != "object" or question_or_id(look.first) is not None:
        yield _Place(with_open_texts(_decoded(look.first)), probe.records)
    if look.shape != "object":
        return
    for owner in filter(None, probe.row_keys):
        listed = look.first[owner]
        yield _Place(_decoded(first_object(listed)), partial(probe.records, owner))
    for key, value in look.first.items():
        held = opened(value) if _begins_as_object(value) else None
        if isinstance(held, Mapping):
            yield from _inside(held, str(key), probe.name)


def _decoded(record: Mapping[str, object]) -> dict[str, object]:
    """A record whose values may not be decoded yet."""
    return {str(key): opened(value) for key, value in record.items()}


def _begins_as_object(value: object) -> bool:
    return bytes(value).startswith(b"{") if isinstance(value, msgspec.Raw) else True


def _inside(
    held: Mapping[str, object], path: str, name: str, depth: int = 1
) -> Iterator[_Place]:
    """Yield the lists of records inside an object."""
    for key, value in islice(held.items(), MOST_COLUMNS):
        inner = f"{path}.{key}"
        if isinstance(value, list) and value and isinstance(value[0], Mapping):
            yield _Place(value[0], partial(_listed, value, f"{name} $.{inner}"))
        elif isinstance(value, Mapping) and depth < _DEEPEST:
            yield from _inside(value, inner, name, depth + 1)


def _listed(rows: Sequence[object], path: str) -> RawRecords:
    return RawRecords(rows, lambda number: f"{path}[{number}]")


def _rows_of_table(table: InputTable) -> Iterator[_Place]:
    """Yield the rows of a table with objects or lists in its cells, also as JSON in a text."""
    with explained(table.name, table.fault):
        some = table.rows(pl.all(), most=1)
    texts = [cell for cell in (some.rows() or [()])[0] if isinstance(cell, str)]
    is_nested = any(kind.is_nested() for kind in some.dtypes)
    if not is_nested and not any(cell.startswith("{") for cell in texts):
        return

    def rows() -> Iterator[dict[str, object]]:
        with explained(table.name, table.fault):
            for batch in table.batches(table.names(), _ROWS_AT_ONCE):
                for row in batch.iter_rows(named=True):
                    yield {key: cell_value(value, False) for key, value in row.items()}

    first = next(rows(), None)
    if first is not None:
        yield _Place(
            with_open_texts(first),
            lambda: RawRecords(rows(), lambda row: f"{table.where(row)} $"),
        )


def _is_record(row: object) -> bool:
    """Whether a value is a record; one of a single field holds the record itself."""
    if not isinstance(row, Mapping) or len(row) > MOST_COLUMNS:
        return False
    return len(row) > 1 or any(map(only_object, row.values()))


def _says_all(first: Mapping[str, object], role: Role) -> bool:
    """Whether the names of our own fields say all that a role needs."""
    known = {ours: theirs for theirs, ours in renaming([*map(str, first)]).items()}
    if "query" not in known:
        return False
    has_results = isinstance(
        first.get("retrieved", first.get(known.get("retrieved", ""))), list
    )
    item = first.get("ground_truth", first.get(known.get("item", known.get("quote", ""))))
    held = [value for value in first.values() if isinstance(value, list | Mapping)]
    if not held and {"item", "quote"} & known.keys():
        return True  # one result or judgement in each row
    has_truth = isinstance(item, list | Mapping)
    needed = {
        "run": has_results,
        "ground_truth": has_truth,
        "both": has_results and has_truth,
    }
    return needed[role]


def _has_what_is_needed(layout: Layout, role: Role, *, whole: bool) -> bool:
    if role == "run":
        return bool(layout.retrieved)
    if role == "ground_truth":
        return bool(layout.ground_truth)
    if layout.retrieved and layout.ground_truth:
        return True
    # One part alone is left to those who propose the other, unless they cannot read even that.
    nested = any("." in path for path in layout.names().values())
    return not whole and nested and bool(layout.retrieved or layout.ground_truth)


def _refuse_several(
    layout: Layout, sample: Sequence[Mapping[str, object]], name: str
) -> None:
    """Refuse two lists that could each be the results, or the targets, with a line for each."""
    parts = {"retrieved": layout.retrieved, "ground_truth": layout.ground_truth}
    for ours, paths in parts.items():
        lists = {
            path: [_names_in(part_at(row, path)) for row in sample] for path in paths
        }
        for first, second in combinations(sorted(paths, key=later_stage_first), 2):
            if are_rankings(lists[first], lists[second]):
                what = "results" if ours == "retrieved" else "targets"
                raise Unclear(
                    f"the records of {name} list {what} twice, in {first!r} and {second!r}",
                    ((ours, first),),
                    ((ours, second),),
                )


def _can_be_read(export: Export, name: str) -> bool:
    """Whether the first records can be read in this layout."""
    raw_records = RawRecords(export.sample, lambda number: f"{name}[{number}]")
    rows = [*replace(export, records=raw_records).rows()]
    trial = Probe(Source(Path(name)), given=rows)
    try:
        read_records(Ours(), trial, RawRecords(rows, raw_records.place))
    except InvalidInput as error:
        return SAME_QUERY in str(error)  # understood, and refused with its place later
    return True


def unfolded(probe: Probe) -> Probe:
    """A table in another shape than a list of records, as one; any other file unchanged.

    ``{"columns": […], "data": [[…]]}``, as Weights & Biases and pandas (orient="split") write it,
    or records by number, ``{"0": {…}, "1": {…}}`` (orient="index"). Answers of ``_rank_eval``, and
    rows of BigQuery's ``VECTOR_SEARCH``, hold one result each.
    """
    records = _neighbours(probe) or annotated(probe) or probe.lists_as_records()
    # As the file has it: the columns that the user names are those of its records.
    look = probe.as_written().look
    if look is not None and look.shape == "object" and len(look.first) <= _MOST_ROWS:
        said = probe.columns_said
        records = records or _by_key(look.first) or _rated_hits(look.first)
        records = records or _by_query(look.first, said)
        records = records or rows_of_columns(look.first, probe.name, said)
        if not records and said.named:
            records = _only_list(look.first)
        if {"columns", "data"} <= look.keys:
            names = opened(look.first["columns"])
            records = _in_columns(names, opened(look.first["data"]))
    return _holding(probe, records)


def _holding(probe: Probe, records: Sequence[object]) -> Probe:
    """The file as a list of these records; unchanged without any."""
    if not records:
        return probe
    return Probe(probe.source, probe.columns_said, records, probe.room, trial=probe.trial)


def with_nested_records(probe: Probe) -> Probe:
    """An object as the one list of records with questions inside of it, if there is one."""
    look = probe.look
    if look is None or look.shape != "object":
        return probe
    return _holding(probe, _nested_records(look.first))


def _neighbours(probe: Probe) -> list[object]:
    """The rows of a vector search in BigQuery: the question, a result, its distance."""
    if not any(keys >= NEIGHBOUR for keys in probe.row_keys.values()):
        return []
    for place in _places(probe):
        asked = question_in(place.first)
        if asked is None or not isinstance(place.first.get("base"), Mapping):
            continue
        rows: list[object] = []
        for record in map(with_open_texts, place.records().plain()):
            base = record.get("base")
            document = read_document(base) if isinstance(base, Mapping) else Row()
            rows.append(
                {
                    "query": value_at(record, asked),
                    "item": document.id,
                    "text": document.text,
                    "distance": record.get("distance"),
                }
            )
        return rows
    return []


def _rated_hits(value: Mapping[str, object]) -> list[object]:
    """The hits in an answer of ``_rank_eval``, each with its rating; none if it is no such."""
    if not {"metric_score", "details"} <= value.keys():
        return []
    details = opened(value["details"])
    rows: list[object] = []
    for query, detail in details.items() if isinstance(details, Mapping) else ():
        hits = detail.get("hits") if isinstance(detail, Mapping) else None
        for rank, hit in enumerate(hits if isinstance(hits, list) else [], 1):
            document = hit.get("hit") if isinstance(hit, Mapping) else None
            if not isinstance(document, Mapping):
                return []
            row = {"query": query, "item": document.get("_id"), "rank": rank}
            rows.append({**row, "grade": hit.get("rating")})
    return rows


def _by_key(value: Mapping[str, object]) -> list[object]:
    """The records in an object with one under each number or id; none if it is no such object."""
    # The first says it of nearly every mapping of query to items, which has as many as queries.
    if not value or not _asks(opened(next(iter(value.values())))):
        return []
    by_number = all(str(key).isdigit() for key in value)
    if len(value) < _FEWEST_BY_QUERY and not by_number:
        return []
    records = {key: opened(row) for key, row in value.items()}
    if not all(map(_asks, records.values())):
        return []
    if by_number:
        return [*records.values()]
    return [{"id": key, **record} for key, record in records.items()]


def _only_list(value: Mapping[str, object]) -> list[object]:
    """The records under the only key that lists any, for columns that the user names."""
    if len(value) > MOST_COLUMNS or question_in(_decoded(value)) is not None:
        return []
    lists = [held for held in value.values() if is_list_of_objects(held)]
    return list(opened(lists[0])) if len(lists) == 1 else []


def _nested_records(value: Mapping[str, object]) -> list[object]:
    """The one list of records with questions inside of other objects; none if there is none."""
    if len(value) > MOST_COLUMNS or question_in(_decoded(value)) is not None:
        return []
    if any(map(is_list_of_objects, value.values())):
        return []
    held = {key: opened(one) for key, one in value.items() if _begins_as_object(one)}
    found = [
        place
        for key, inner in held.items()
        if isinstance(inner, Mapping)
        for place in _inside(inner, str(key), "")
        if _asks(place.first)
    ]
    return list(found[0].records().items) if len(found) == 1 else []


def _asks(row: object) -> bool:
    """Whether a value is a record with a question."""
    return isinstance(row, Mapping) and question_in(row) is not None


def _by_query(value: Mapping[str, object], said: Columns) -> list[object]:
    """The records in an object with one under each question; none if it is no such object."""
    if len(value) < _FEWEST_BY_QUERY:
        return []
    # The first says it of nearly every mapping, which has as many values as queries.
    first = next(iter(value.values()))
    if not _begins_as_object(first) or not _is_answer(opened(first), said):
        return []
    if not all(map(_begins_as_object, value.values())):
        return []
    records: list[object] = []
    for query, held in value.items():
        record = opened(held)
        if not _is_answer(record, said):
            return []
        records.append({"query": query, **record})
    return records


def _lists_one_part(record: Mapping[str, object]) -> bool:
    """Whether a record lists its results or its targets, and something else beside them.

    >>> _lists_one_part({"run": ["a", "b"], "gold": ["b"]}), _lists_one_part({"q1": [], "q2": []})
    (True, False)
    """
    lists = [key for key, value in record.items() if isinstance(value, list)]
    if len(lists) < 2 or is_answer(record):
        return False
    known = names_of_parts({"query": "", **record}, "both")
    return any(known.get(part, part) in lists for part in ("retrieved", "ground_truth"))


def _is_answer(record: object, said: Columns) -> TypeGuard[Mapping[str, object]]:
    """Whether a value is a record of both parts without a question, or holds one deeper inside."""
    if not isinstance(record, Mapping) or not all(isinstance(key, str) for key in record):
        return False
    if _lists_both_parts(said.fresh().renamed(record, "") if said else record):
        return True
    return _lists_one_part(record) or _keeps_results_inside(record)


def _keeps_results_inside(record: Mapping[str, object]) -> bool:
    """Whether a record keeps results in an object of it, as pipelines and Solr answer.

    >>> _keeps_results_inside({"retriever": {"documents": [{"id": "a"}]}, "llm": {"replies": []}})
    True
    """
    if not any(isinstance(value, Mapping) for value in record.values()):
        return False
    layout = layout_of([{"query": "", **record}])
    if layout is None or not layout.retrieved:
        return False
    # The answer itself is read by those who read mappings of questions to answers.
    return bool(layout.ground_truth) or not is_answer(record)


def _lists_both_parts(record: Mapping[str, object]) -> bool:
    """Whether a record without a question lists its results and its targets."""
    if not all(isinstance(key, str) for key in record) or question_in(record) is not None:
        return False
    known = names_of_parts({"query": "", **record}, "both")
    listed = (record.get(known.get(part, part)) for part in ("retrieved", "ground_truth"))
    return all(isinstance(part, list) for part in listed)


_FEWEST_BY_QUERY = 2
"""Questions from which on an object is one of records by question."""


def _in_columns(columns: object, rows: object) -> list[object]:
    """The records of rows and the names of their columns; none if they do not fit."""
    if not isinstance(columns, list) or not isinstance(rows, list):
        return []
    if not all(isinstance(row, list) and len(row) == len(columns) for row in rows):
        return []
    return [dict(zip(map(str, columns), row, strict=True)) for row in rows]


_MOST_ROWS = 100_000
"""Records under numbers; a larger object maps queries to items."""
