"""Select a query of a matched pair, and list results in a table."""

from dataclasses import replace

import polars as pl

from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.run import Run
from calipers.questions.shown_results import list_results


class Portions:
    """A pair from which one query can be selected."""

    def __init__(self, pair: Matched) -> None:
        self.pair = pair
        self._held: dict[int, list[pl.DataFrame]] = {}
        """The results of a run that is not packed, read once."""

    def alone(self, row: int) -> Matched:
        """The query in a row, with its results and matches."""
        matches = self.pair.matches.between(row, row + 1)
        query = matches.queries["query"][0]
        (truth, read), run = self.pair.as_read, self._of(self.pair.run, query)
        return replace(
            self.pair,
            ground_truth=_only(self.pair.ground_truth, query),
            run=run,
            matches=matches,
            as_read=(_only(truth, query), run if read is self.pair.run else self._of(read, query)),
        )

    def _of(self, run: Run, query: str) -> Run:
        """The run with the results of one query only, ranked by the same rules."""
        mine, packed = pl.col("query") == query, getattr(run.scan, "only", None)
        if packed is None and id(run) not in self._held:
            self._held[id(run)] = [*run.scan()]
        frames = [one.filter(mine) for one in self._held[id(run)]] if packed is None else []
        nothing = pl.DataFrame(schema={"query": pl.String()})
        return Run.from_frame(
            packed(mine) if packed else pl.concat(frames) if frames else nothing,
            order=run.order,
            ties=run.ties,
            queries=None if run.queries is None else run.queries.filter(mine),
            name=run.name,
            stages={name: self._of(stage, query) for name, stage in run.stages.items()},
        )


def _only(truth: GroundTruth, query: str) -> GroundTruth:
    return truth.only(truth.queries["query"] == query)


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
