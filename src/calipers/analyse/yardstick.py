"""What the latest evaluation is held against, query by query.

Only queries with the same question and the same ground truth on both sides are compared: on
those a drop is the retriever's (or the corpus's). What the mean moved beyond that came with the
ground truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.analyse.intervals import exact_mean
from calipers.model.alarm import Against, AlarmReference
from calipers.model.arrays import Floats
from calipers.model.evaluation import Evaluation
from calipers.model.scores import Scores


@dataclass(frozen=True, eq=False)
class Watched:
    """A saved evaluation with its scores and what is known of each query's ground truth."""

    evaluation: Evaluation
    scores: Scores
    judgements: pl.DataFrame
    """query, text, judgements: a digest of what should be found, null where unknown."""


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What the latest is held against: one evaluation, or the mean of several."""

    reference: AlarmReference
    rows: tuple[np.ndarray, ...]
    """For each evaluation: the row of every query of the latest, -1 where not comparable."""
    earlier: tuple[Watched, ...]

    def values(self, metric: str) -> Floats:
        """The mean over the evaluations, per query of the latest; NaN where there is none."""
        total = np.zeros(len(self.rows[0]))
        counts = np.zeros(len(self.rows[0]))
        for rows, one in zip(self.rows, self.earlier, strict=True):
            column = np.where(rows >= 0, one.scores.of(metric)[rows], np.nan)
            known = ~np.isnan(column)
            total[known] += column[known]
            counts += known
        mean: Floats = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
        return mean

    def whole(self, metric: str) -> float | None:
        """The mean of the means, each over all queries of its evaluation."""
        means = [one.scores[metric].mean for one in self.earlier]
        known = [mean for mean in means if mean is not None]
        return exact_mean(np.array(known)) if known else None


def yardstick(latest: Watched, earlier: Sequence[Watched], against: Against) -> Yardstick:
    """The evaluations to hold the latest against, newest first."""
    lined = [_rows(latest, one) for one in earlier]
    comparable = np.any([rows >= 0 for rows in lined], axis=0)
    names = set(latest.scores.queries["query"].to_list())
    before = set().union(*(one.scores.queries["query"].to_list() for one in earlier))
    reference = AlarmReference(
        against=against,
        evaluations=tuple(one.evaluation.id for one in earlier),
        oldest=min(one.evaluation.saved for one in earlier),
        newest=max(one.evaluation.saved for one in earlier),
        shared=int(comparable.sum()),
        new=len(names - before),
        gone=len(before - names),
        rejudged=len(names & before) - int(comparable.sum()),
    )
    return Yardstick(reference, tuple(lined), tuple(earlier))


def _rows(latest: Watched, earlier: Watched) -> np.ndarray:
    """For each query of the latest its row in the earlier one, -1 where something differs."""
    joined = latest.judgements.join(
        earlier.judgements.with_row_index("row"), on="query", how="left", maintain_order="left"
    )
    same_text = pl.col("text").eq_missing(pl.col("text_right"))
    same_truth = pl.col("judgements") == pl.col("judgements_right")
    prints = [one.scores.fingerprints["ground_truth"] for one in (latest, earlier)]
    if prints[0] == prints[1]:
        same_truth = pl.lit(value=True)
    same = pl.col("row").is_not_null() & same_text & same_truth.fill_null(value=False)
    rows: np.ndarray = (
        joined.select(pl.when(same).then(pl.col("row").cast(pl.Int64)).otherwise(-1))
        .to_series()
        .to_numpy()
    )
    return rows
