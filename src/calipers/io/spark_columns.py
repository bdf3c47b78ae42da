"""Which column of a DataFrame of Spark is what, as for files, and each as we have it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from calipers.errors import InvalidInput
from calipers.io.tables.cells import Splitter
from calipers.io.tables.columns import IDENTITIES, Columns, nothing_fits
from calipers.io.tables.long import ONE_EACH
from calipers.io.tables.scan import Table, in_memory
from calipers.io.tables.understand import check_no_grade_is_hidden, left_over, understand
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.matched import Role
from calipers.model.run import RUN_SCHEMA, SAMPLE, natural_order
from calipers.names import DISTANCES, plain_name

BLANKS = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What the table library takes off the ends of names."""
_NOT_ONE_VALUE = ("array", "map", "struct", "boolean", "binary", "variant")
_WHOLE = ("byte", "short", "integer", "long")
_BROKEN = ("float", "double", "decimal")


@dataclass(frozen=True, eq=False)
class NamedFrame:
    """A DataFrame with one row for each target or result, in our names and types."""

    frame: Any
    called: Mapping[str, str]
    """Our names, each with the one that the column has there."""
    sample: Table
    """Some rows as they came, with the columns named as the user says."""
    understood: dict[str, str]
    """Those columns, each with our name."""

    def check_targets(self, tags: Collection[str]) -> None:
        """Refuse targets that a file would be asked about, or divided for; ``tags`` are known."""
        rows = self.sample.open().collect()
        if rows.is_empty():
            raise InvalidInput(
                f"{self.sample.name} has the names of columns and no rows: nothing is said about "
                "what should be found; add the questions, or give another table."
            )
        if "grade" not in self.called:
            left = left_over(self.sample.names(), self.understood)
            check_no_grade_is_hidden(self.sample, [one for one in left if one not in tags])
        item = next((one for one, ours in self.understood.items() if ours == "item"), None)
        if item is None or {*ONE_EACH} & set(self.called):
            return
        splitter = Splitter(item, any_order=True)
        for cell in rows[item]:
            if len(splitter.split(cell, lambda: self.sample.name)) > 1:
                raise InvalidInput(
                    f"{self.sample.name} has several ids in a cell of {item!r}: {cell!r:.60}; on "
                    "Spark a ground truth has one row for each target."
                )


def in_our_names(
    frame: Any, role: Role, name: str, said: Columns, further: Mapping[str, str] | None = None
) -> NamedFrame:
    """The columns that are understood, judged by some rows; ``further`` ones stay, as texts."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    kept = further or {}
    sample = in_memory(pl.DataFrame(frame.limit(SAMPLE).toArrow()).lazy(), name).renamed(said)
    _, understood = understand(sample, role)
    given = {new: old for old, new in said.rename(frame.columns, name).items()}
    columns = {ours: given.get(theirs, theirs) for theirs, ours in understood.items()}
    if role == "run":
        _check_order(columns, name)
    schema = RUN_SCHEMA if role == "run" else {**TARGET_SCHEMA, "query_text": pl.String()}
    # The query first: where rows are sorted, those of a query must come together.
    called = {ours: columns[ours] for ours in ("query", *columns) if ours in schema}
    if not {*IDENTITIES} & set(called):
        raise InvalidInput(nothing_fits(name, frame.columns, "item"))
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    # What the user calls a score is one, whatever the name of its column.
    distances = {ours for theirs, ours in understood.items() if plain_name(theirs) in DISTANCES}
    made = [F.col(quoted(theirs)).cast("string").alias(ours) for ours, theirs in kept.items()]
    for ours, theirs in called.items():
        _check_kind(theirs, kinds[theirs], schema[ours], name)
        column = _typed(ours, theirs, kinds[theirs], schema[ours])
        made.append((-column.try_cast("double") if ours in distances else column).alias(ours))
    return NamedFrame(frame.select(*made), called, sample, understood)


def _check_order(columns: Mapping[str, str], name: str) -> None:
    """Refuse a run of which no score and no rank says what comes first."""
    if lists := columns.get("retrieved", columns.get("call")):
        what = "a column of lists" if "retrieved" in columns else "calls of the retriever"
        raise InvalidInput(
            f"{name} has {what} ({lists!r}); on Spark a run has one row for each result of one "
            "list, with a score or a rank."
        )
    if natural_order(columns) == "listed":
        raise InvalidInput(
            f"{name} has neither a score nor a rank, and the rows of a DataFrame have no order; "
            "add a column score or rank."
        )


def _check_kind(column: str, kind: str, dtype: pl.DataType, name: str) -> None:
    """Refuse a column that does not hold one number or text in a row."""
    if kind in _NOT_ONE_VALUE:
        raise InvalidInput(
            f"The column {column!r} holds {kind} in {name.replace('The ', 'the ', 1)}; it must "
            f"hold {'a number' if dtype.is_numeric() else 'a text'} in every row."
        )


def _typed(ours: str, name: str, kind: str, dtype: pl.DataType) -> Any:
    """A column of Spark's kind as ours is."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    column = F.col(quoted(name))
    if ours in ("query", "item") and kind == "string":
        # As names are read everywhere; here it decides which rows come together, or are the same.
        bare = F.btrim(column, F.lit(BLANKS))
        return F.when(bare != "", bare).otherwise(column)
    if dtype == pl.String():
        if kind not in _BROKEN:
            return column.cast("string")
        # An id such as 7.0 was a whole number before a missing value made its column floats.
        whole = column.try_cast("long")
        text = F.when(column == whole, whole.cast("string"))
        # NaN is how tables of numbers write that nothing is there.
        return text.when(~F.isnan(column.cast("double")), column.cast("string"))
    if kind in _WHOLE:
        return column.cast("long")
    # A text that is no number is left as it is: the worker says which it was.
    return column.cast("double") if kind in _BROKEN else column.cast("string")


def quoted(name: str) -> str:
    """A name that Spark takes for a name, whatever stands in it."""
    return "`" + name.replace("`", "``") + "`"
