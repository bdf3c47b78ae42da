"""Select some queries of a matched pair, and list their results in a table."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.run import Run
from calipers.questions.shown_results import list_results


class _Rows:
    """An index of the results of a run by query."""

    def __init__(self, run: Run) -> None:
        self._run = run
        frames: Iterable[pl.DataFrame] = run.scan()
        by_number = getattr(run.scan, "rows", None)
        if by_number is None:  # load all rows, to slice them by number
            blocks = [*frames]
            frame = pl.concat(blocks) if blocks else pl.DataFrame(schema={"query": pl.String()})
            if (several := _lengths([frame]))["query"].n_unique() < several.height:
                frame = frame.sort("query", maintain_order=True)
            frames, by_number = (frame,), frame.slice
        self._slice: Callable[[int, int], pl.DataFrame] = by_number
        runs = _lengths(frames)
        self._places = runs.with_columns(start=pl.col("len").cum_sum() - pl.col("len"))
        self._stages: Mapping[str, _Rows] = {
            name: _Rows(stage) for name, stage in run.stages.items()
        }

    def of(self, queries: pl.Series) -> Run:
        """The run with the results of these queries only, ranked by the same rules."""
        run = self._run
        here = self._places.join(pl.DataFrame({"query": queries}), on="query", how="semi")
        parts = [
            self._slice(start, length) for length, start in here.select("len", "start").iter_rows()
        ]
        asked = run.queries
        if asked is not None:
            asked = asked.join(pl.DataFrame({"query": queries}), on="query", how="semi")
        return Run.from_frame(
            pl.concat(parts) if parts else self._slice(0, 0),
            order=run.order,
            ties=run.ties,
            queries=asked,
            name=run.name,
            stages={name: stage.of(queries) for name, stage in self._stages.items()},
        )


def _lengths(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Columns query and len: the length of each series of rows of the same query."""
    parts = [
        frame["query"].rle().struct.unnest().select(pl.col("value").alias("query") + "", "len")
        for frame in frames
    ]
    # A query may begin in one frame and end in the next.
    return (
        (pl.concat(parts) if parts else pl.DataFrame(schema={"query": pl.String, "len": pl.Int64}))
        .group_by(pl.col("query").rle_id().alias("run"), maintain_order=True)
        .agg(pl.first("query"), pl.sum("len").cast(pl.Int64))
        .drop("run")
    )


class Portions:
    """A pair from which some queries can be selected."""

    def __init__(self, pair: Matched) -> None:
        self.pair = pair

    @cached_property
    def _rows(self) -> tuple[_Rows, _Rows]:
        """The run as matched, and as read; they are usually the same."""
        run, read = self.pair.run, self.pair.as_read[1]
        matched, packed = _Rows(run), getattr(run.scan, "rows", None)
        same = read is run or (packed and packed == getattr(read.scan, "rows", None))
        return matched, matched if same else _Rows(read)

    def between(self, start: int, stop: int) -> Matched:
        """The queries from row ``start`` to ``stop``, with their matches."""
        pair, matches = self.pair, self.pair.matches.between(start, stop)
        names = matches.queries["query"]
        matched, read = self._rows
        run = matched.of(names)
        return replace(
            pair,
            ground_truth=_only(pair.ground_truth, names),
            run=run,
            matches=matches,
            as_read=(
                _only(pair.as_read[0], names),
                run if read is matched else read.of(names),
            ),
        )


def _only(truth: GroundTruth, queries: pl.Series) -> GroundTruth:
    return truth.only(truth.queries["query"].is_in(queries.implode()))


SHOWN = ("item", "score", "text", "document", "start", "end")


def rank_table(pair: Matched, depth: int, wanted: pl.Series | None = None) -> pl.DataFrame:
    """The first ``depth`` results of the ``wanted`` queries (default: all in the ground truth).

    Columns: ``query`` (its code), ``rank``, the columns of the result, ``targets`` (the numbers
    of the targets it contains), ``grade`` (the highest of them) and ``state``: relevant, not
    relevant (judged so), repeated (already ranked higher) or unjudged.
    """
    matches, rel = pair.matches, pair.rel
    among = None if wanted is None else matches.asked["query"].is_in(wanted.implode()).to_numpy()
    listed = list_results(pair.run, matches, pair.policy.ties, depth, SHOWN, among)
    matched = (
        pl.DataFrame(
            {
                "query": matches.edge_query,
                "rank": matches.edge_rank,
                "targets": matches.edge_target,
                "grade": matches.target_grade[matches.edge_target],
                "useful": matches.relevant(rel)[matches.edge_target],
            }
        )
        .group_by("query", "rank")
        .agg("targets", pl.col("grade").max(), pl.col("useful").any())
    )
    return (
        listed.join(matched, on=["query", "rank"], how="left", maintain_order="left")
        .with_columns(
            state=pl.when(pl.col("useful"))
            .then(pl.lit("relevant"))
            .when(pl.col("useful").is_not_null())
            .then(pl.lit("not relevant"))
            .when(pl.col("repeated"))
            .then(pl.lit("repeated"))
            .otherwise(pl.lit("unjudged"))
        )
        .drop("useful", "repeated")
        .sort("query", "rank")
    )
