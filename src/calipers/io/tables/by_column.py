"""Tables in one object of JSON, as pandas' ``to_json`` and ``to_dict`` write them.

``{"question": [...], "contexts": [...]}`` looks like two queries with many items each. It is a
table where its keys are names that tables have, and all its columns are of one length.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
import polars as pl

from calipers.errors import InvalidInput
from calipers.io.records.json_files import BROKEN
from calipers.io.tables.columns import is_long, renaming

MOST_COLUMNS = 200
SPLIT = frozenset({"columns", "data"})
"""The keys under which pandas keeps a table with ``orient="split"``."""
SCHEMA = frozenset({"schema", "data"})
"""The same for ``orient="table"``."""


def columns_of_object(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    """The table in an object, decoded or not; None where it is no table, or no JSON inside."""
    try:
        return _table_in(value, name)
    except BROKEN:
        return None  # whoever reads it says where it is broken


def _table_in(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    if SPLIT <= value.keys() <= SPLIT | {"index"}:
        return _split(value, name)
    if value.keys() == SCHEMA:
        return _with_schema(value, name)
    if 1 < len(value) <= MOST_COLUMNS and _names_a_query(list(map(str, value))):
        return _by_column(value, name)
    return _by_row(value, name)


def _by_column(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    decoded = {str(key): _decoded(one) for key, one in value.items()}
    if all(isinstance(one, list | tuple) for one in decoded.values()):
        columns = {key: list(one) for key, one in decoded.items()}
    elif all(isinstance(one, Mapping) for one in decoded.values()):
        index = list(next(iter(decoded.values())))
        if not index or any(list(one) != index for one in decoded.values()):
            return None
        columns = _with_labels({key: list(one.values()) for key, one in decoded.items()}, index)
    else:
        return None
    lengths = {key: len(one) for key, one in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{key} has {n}" for key, n in lengths.items())
        raise InvalidInput(
            f"{name} holds columns of different length: {listed[:200]}; give every column one "
            "value for each question."
        )
    return _frame(columns, name)


def _by_row(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    """The rows of ``orient="index"``, each under its label; a row is asked by a text."""
    first = _decoded(next(iter(value.values()), None))
    # A mapping of items to scores has no text to ask with, and many names to look through.
    if not isinstance(first, Mapping) or str not in set(map(type, first.values())):
        return None
    if not _names_a_query(first):
        return None
    asked = [key for key, ours in renaming(sorted(first)).items() if ours == "query"]
    rows = [_decoded(one) for one in value.values()]
    for row in rows:
        # Else it is a mapping of queries to items, one of which is called as a column is.
        if not isinstance(row, Mapping) or not isinstance(row.get(asked[0]), str):
            return None
    columns = {key: [row.get(key) for row in rows] for key in _keys(rows)}
    return _frame(_with_labels(columns, list(value)), name)


def _with_schema(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    """The rows of ``orient="table"``, which says what its columns are."""
    rows = _decoded(value["data"])
    is_table = isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows)
    return frame_of_rows(rows, name) if is_table and _names_a_query(rows[0]) else None


def _with_labels(columns: dict[str, list[Any]], labels: list[Any]) -> dict[str, list[Any]]:
    """The columns with the labels of the rows as ids, where they are more than numbers of rows."""
    asked = next(key for key, ours in renaming(sorted(columns)).items() if ours == "query")
    questions = columns[asked]
    if _is_index(labels) or "id" in columns or len(set(map(str, questions))) < len(questions):
        return columns
    return {"id": [str(label) for label in labels], **columns}


def _split(value: Mapping[Any, Any], name: str) -> pl.DataFrame | None:
    names, rows = _decoded(value["columns"]), _decoded(value["data"])
    if not isinstance(names, list) or not isinstance(rows, list) or not _names_a_query(names):
        return None
    if any(not isinstance(row, list) or len(row) != len(names) for row in rows):
        return None
    return _frame({str(key): [row[i] for row in rows] for i, key in enumerate(names)}, name)


def frame_of_rows(rows: list[dict[str, Any]], name: str) -> pl.DataFrame:
    """The table of flat records."""
    return _frame({key: [row.get(key) for row in rows] for key in _keys(rows)}, name)


def _keys(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _frame(columns: dict[str, list[Any]], name: str) -> pl.DataFrame:
    try:
        return pl.DataFrame(
            [pl.Series(key, values, strict=False) for key, values in columns.items()]
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(
            f"{name} holds a table column by column, and a column mixes kinds of values "
            f"({str(error)[:80]}); write it as a list of records (orient='records' in pandas)."
        ) from None


def _names_a_query(names: Iterable[Any]) -> bool:
    return all(isinstance(one, str) for one in names) and is_long(names)


def _is_index(keys: list[Any]) -> bool:
    """Whether keys are the numbers of rows."""
    return bool(keys) and all(str(key).isdigit() for key in keys)


def _decoded(value: Any) -> Any:
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
