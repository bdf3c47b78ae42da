"""Some queries of a matched pair as a pair of their own, without matching again."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.run import Run


class _Rows:
    """The results of a run, found by query without looking through all of them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        frames = list(run.scan())
        frame = pl.concat(frames) if frames else pl.DataFrame(schema={"query": pl.String()})
        runs = _lengths(frame)
        if runs["query"].n_unique() < runs.height:
            frame = frame.sort("query", maintain_order=True)
            runs = _lengths(frame)
        self._frame = frame
        self._places = runs.with_columns(start=pl.col("len").cum_sum() - pl.col("len"))
        self._stages: Mapping[str, _Rows] = {
            name: _Rows(stage) for name, stage in run.stages.items()
        }

    def of(self, queries: pl.Series) -> Run:
        """The run with the results of these queries alone, ranked by the same rules."""
        run = self._run
        here = self._places.join(pl.DataFrame({"query": queries}), on="query", how="semi")
        parts = [
            self._frame.slice(start, length)
            for length, start in here.select("len", "start").iter_rows()
        ]
        asked = run.queries
        if asked is not None:
            asked = asked.join(pl.DataFrame({"query": queries}), on="query", how="semi")
        return Run.from_frame(
            pl.concat(parts) if parts else self._frame.clear(),
            order=run.order,
            ties=run.ties,
            queries=asked,
            name=run.name,
            stages={name: stage.of(queries) for name, stage in self._stages.items()},
        )


def _lengths(frame: pl.DataFrame) -> pl.DataFrame:
    """query, len: how many rows of the same query stand together."""
    return (
        frame["query"]
        .rle()
        .struct.unnest()
        .select(pl.col("value").alias("query"), pl.col("len").cast(pl.Int64))
    )


class Portions:
    """A pair that can be asked for some of its queries."""

    def __init__(self, pair: Matched) -> None:
        self.pair = pair

    @cached_property
    def _rows(self) -> tuple[_Rows, _Rows]:
        """The run as it was matched, and as it was read; mostly they are one."""
        matched = _Rows(self.pair.run)
        read = self.pair.as_read[1]
        return matched, matched if read is self.pair.run else _Rows(read)

    def between(self, start: int, stop: int) -> Matched:
        """The queries from one row to another, matched as they are in the pair."""
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
    wanted = pl.DataFrame({"query": queries}).with_columns(wanted=True)
    mask = truth.queries.join(wanted, on="query", how="left", maintain_order="left")["wanted"]
    return GroundTruth(
        truth.targets.join(wanted, on="query", how="semi", maintain_order="left"),
        truth.queries.filter(mask.fill_null(False)),
        {name: tag.filter(mask.fill_null(False)) for name, tag in truth.tags.items()},
    )
