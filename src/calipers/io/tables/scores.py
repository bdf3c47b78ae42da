"""Scores per query as a Parquet table that knows what it holds: the result is in its metadata.

So a table is enough to compare, to gate and to slice, also one of ten million queries. Spark
writes the same: a folder of parts, with the result in the metadata of the first column.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.parquet_blocks import parquet_in_blocks
from calipers.io.files.parquet_size import check_parquet
from calipers.io.files.write import PARQUET, ending_or, write_table
from calipers.io.records.json_files import BROKEN
from calipers.io.records.results import QUERY_SCHEMA, StoredResult, check_values, decode
from calipers.io.tables.checked import tag_columns
from calipers.io.tables.scan import explained
from calipers.model.arrays import Floats
from calipers.model.scores import MetricFacts, Scores

KEY = "calipers"
SPARK_KEY = "org.apache.spark.sql.parquet.row.metadata"
_MAGIC = b"PAR1"
_AGAIN = "write it again with `calipers eval … --per-query scores.parquet`"


def write_scores(scores: Scores, path: str | Path) -> None:
    """Every query's scores, in the form that the ending of the path names."""
    place = os.fspath(path)
    if ending_or(place, ".csv") != PARQUET:
        write_table(scores.per_query, place)
        return
    with parquet_in_blocks(place) as file:
        file.about = about(scores)
        for block in scores.query_blocks():
            file.put(block)


def about(scores: Scores) -> dict[str, str]:
    """What a table of scores says about itself."""
    return {KEY: msgspec.json.encode(scores.to_dict(per_query=False)).decode()}


def is_score_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file, or a folder that Spark wrote, holds scores per query and what they are."""
    return _about(Path(path)) is not None


def read_score_table(path: str | os.PathLike[str]) -> Scores:
    """The scores of such a table; means and intervals are those that it was written with."""
    place = Path(path)
    source, said = Source(place), _about(place)
    if said is None:
        raise UnreadableFile(
            f"{source.name} is no table of scores that Calipers wrote: its metadata do not say "
            f"what was measured; {_AGAIN}."
        )
    result = decode(said, source)
    with explained(source.name):
        for part in _parts(place):
            check_parquet(part)
        table = pl.read_parquet(_parts(place), glob=False)
    metrics = [metric.name for metric in result.metrics]
    lacking = [name for name in (*QUERY_SCHEMA, *metrics) if name not in table.columns]
    if lacking:
        raise InvalidInput(
            f"The table of scores {source.name} has no column {lacking[0]!r}, which its metadata "
            f"promise; {_AGAIN}."
        )
    return _scores(result, table, source)


def _scores(result: StoredResult, table: pl.DataFrame, source: Source) -> Scores:
    queries = table.select(pl.col(name).cast(kind) for name, kind in QUERY_SCHEMA.items())
    if queries.height != result.audit.queries:
        raise InvalidInput(
            f"The table of scores {source.name} has {queries.height:,} queries, and "
            f"{result.audit.queries:,} were measured; give all parts of it."
        )
    values = np.empty((table.height, len(result.metrics)), order="F")
    for i, metric in enumerate(result.metrics):
        values[:, i] = table[metric.name].cast(pl.Float64).fill_null(np.nan).to_numpy()
    check_rows(queries["query"], result.metrics, values, source.name)
    return result.scores(values, queries, tag_columns(table))


def check_rows(
    queries: pl.Series, metrics: Sequence[MetricFacts], values: Floats, name: str
) -> None:
    """Refuse a table of scores with two rows for one query, or with what no metric gives."""
    about = f"The table of scores {name}"
    if queries.is_duplicated().any():
        twice = queries.filter(queries.is_duplicated())[0]
        raise InvalidInput(f"{about} has the query {twice!r} twice.")
    check_values(metrics, values, about, lambda n: f"for the query {queries[n]!r:.60}", _AGAIN)


def _about(path: Path) -> bytes | None:
    """The result in the metadata of a Parquet file; None where there is none."""
    parts = _parts(path)
    if not parts:
        return None
    try:
        with parts[0].open("rb") as file:
            if file.read(4) != _MAGIC:
                return None
        found = pl.read_parquet_metadata(parts[0])
    except (OSError, pl.exceptions.PolarsError):
        # What is wrong with it, the reader of runs will say.
        return None
    if KEY in found:
        return found[KEY].encode()
    return _of_spark(found.get(SPARK_KEY))


def _of_spark(schema: str | None) -> bytes | None:
    """What stands in the metadata of a column, where Spark keeps it."""
    try:
        fields = msgspec.json.decode(schema)["fields"] if schema else []
        found = next((one["metadata"][KEY] for one in fields if KEY in one["metadata"]), None)
    except (*BROKEN, KeyError, TypeError):
        return None
    return found.encode() if isinstance(found, str) else None


def _parts(path: Path) -> list[Path]:
    """The file itself, or the parts in a folder."""
    if path.is_dir():
        return sorted(path.glob("*.parquet"))
    return [path] if path.is_file() else []
