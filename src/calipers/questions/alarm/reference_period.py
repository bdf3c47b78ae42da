"""The reference period that evaluations are compared with, query by query.

Only queries with the same question and the same ground truth in the whole reference and in the
latest evaluation are compared: on those a drop is the retriever's (or the corpus's). What the mean
moved beyond that came with the ground truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from calipers.model.arrays import Bools, Floats
from calipers.model.evaluation import Evaluation
from calipers.model.scores import Scores
from calipers.questions.alarm.result import AlarmReference
from calipers.questions.history.rule import Filter
from calipers.statistics.clusters import exact_mean
from calipers.store.load import load_judgements, load_scores
from calipers.store.open import Store


@dataclass(frozen=True, eq=False)
class Watched:
    """A saved evaluation with its scores and what is known of each query's ground truth."""

    evaluation: Evaluation
    scores: Scores
    judgements: pl.DataFrame
    """query, text, judgements: a digest of what should be found, null where unknown."""


def watched(store: Store, wanted: Filter) -> list[Watched]:
    """The evaluations that fit, newest first, with what an alarm needs of each."""
    return [
        Watched(one, load_scores(store, one), load_judgements(store, one))
        for one in wanted.among(store)
    ]


@dataclass(frozen=True, eq=False)
class Yardstick:
    """Evaluations in line with the queries of the latest, oldest first."""

    nights: tuple[Watched, ...]
    rows: tuple[np.ndarray, ...]
    """For each evaluation: the row of every query of the latest, -1 where not comparable."""
    reference: tuple[int, ...] = (0,)
    """Which of them are the reference."""

    @property
    def comparable(self) -> Bools:
        """Queries of the latest that the whole reference shares."""
        shared: Bools = np.all([self.rows[at] >= 0 for at in self.reference], axis=0)
        return shared

    @property
    def _first(self) -> list[Watched]:
        return [self.nights[at] for at in self.reference]

    def table(self, metric: str) -> Floats:
        """One row per evaluation, one column per query of the latest; NaN where there is none."""
        return np.array(
            [
                np.where(rows >= 0, one.scores.of(metric)[rows], np.nan)
                for rows, one in zip(self.rows, self.nights, strict=True)
            ]
        )

    def whole(self, metric: str) -> float | None:
        """The mean of the reference's means, each over all queries of its evaluation."""
        means = [one.scores[metric].mean for one in self._first]
        known = [mean for mean in means if mean is not None]
        return exact_mean(np.array(known)) if known else None

    def described(self) -> AlarmReference:
        """The reference, and how far the latest was asked for the same."""
        first = self._first
        names = set(self.nights[-1].scores.queries["query"].to_list())
        before = set().union(*(one.scores.queries["query"].to_list() for one in first))
        shared = int(self.comparable.sum())
        return AlarmReference(
            evaluations=tuple(one.evaluation.id for one in first),
            oldest=first[0].evaluation.saved,
            newest=first[-1].evaluation.saved,
            left_out=self.reference[-1] + 1 - len(first),
            shared=shared,
            new=len(names - before),
            gone=len(before - names),
            rejudged=len(names & before) - shared,
        )


def yardstick(nights: Sequence[Watched]) -> Yardstick:
    """Evaluations, oldest first, of which the last is the latest."""
    return Yardstick(tuple(nights), tuple(_rows(nights[-1], one) for one in nights))


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
