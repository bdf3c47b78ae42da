"""Conditions and baselines put to scores, one check at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import polars as pl

from calipers.analyse.conditions import Condition, unknown_tag_value
from calipers.analyse.cuts import cut
from calipers.analyse.figures import Figure
from calipers.analyse.holm import holm
from calipers.analyse.intervals import exact_mean, mean_interval
from calipers.analyse.paired import PairedResult, paired_results
from calipers.analyse.visible import fewest_queries, visibility
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats
from calipers.model.gate import Change, Check, Requirement, WorstQuery
from calipers.model.scores import Scores

Figures = Mapping[Figure, Floats]
"""What the run recorded, one value per query, for each figure that a condition is about."""
NO_FIGURES: Figures = MappingProxyType({})
WORST = 5
"""How many queries a check names."""
ROUNDING = 1e-12
"""A drop beyond the tolerance by less than this is the arithmetic's, not the retriever's."""


@dataclass(frozen=True, eq=False)
class GatedSlice:
    """Some of the queries: all of them, or those with one value of a tag."""

    name: str | None
    chosen: Bools


def everything(scores: Scores) -> GatedSlice:
    """All queries."""
    return GatedSlice(None, np.ones(len(scores), dtype=np.bool_))


def slice_of(scores: Scores, tag: str, value: str) -> GatedSlice:
    """The queries that have a value for a tag; none is an error."""
    masks = dict(cut(scores, tag))
    if value not in masks:
        raise unknown_tag_value(tag, value, list(masks))
    return GatedSlice(f"{tag}={value}", masks[value])


def slices_by(scores: Scores, tags: Iterable[str]) -> list[GatedSlice]:
    """One slice for each value of each tag."""
    return [
        GatedSlice(f"{tag}={value}", mask)
        for tag in dict.fromkeys(tags)
        for value, mask in cut(scores, tag)
    ]


def check_condition(scores: Scores, condition: Condition, figures: Figures = NO_FIGURES) -> Check:
    """Whether the mean, or the figure, over the queries in question meets the condition."""
    part = (
        everything(scores)
        if condition.tag is None or condition.tag_value is None
        else slice_of(scores, condition.tag, condition.tag_value)
    )
    if condition.figure is not None:
        values = figures[condition.figure]
        check = _figured(condition.figure, values[part.chosen], part, str(condition))
    else:
        values = scores.of(condition.name)
        check = _measured(scores, condition.name, part, str(condition))
    if check.value is None:
        raise InvalidInput(
            f"The condition '{condition}' cannot be decided: {condition.name} is undefined for "
            f"all {int(part.chosen.sum())} queries it is about; choose another metric, or label "
            "these queries."
        )
    holds = condition.holds(check.value)
    unit = "" if condition.figure is None else condition.figure.unit
    # Where much is too much (fp@10 <= 3) the queries with the highest values are the worst.
    lowest_first = condition.op in (">=", ">")
    return replace(
        check,
        status="passed" if holds else "failed",
        requirement=Requirement(condition.op, condition.value),
        because=() if holds else (f"{condition.op} {condition.value:.15g}{unit} is required",),
        worst=() if holds else _worst(scores, values, part, lowest_first=lowest_first),
    )


def _figured(figure: Figure, column: Floats, part: GatedSlice, name: str) -> Check:
    defined = column[~np.isnan(column)]
    mean = figure.statistic == "mean"
    return Check(
        name=name,
        metric=str(figure),
        slice=part.name,
        status="untested",
        value=figure.value(defined) if defined.size else None,
        interval=mean_interval(defined, bounds=(0, float("inf"))) if mean else None,
        n=defined.size,
        undefined=column.size - defined.size,
    )


def _measured(scores: Scores, metric: str, part: GatedSlice, name: str) -> Check:
    column = scores.of(metric)[part.chosen]
    defined = column[~np.isnan(column)]
    settings = scores.settings
    whole = part.name is None
    return Check(
        name=name,
        metric=metric,
        slice=part.name,
        status="untested",
        value=exact_mean(defined) if defined.size else None,
        interval=scores[metric].interval if whole else mean_interval(
            defined, settings["confidence"], settings["resamples"], settings["seed"],
            bounds=_bounds(scores, metric),
        ),
        n=defined.size,
        undefined=column.size - defined.size,
    )  # fmt: skip


def _bounds(scores: Scores, metric: str) -> tuple[float, float] | None:
    facts = next((one for one in scores.metrics if one.name == metric), None)
    if facts is None:
        return None
    low, high = facts.bounds
    return low, float("inf") if high is None else high


def _worst(
    scores: Scores, values: Floats, part: GatedSlice, *, lowest_first: bool
) -> tuple[WorstQuery, ...]:
    rows = np.flatnonzero(part.chosen & ~np.isnan(values))
    order = rows[np.argsort(values[rows] if lowest_first else -values[rows], kind="stable")]
    names, texts = scores.queries["query"], scores.queries["text"]
    return tuple(
        WorstQuery(names[row], texts[row], float(values[row])) for row in order[:WORST].tolist()
    )


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two results over the queries that both have, in the order of the first."""

    now: Scores
    before: Scores
    rows_now: np.ndarray
    rows_before: np.ndarray

    def difference(self, metric: str) -> Floats:
        """Now minus before, per query of ``now``; NaN where there is no pair."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = (
            self.now.of(metric)[self.rows_now] - self.before.of(metric)[self.rows_before]
        )
        return column

    def baseline(self, metric: str) -> Floats:
        """The values before, in the order of the queries of ``now``."""
        column = np.full(len(self.now), np.nan)
        column[self.rows_now] = self.before.of(metric)[self.rows_before]
        return column


def pair(now: Scores, before: Scores) -> Pairing:
    """The queries of two results put beside one another; sharing none is an error."""
    joined = (
        now.queries.select("query")
        .with_row_index("now")
        .join(before.queries.select("query").with_row_index("before"), on="query", how="inner",
              maintain_order="left")
    )  # fmt: skip
    if not joined.height:
        ours, theirs = (s.queries["query"].head(3).to_list() for s in (now, before))
        raise InvalidInput(
            f"The result and the baseline share no query: the result has {_show(ours)}; the "
            f"baseline has {_show(theirs)}. Save a baseline for these queries."
        )
    rows = [joined[name].cast(pl.Int64).to_numpy() for name in ("now", "before")]
    return Pairing(now, before, rows[0], rows[1])


def check_baseline(
    pairing: Pairing,
    metrics: Sequence[str],
    slices: Sequence[GatedSlice],
    *,
    baseline: str,
    alpha: float,
    tolerance: float | None,
    resamples: int,
    seed: int,
) -> list[Check]:
    """Every metric in every slice against the baseline, corrected for their number."""
    now = pairing.now
    higher = {one.name: one.better != "lower" for one in now.metrics}
    cells = [(metric, part) for part in slices for metric in metrics]
    table = np.column_stack(
        [np.where(part.chosen, pairing.difference(metric), np.nan) for metric, part in cells]
    )
    level = now.settings["confidence"]
    results = paired_results(table, level, resamples, seed)
    # Where even a single test could never pass alpha, it only makes the others stricter.
    fewest = fewest_queries(alpha)
    adjusted = holm([result.p_value if result.n >= fewest else None for result in results])
    tests = sum(p is not None for p in adjusted)
    checks = []
    for (metric, part), differences, result, p in zip(
        cells, table.T, results, adjusted, strict=True
    ):
        check = _measured(now, metric, part, _name(metric, part, baseline))
        change = _change(pairing, metric, part, differences, result, alpha, max(1, tests))
        up = higher.get(metric, True)
        moved = (change.better, change.worse) if up else (change.worse, change.better)
        change = replace(change, p_adjusted=p, better=moved[0], worse=moved[1])
        because = _because(change, up, alpha, tolerance)
        blind = p is None or change.visibility.why_not == "too few queries"
        tested = not blind or (tolerance is not None and result.n > 0)
        checks.append(replace(
            check,
            status="failed" if because else "passed" if tested else "untested",
            change=change,
            because=because or (() if tested else (_too_few(change),)),
            worst=_losses(pairing, metric, differences, up) if because else (),
        ))  # fmt: skip
    return checks


def _name(metric: str, part: GatedSlice, baseline: str) -> str:
    place = "" if part.name is None else f" for {part.name}"
    return f"{metric} not worse than {baseline}{place}"


def _too_few(change: Change) -> str:
    seen = change.visibility
    count = "no query" if seen.n == 0 else "one query" if seen.n == 1 else f"{seen.n} queries"
    return (
        f"{count} can be compared, which shows no drop however large; at least {seen.fewest} are "
        "needed"
    )


def _change(
    pairing: Pairing, metric: str, part: GatedSlice, differences: Floats, result: PairedResult,
    alpha: float, tests: int,
) -> Change:  # fmt: skip
    before, now = pairing.baseline(metric)[part.chosen], pairing.now.of(metric)[part.chosen]
    paired = ~np.isnan(differences[part.chosen])
    return Change(
        baseline=exact_mean(before[paired]) if paired.any() else None,
        difference=result.mean_difference,
        interval=result.interval,
        p_value=result.p_value,
        better=result.wins,
        worse=result.losses,
        same=result.ties,
        unpaired=int((np.isnan(before) != np.isnan(now)).sum()),
        visibility=visibility(differences, alpha, tests),
    )


def _because(
    change: Change, higher_is_better: bool, alpha: float, tolerance: float | None
) -> tuple[str, ...]:
    if change.difference is None:
        return ()
    drop = -change.difference if higher_is_better else change.difference
    reasons = []
    if drop > 0 and change.p_adjusted is not None and change.p_adjusted < alpha:
        reasons.append("significantly worse")
    if tolerance is not None and drop > tolerance + ROUNDING:
        reasons.append(f"worse by more than {tolerance:g}")
    return tuple(reasons)


def _losses(
    pairing: Pairing, metric: str, differences: Floats, higher_is_better: bool
) -> tuple[WorstQuery, ...]:
    signed = differences if higher_is_better else -differences
    rows = np.flatnonzero(signed < 0)
    order = rows[np.argsort(signed[rows], kind="stable")][:WORST].tolist()
    values, before = pairing.now.of(metric), pairing.baseline(metric)
    names, texts = pairing.now.queries["query"], pairing.now.queries["text"]
    return tuple(
        WorstQuery(names[row], texts[row], float(values[row]), float(before[row])) for row in order
    )


def _show(names: list[str]) -> str:
    return ", ".join(repr(name if len(name) <= 60 else name[:57] + "…") for name in names)
