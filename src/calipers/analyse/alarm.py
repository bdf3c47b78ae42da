"""Is the latest evaluation worse than before, and is that the retriever's doing?

Only queries with the same question and the same ground truth on both sides are compared: on
those a drop is the retriever's (or the corpus's). What the mean moved beyond that came with the
ground truth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from calipers.analyse.compare import facts_by_name
from calipers.analyse.cuts import cut
from calipers.analyse.holm import holm
from calipers.analyse.intervals import exact_mean
from calipers.analyse.paired import PairedResult, paired_results
from calipers.analyse.visible import fewest_queries, visibility
from calipers.model.alarm import Against, AlarmCheck, Reference, Status
from calipers.model.arrays import Bools, Floats
from calipers.model.evaluation import Evaluation
from calipers.model.gate import Change, WorstQuery
from calipers.model.scores import Scores

WORST = 5
ROUNDING = 1e-12
"""The mean of several evaluations differs by less than this from what it is on paper."""


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

    reference: Reference
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
    reference = Reference(
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


def check_all(
    latest: Watched,
    yardsticks: Sequence[Yardstick],
    metrics: Sequence[str],
    by: Sequence[str],
    *,
    alpha: float,
    resamples: int,
    seed: int,
) -> tuple[AlarmCheck, ...]:
    """Every metric and slice against every yardstick, corrected for the number of tests."""
    slices = list(_slices(latest.scores, by))
    cells = [(one, metric, part) for one in yardsticks for part in slices for metric in metrics]
    before = {(one.reference.against, m): one.values(m) for one in yardsticks for m in metrics}
    columns = []
    for one, metric, (_, chosen) in cells:
        difference = latest.scores.of(metric) - before[one.reference.against, metric]
        difference[np.abs(difference) < ROUNDING] = 0.0
        columns.append(np.where(chosen, difference, np.nan))
    table = np.column_stack(columns)
    results = paired_results(table, 1.0 - alpha, resamples, seed)
    # Where even a single test could never pass alpha, it only makes the others stricter.
    fewest = fewest_queries(alpha)
    adjusted = holm([result.p_value if result.n >= fewest else None for result in results])
    tests = max(1, sum(p is not None for p in adjusted))
    better = {name: facts.better for name, facts in facts_by_name(latest.scores).items()}
    checks = []
    for (one, metric, (name, _)), column, result, p in zip(
        cells, table.T, results, adjusted, strict=True
    ):
        values = before[one.reference.against, metric]
        lower = better[metric] == "lower"
        change = _change(column, values, result, p, alpha, tests, lower=lower)
        status = _status(change, alpha, lower=lower)
        paired = ~np.isnan(column)
        now = latest.scores.of(metric)
        checks.append(
            AlarmCheck(
                against=one.reference.against, metric=metric, slice=name, status=status,
                now=exact_mean(now[paired]) if paired.any() else None, change=change,
                whole_now=latest.scores[metric].mean if name is None else None,
                whole_before=one.whole(metric) if name is None else None,
                worst=_worst(latest.scores, values, column, metric, lower=lower)
                if status == "worse" else (),
            )
        )  # fmt: skip
    return tuple(checks)


def _slices(scores: Scores, by: Sequence[str]) -> Iterator[tuple[str | None, Bools]]:
    yield None, np.ones(len(scores), dtype=np.bool_)
    for tag in dict.fromkeys(by):
        for value, mask in cut(scores, tag):
            yield f"{tag}={value}", mask


def _change(
    column: Floats, before: Floats, result: PairedResult, p: float | None,
    alpha: float, tests: int, *, lower: bool,
) -> Change:  # fmt: skip
    paired = ~np.isnan(column)
    change = Change(
        baseline=exact_mean(before[paired]) if paired.any() else None,
        difference=result.mean_difference,
        interval=result.interval,
        p_value=result.p_value,
        p_adjusted=p,
        better=result.wins,
        worse=result.losses,
        same=result.ties,
        unpaired=0,
        visibility=visibility(column, alpha, tests),
    )
    return replace(change, better=result.losses, worse=result.wins) if lower else change


def _status(change: Change, alpha: float, *, lower: bool) -> Status:
    if change.p_adjusted is None or change.difference is None:
        return "untested"
    if change.visibility.why_not == "too few queries":
        return "untested"
    if change.p_adjusted > alpha or change.difference == 0:
        return "not shown"
    return "worse" if (change.difference > 0) == lower else "better"


def _worst(
    scores: Scores, before: Floats, column: Floats, metric: str, *, lower: bool
) -> tuple[WorstQuery, ...]:
    signed = np.where(np.isnan(column), 0.0, -column if lower else column)
    rows = np.flatnonzero(signed < 0)
    order = rows[np.argsort(signed[rows], kind="stable")][:WORST].tolist()
    now, names, texts = scores.of(metric), scores.queries["query"], scores.queries["text"]
    return tuple(
        WorstQuery(names[row], texts[row], float(now[row]), float(before[row])) for row in order
    )
