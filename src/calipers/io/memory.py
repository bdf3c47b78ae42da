"""What a caller may hand in without a file: mappings, lists of records, frames, documents."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io import mappings, tables
from calipers.io.form import Form
from calipers.io.formats import ROWS, WHOLES
from calipers.io.formats.ours import FORM as OURS
from calipers.io.objects import is_document, plain
from calipers.io.rows import RowFormat, stream_rows
from calipers.io.stream import RecordStream
from calipers.io.tables import Table
from calipers.io.wholes import stream_whole
from calipers.model.dataset import Dataset, Role

WHOLE_PARTS = ("queries", "corpus", "relevant_docs")
"""The attributes of a LlamaIndex question set."""


def read_value(value: Any, role: Role, name: str) -> Dataset | RecordStream | None:
    """What the value holds; None where it is of no kind that is known."""
    if isinstance(value, Mapping):
        return _mapping(value, role, name)
    if isinstance(value, list | tuple):
        return _records(value, name)
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return read_table(tables.in_memory(value.lazy(), name), role)
    if all(hasattr(value, part) for part in WHOLE_PARTS):
        return _mapping({part: getattr(value, part) for part in WHOLE_PARTS}, role, name)
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__"):
        return read_table(tables.in_memory(pl.DataFrame(value).lazy(), name), role)
    return None


def read_table(table: Table, role: Role) -> Dataset | RecordStream:
    """A table in a tool's own form, or with one row per item."""
    form = _claimed(table.columns, table.name)
    if form is None:
        return tables.read_long(table, role)
    return tables.stream_table(table, form)


def _mapping(value: Mapping[Any, Any], role: Role, name: str) -> Dataset | RecordStream:
    claimed = [form for form in WHOLES if form.recognise(value)]
    for form in claimed:
        if form.only in (None, role):
            return stream_whole(form, value, name)
    if claimed:
        raise InvalidInput(_two_forms(claimed, name, "say which it is: ground_truth= or run="))
    if _holds_documents(value):
        return _documents_by_query(value, role, name)
    return mappings.read(value, role, name)


def _holds_documents(value: Mapping[Any, Any]) -> bool:
    return mappings.kinds_of(value) != {dict} and any(
        isinstance(items, list | tuple) and any(is_document(one) for one in islice(items, 1))
        for items in value.values()
    )


def _documents_by_query(value: Mapping[Any, Any], role: Role, name: str) -> RecordStream:
    """``{query: [document, …]}`` as the caller takes it: results, or what should be found."""
    if role == "both":
        raise InvalidInput(
            f"{name} is a mapping of query to documents, which can be a ground truth or a run; "
            "give the two separately (ground_truth= and run=)."
        )
    part = "retrieved" if role == "run" else "ground_truth"
    queries = list(value)
    rows = (plain({"query": query, part: items}) for query, items in value.items())
    return stream_rows(OURS, rows, lambda i: f"{name}[{queries[i]!r}]", name)


def _records(value: list[Any] | tuple[Any, ...], name: str) -> RecordStream:
    first = value[0] if value and isinstance(value[0], Mapping) else {}
    form = _claimed(frozenset(map(str, first)), name) or OURS
    rows = (plain(row) if isinstance(row, Mapping) else row for row in value)
    return stream_rows(form, rows, lambda i: f"{name}[{i}]", name)


def _claimed(keys: frozenset[str], name: str) -> RowFormat | None:
    claimed = [form for form in ROWS if form.recognise(keys)]
    if len(claimed) > 1:
        raise InvalidInput(_two_forms(claimed, name, "take out the fields of one of them"))
    return claimed[0] if claimed else None


def _two_forms(claimed: Sequence[Form], name: str, advice: str) -> str:
    names = " or ".join(f"{form.title} ({form.name})" for form in claimed)
    return f"The form of {name} could be two: {names}; {advice}."
