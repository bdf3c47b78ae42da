"""Read scores per query, in any of the formats that ``--per-query`` writes.

Parquet records what was measured. CSV, TSV and JSON hold the values alone: their means are
computed again, and the ground truth and policies behind them are unknown.
"""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from calipers.engines.scoring import facts_of
from calipers.engines.summary import summarise
from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.files.open import Source
from calipers.io.files.probe import Probe, holds_score_rows
from calipers.io.records.json_files import frame_of_rows, opening, plain_records
from calipers.io.records.results import QUERY_SCHEMA, check_rows, is_score_table, read_score_table
from calipers.io.tables.cells import TAG, tag_columns
from calipers.measures.spec import find_name, parse_one
from calipers.model.arrays import frozen_array
from calipers.model.fingerprint import fingerprint_rows
from calipers.model.matched import ANSWERED, EMPTY, FAILED, MISSING
from calipers.model.policy import Policy
from calipers.model.scores import InputCounts, Scores
from calipers.version import __version__

CONFIDENCE = 0.95
UNKNOWN = "unknown"
COMBINED = "score"
"""The column of a combined score, whose weights a table of values does not know."""


_SCHEMA_NUMBER = re.compile(rb'"schema"\s*:\s*\d')
_WRITER = re.compile(rb'"calipers"\s*:\s*"')


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds scores per query."""
    place = Path(path)
    if place.suffix == ".parquet":
        return is_score_table(place)
    return place.is_file() and holds_score_rows(Source(place).head)


def is_result(path: str | Path) -> bool:
    """Whether a file looks like a result of Calipers and not like a run or a ground truth."""
    source = Source(Path(path))
    marks = _SCHEMA_NUMBER.search(source.head) and _WRITER.search(source.head)
    return opening(source) == "object" and bool(marks)


def read_saved(path: str | os.PathLike[str]) -> Scores:
    """The scores in such a file."""
    place = Path(path)
    if place.suffix == ".parquet":
        return read_score_table(place)
    sight = Probe(Source(place))
    if sight.table is not None:
        rows = sight.table.open().collect()
    elif sight.look is not None:
        records, _ = plain_records(sight.source, sight.look)
        rows = frame_of_rows(list(records), sight.name)
    else:
        raise UnreadableFile(f"{sight.name} is no table of scores per query.")
    return _scores(rows, sight.name)


def _scores(rows: pl.DataFrame, name: str) -> Scores:
    queries = rows.select(_cast(rows, column, kind, name) for column, kind in QUERY_SCHEMA.items())
    known = {*QUERY_SCHEMA, COMBINED}
    measured = [one for one in rows.columns if one not in known and not one.startswith(TAG)]
    facts = tuple(facts_of(parse_one(one)) for one in measured)
    values = np.empty((rows.height, len(facts)), order="F")
    for number, one in enumerate(measured):
        values[:, number] = _cast(rows, one, pl.Float64(), name).fill_null(np.nan).to_numpy()
    check_rows(queries["query"], facts, values, name)
    settings: dict[str, Any] = {
        "calipers": __version__,
        "confidence": CONFIDENCE,
        "match": UNKNOWN,
        "notes": [
            f"{Path(name).name} holds values alone: which ground truth and policies they come from "
            "is not known. Parquet (--per-query scores.parquet) keeps that, too."
        ],
    }
    counted = {"query": queries["query"], "targets": queries["targets"]}
    return Scores(
        metrics=facts,
        values=frozen_array(values),
        queries=queries,
        tags=tag_columns(rows),
        audit=_counts(queries),
        policy=Policy(),
        fingerprints={
            "ground_truth": fingerprint_rows(pl.DataFrame(counted), list(counted)),
            "run": fingerprint_rows(rows, rows.columns),
        },
        settings=settings,
        summaries=summarise(facts, values, {}, settings),
        weights={},
        find_name=find_name,
    )


def _cast(rows: pl.DataFrame, column: str, kind: pl.DataType, name: str) -> pl.Series:
    if column not in rows.columns:
        raise InvalidInput(
            f"The table of scores {name} has no column {column!r}; write it again with "
            "`calipers eval … --per-query FILE`."
        )
    given = rows[column]
    cast = given.cast(kind, strict=False)
    bad = (cast.is_null() & given.is_not_null()).arg_true()
    if len(bad):
        raise InvalidInput(
            f"The table of scores {name} holds {given[int(bad[0])]!r:.60} in the column "
            f"{column!r}, which must hold numbers; write it again with `calipers eval … "
            "--per-query FILE`."
        )
    return cast


def _counts(queries: pl.DataFrame) -> InputCounts:
    """The counts that follow from the values; the others are unknown."""
    status, targets = queries["status"], int(queries["targets"].sum())
    missing = queries["query"].filter(status == MISSING)
    silent = queries.filter(pl.col("targets") == 0)
    return InputCounts(
        queries=queries.height,
        answered=int((status == ANSWERED).sum()),
        empty=int((status == EMPTY).sum()),
        missing=len(missing),
        missing_examples=tuple(missing.head(3)),
        errors=int((status == FAILED).sum()),
        unanswerable=silent.height,
        unanswerable_silent=int((silent["retrieved"] == 0).sum()),
        unknown=0,
        unknown_examples=(),
        targets=targets,
        judgements=targets,
        repeated_judgements=0,
        retrieved=int(queries["retrieved"].sum()),
        duplicates=0,
        ties=0,
        ties_on_targets=0,
        depth=None,
        shown=0,
        unjudged=0,
    )
