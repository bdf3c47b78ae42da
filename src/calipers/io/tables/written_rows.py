"""A dataset as rows of a table that is written: a row per item, or a row per query."""

from collections.abc import Iterator
from itertools import islice

import msgspec
import polars as pl

from calipers.io.records.entries import AT_ONCE
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.matched import Dataset
from calipers.model.run import RUN_SCHEMA, Run
from calipers.names import EMPTY, words_in

COLUMNS = words_in(
    "id query tags retrieved ground_truth judged_only forbidden excluded stages latency_ms "
    "error missing_from"
)
"""Columns of a table with one row per query."""


def in_frames(waiting: Iterator[dict[str, object]]) -> Iterator[pl.DataFrame]:
    """Yield records as rows of tables, with lists and objects as JSON in a cell."""
    rows = list(islice(waiting, AT_ONCE))
    names = COLUMNS
    if len(rows) < AT_ONCE:
        # These are all rows: a column without values is not needed.
        names = tuple(name for name in COLUMNS if any(name in row for row in rows))
    while rows:
        cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
        yield pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String()))
        rows = list(islice(waiting, AT_ONCE))


def _cell(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


MOST_WHOLE = 2.0**53
"""Beyond this, floats cannot represent every whole number."""
Frames = Iterator[pl.DataFrame]


def fits_long(part: Dataset) -> bool:
    """Whether there is one part, whose rows hold everything."""
    truth = part.ground_truth
    run = part.run
    if truth is not None:
        whole = truth.queries.height == truth.targets["query"].n_unique()
        more = truth.tags or truth.forbidden is not None or truth.excluded is not None
        more = more or truth.only_returned
        # As a cell of its own, an id that is called none would say that there is no target.
        ids = truth.targets["item"].str.to_lowercase()
        more = more or ids.is_in([*EMPTY]).any()
        # Blanks around a question are dropped where a table is read.
        texts = truth.queries["text"]
        more = more or (texts != texts.str.strip_chars()).any()
        return run is None and whole and not more
    return run is not None and run.queries is None and not run.stages


def long_rows(part: Dataset) -> Frames:
    """The targets or the results of a dataset, a row each."""
    if part.ground_truth is not None:
        return iter([_targets(part.ground_truth)])
    return iter(()) if part.run is None else _results(part.run)


def _targets(truth: GroundTruth) -> pl.DataFrame:
    targets = truth.targets
    used = [
        name
        for name in TARGET_SCHEMA
        if name in ("query", "grade") or targets[name].null_count() < targets.height
    ]
    if not {"item", "quote", "document"} & set(used):
        used.append("item")
    frame = targets.select(
        sorted(used, key=lambda name: (name != "query", name == "grade"))
    )
    whole = (frame["grade"] == frame["grade"].round()) & (
        frame["grade"].abs() < MOST_WHOLE
    )
    if whole.all():
        frame = frame.with_columns(pl.col("grade").cast(pl.Int64))
    # Written even where it is the id: a table without it says nothing about texts.
    if truth.queries["text"].null_count() < truth.queries.height:
        texts = truth.queries.select("query", query_text="text")
        frame = frame.join(texts, on="query", how="left", maintain_order="left")
    return frame


def _results(run: Run) -> Frames:
    for batch in run.ranked():
        frame = batch.frame.with_columns(rank=pl.Series(batch.rank, dtype=pl.Int64))
        yield frame.select(name for name in RUN_SCHEMA if name in frame.columns)
