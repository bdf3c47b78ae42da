"""Spark DataFrames in our names and types, both sides in one table."""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from calipers.engines.blocks import GIVEN_TAG, SIDE, TEXT
from calipers.errors import InvalidInput
from calipers.io.tables.columns import Columns, renaming
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.run import RUN_SCHEMA

_NOT_ONE_VALUE = ("array", "map", "struct", "boolean", "binary", "variant")
_WHOLE = ("byte", "short", "integer", "long")
_BROKEN = ("float", "double", "decimal")
_ON_BOTH_SIDES = ("start", "end")
"""Numbers of which each side may have another kind; as texts they fit into one column."""


def named(
    frame: Any,
    what: str,
    given: Mapping[str, str | None],
    others: Columns,
    schema: Mapping[str, Any],
) -> dict[str, str]:
    """Our names, each with the column of the frame that it stands for.

    What is ``given`` both sides must have; the ``others`` count where a side has them.
    """
    found = frame.columns
    for ours, theirs in given.items():
        if theirs is not None and theirs not in found:
            raise InvalidInput(
                f"{what} has no column {theirs!r} for the {ours}; found {', '.join(found)}."
            )
    chosen = {ours: theirs for ours, theirs in given.items() if theirs is not None}
    for theirs, ours in others.rename(found, what).items():
        ours = "query" if ours == "query_id" else ours
        if ours in schema or ours == TEXT:
            chosen.setdefault(ours, theirs)
    free = [name for name in found if name not in chosen.values()]
    for theirs, ours in renaming(free).items():
        if ours in schema or ours == TEXT:
            chosen.setdefault(ours, theirs)
    if "query" not in chosen:
        raise InvalidInput(
            f"{what} has no column for the query; found {', '.join(found)}; name it with query=."
        )
    if not {"item", "text", "quote", "document"} & set(chosen):
        raise InvalidInput(
            f"{what} has no column for the item; found {', '.join(found)}; name it with item=."
        )
    return chosen


def one_side(
    frame: Any, side: int, columns: Mapping[str, str], tags: Iterable[str], what: str
) -> Any:
    """The columns that are needed, in our names and types."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    schema = {**TARGET_SCHEMA, **RUN_SCHEMA, TEXT: pl.String()}
    chosen = [F.lit(side).alias(SIDE)]
    for ours, theirs in columns.items():
        kind = kinds[theirs]
        if kind in _NOT_ONE_VALUE:
            raise InvalidInput(
                f"The column {theirs!r} holds {kind} in {what}; it must hold "
                f"{'a number' if schema[ours].is_numeric() else 'a text'} in every row."
            )
        chosen.append(_typed(F, theirs, ours, kind, schema[ours]).alias(ours))
    chosen += [F.col(f"`{tag}`").cast("string").alias(GIVEN_TAG + tag) for tag in tags]
    return frame.select(*chosen)


def _typed(functions: Any, name: str, ours: str, kind: str, dtype: pl.DataType) -> Any:
    column = functions.col(f"`{name}`")
    if dtype == pl.String() or ours in _ON_BOTH_SIDES:
        if kind not in _BROKEN:
            return column.cast("string")
        # An id such as 7.0 was a whole number before a missing value made its column floats.
        whole = column.try_cast("long")
        text = functions.when(column == whole, whole.cast("string"))
        # NaN is how tables of numbers write that nothing is there.
        return text.when(~functions.isnan(column.cast("double")), column.cast("string"))
    if kind in _WHOLE:
        return column.cast("long")
    # A text that is no number is left as it is: the worker says which it was.
    return column.cast("double") if kind in _BROKEN else column.cast("string")
