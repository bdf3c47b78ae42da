"""Matching by span: a chunk holds a target if it covers enough of its characters."""

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Literal

import numpy as np
import polars as pl

from calipers.errors import InvalidInput
from calipers.match.choose import SPAN_ALLOWED, broken_span, shown_span
from calipers.match.cover import Sighting, holding_ranks
from calipers.match.tally import QueryPlaces, RunTally, assemble
from calipers.model.arrays import Ints
from calipers.model.ground_truth import GroundTruth, SpanTable
from calipers.model.matched import Matches, Tally
from calipers.model.matching import MatchRule
from calipers.model.policy import Policy
from calipers.model.ranking import RankedBatch, result_names
from calipers.model.run import Run

_SPAN = ("document", "start", "end")


def match_by_span(
    ground_truth: GroundTruth,
    run: Run,
    policy: Policy,
    rule: MatchRule,
    *,
    together: bool,
) -> tuple[Matches, Tally]:
    """The matches of a run whose results have spans, with a table of all spans.

    A repeated span of the same query occupies its rank and does not count.
    """
    counting = RunTally(ground_truth, run, policy.duplicates)
    pieces = [_NO_EDGES]
    for batch in run.ranked(policy.ties):
        _check_result_spans(batch)
        batch = _with_names(batch)
        chunks = _chunks(batch, counting.add(batch))
        pieces.append(_edges(ground_truth, chunks, rule.least, together))
    edges = pl.concat(pieces)
    tied = edges.filter("tied")["target"].unique().sort()
    tally = counting.finish(tied_targets=tied.to_numpy().astype(np.int64))
    matches = assemble(
        ground_truth,
        tally,
        rank=edges["rank"].to_numpy(),
        target=edges["target"].to_numpy(),
        overlap=edges["share"].to_numpy(),
    )
    # Only coverage metrics look at every result, so it is computed for them alone.
    return replace(matches, spans=lambda: span_table(ground_truth, run, policy)), tally


def span_table(ground_truth: GroundTruth, run: Run, policy: Policy) -> SpanTable:
    """The spans of all results and targets."""
    codes = QueryPlaces(ground_truth.queries["query"])
    chunks = [
        _chunks(batch, codes.of(batch.queries)) for batch in run.ranked(policy.ties)
    ]
    return _table(ground_truth, pl.concat([_EMPTY, *chunks]))


def _chunks(batch: RankedBatch, codes: Ints) -> pl.DataFrame:
    """The spans of the results of known queries."""
    return (
        batch.frame.select(_SPAN)
        .with_columns(
            pl.Series("code", np.repeat(codes, batch.lengths)),
            pl.Series("rank", batch.rank),
            pl.Series("tied", batch.tied),
        )
        .filter(pl.col("code") >= 0)
        .select(_EMPTY.columns)
    )


_EMPTY = pl.DataFrame(
    schema={
        "code": pl.Int64,
        "rank": pl.Int64,
        "document": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "tied": pl.Boolean,
    }
)


_NO_EDGES = pl.DataFrame(
    schema={"target": pl.Int64, "rank": pl.Int64, "share": pl.Float64, "tied": pl.Boolean}
)


def _with_names(batch: RankedBatch) -> RankedBatch:
    """Results without an id are identified by their span."""
    columns = batch.frame.columns
    if "item" in columns and not batch.frame["item"].null_count():
        return batch
    names = result_names(batch.frame).alias("item")
    return replace(batch, frame=batch.frame.with_columns(names))


def _targets(ground_truth: GroundTruth) -> pl.DataFrame:
    return (
        ground_truth.targets.select(
            pl.Series("code", ground_truth.target_query, dtype=pl.Int64),
            "document",
            pl.col("start").alias("from"),
            pl.col("end").alias("to"),
        )
        .with_row_index("target")
        .with_columns(pl.col("target").cast(pl.Int64))
    )


def _edges(
    ground_truth: GroundTruth, chunks: pl.DataFrame, least: float, together: bool
) -> pl.DataFrame:
    first = chunks.unique(["code", *_SPAN], keep="first", maintain_order=True)
    meeting = _meeting(first, _targets(ground_truth)).sort("target", "rank")
    rows: list[tuple[int, int, float, bool]] = []
    columns = meeting.select("target", "from", "to", "rank", "start", "end", "tied")
    for (target, begin, end), group in groupby(
        columns.iter_rows(), key=itemgetter(0, 1, 2)
    ):
        seen = [
            (rank, max(a, begin), min(b, end), tied) for *_, rank, a, b, tied in group
        ]
        sightings = [
            Sighting(rank, None, ((a - begin, b - begin),)) for rank, a, b, _ in seen
        ]
        tied_ranks = {rank for rank, *_, tied in seen if tied}
        held = holding_ranks(sightings, end - begin, least, together=together)
        rows += [
            (target, rank, share, i == 0 and rank in tied_ranks)
            for i, (rank, share) in enumerate(held)
        ]
    return pl.DataFrame(rows, orient="row", schema=_NO_EDGES.schema)


def _meeting(chunks: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
    """Each chunk with each target of its query and document that it overlaps.

    Looked up in order of their places, so that the time grows with the pairs that overlap:
    a join compares each chunk of a document with each target in it.
    """
    keys = ("code", "document")
    places = targets.select(keys).unique(maintain_order=True).with_row_index("place")
    chunks = chunks.filter(pl.col("start") < pl.col("end")).join(places, on=keys)
    targets = targets.filter(pl.col("from") < pl.col("to")).join(places, on=keys)
    start, end, begin, finish = _on_one_line(
        (
            chunks["place"].to_numpy(),
            chunks["start"].to_numpy(),
            chunks["end"].to_numpy(),
        ),
        (
            targets["place"].to_numpy(),
            targets["from"].to_numpy(),
            targets["to"].to_numpy(),
        ),
    )
    # Of two that overlap, one starts within the other: the target within the chunk, or the
    # chunk within the target, behind its start.
    by_begin = np.argsort(begin, kind="stable")
    of_chunk, inside = _starting_within(begin[by_begin], start, end, side="left")
    by_start = np.argsort(start, kind="stable")
    of_target, behind = _starting_within(start[by_start], begin, finish, side="right")
    return pl.concat(
        [
            chunks.select("rank", "start", "end", "tied")[
                np.concatenate((of_chunk, by_start[behind]))
            ],
            targets.select("target", "from", "to")[
                np.concatenate((by_begin[inside], of_target))
            ],
        ],
        how="horizontal",
    )


_Intervals = tuple[Ints, Ints, Ints]
"""Of each interval the number of its place, its start and its end."""


def _on_one_line(first: _Intervals, second: _Intervals) -> tuple[Ints, Ints, Ints, Ints]:
    """The starts and ends of both as places on one line, on which no two places meet.

    They are numbered in order, not added up: the sum of many ends may be too large.

    >>> one = np.array([0]), np.array([5]), np.array([9])
    >>> two = np.array([0, 1]), np.array([7, 5]), np.array([9, 6])
    >>> [places.tolist() for places in _on_one_line(one, two)]
    [[0], [2], [1, 3], [2, 4]]
    """
    place = np.concatenate((first[0], first[0], second[0], second[0]))
    at = np.concatenate((*first[1:], *second[1:]))
    order = np.lexsort((at, place))
    further = np.zeros(order.size, dtype=np.int64)
    further[1:] = (np.diff(place[order]) != 0) | (np.diff(at[order]) != 0)
    number = np.empty_like(further)
    number[order] = np.cumsum(further)
    n = first[0].size
    m = second[0].size
    return number[:n], number[n : 2 * n], number[2 * n : 2 * n + m], number[2 * n + m :]


def _starting_within(
    starts: Ints, begin: Ints, end: Ints, side: Literal["left", "right"]
) -> tuple[Ints, Ints]:
    """Each interval, by its number, with each of the sorted ``starts`` within it.

    A start at the very beginning counts with the ``side`` left, and not with right.

    >>> pairs = _starting_within(np.array([0, 4, 5]), np.array([4, 9]), np.array([6, 9]), "left")
    >>> [numbers.tolist() for numbers in pairs]
    [[0, 0], [1, 2]]
    """
    first = np.searchsorted(starts, begin, side)
    many = np.searchsorted(starts, end, "left") - first
    owner = np.repeat(np.arange(begin.size), many)
    before = np.cumsum(many) - many
    return owner, np.arange(owner.size) + np.repeat(first - before, many)


def _table(ground_truth: GroundTruth, chunks: pl.DataFrame) -> SpanTable:
    targets = _targets(ground_truth)
    ends = pl.concat(
        [
            chunks.select("code", "document", "end"),
            targets.select("code", "document", pl.col("to").alias("end")),
        ]
    )
    stretches = (
        ends.group_by("code", "document")
        .agg(pl.col("end").max() + 1)
        .sort("code", "document")
        .select(
            "code", "document", (pl.col("end").cum_sum() - pl.col("end")).alias("offset")
        )
    )

    def placed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.join(
            stretches, on=["code", "document"], how="left", maintain_order="left"
        )

    chunks = placed(chunks)
    targets = placed(targets)
    order = np.argsort(ground_truth.target_query, kind="stable")
    target_offset = targets["offset"].to_numpy()
    chunk_offset = chunks["offset"].to_numpy()
    return SpanTable(
        chunk_query=chunks["code"].to_numpy(),
        chunk_rank=chunks["rank"].to_numpy(),
        chunk_start=chunks["start"].to_numpy() + chunk_offset,
        chunk_end=chunks["end"].to_numpy() + chunk_offset,
        target_start=(targets["from"].to_numpy() + target_offset)[order],
        target_end=(targets["to"].to_numpy() + target_offset)[order],
    )


def _check_result_spans(batch: RankedBatch) -> None:
    """Check that every result has a document and an end that is not before its start."""
    frame = batch.frame
    absent = [name for name in ("document", "start", "end") if name not in frame.columns]
    if absent:
        raise InvalidInput(
            f"The results have no {' and no '.join(map(repr, absent))}, and the ground "
            f"truth is matched by span: query {frame['query'][0]!r}, rank "
            f"{batch.rank[0]}; {SPAN_ALLOWED}."
        )
    bad = frame.select(broken_span() | (pl.col("end") < pl.col("start"))).to_series()
    if bad.any():
        at = int(bad.arg_true()[0])
        row = frame.row(at, named=True)
        raise InvalidInput(
            f"A result's span cannot be used: query {row['query']!r}, rank "
            f"{batch.rank[at]}, {shown_span(row)}; {SPAN_ALLOWED}. Correct it in the "
            "results."
        )
