"""Conditions put to scores and to the run's own records, one check at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name, interval_of_metric
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim
from calipers.model.matched import Matched
from calipers.model.scores import Interval, Scores
from calipers.model.slicing import QuerySlice, cut, everything
from calipers.questions.gate.conditions import Condition, Figure, unknown_tag_value
from calipers.questions.gate.result import Check, Leak, Requirement, WorstQuery
from calipers.questions.tokens import tokens_shown
from calipers.statistics.clusters import exact_mean
from calipers.statistics.score_interval import mean_interval
from calipers.words import number, plural

WORST = 5
"""How many queries a check names."""
_LEAKS = ("leak", "leak_rate")
Figures = Mapping[Figure, Floats]
"""What the run recorded, one value per query, for each figure that a condition is about."""
NO_FIGURES: Figures = MappingProxyType({})


def slice_of(scores: Scores, tag: str, value: str) -> QuerySlice:
    """The queries that have a value for a tag; none is an error."""
    masks = dict(cut(scores, tag))
    if value not in masks:
        raise unknown_tag_value(tag, value, list(masks))
    return QuerySlice(f"{tag}={value}", masks[value])


def check_condition(
    scores: Scores,
    condition: Condition,
    figures: Figures = NO_FIGURES,
    clusters: Ints | None = None,
) -> Check:
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
        check = check_of(scores, condition.name, part, str(condition), clusters)
    if check.value is None:
        raise InvalidInput(
            f"The condition '{condition}' cannot be decided: {condition.name} is undefined for "
            f"all {int(part.chosen.sum())} queries it is about; choose another metric, or label "
            "these queries."
        )
    holds = condition.holds(check.value)
    unit = "" if condition.figure is None else condition.figure.unit
    wanted = f"{condition.op} {condition.value:.15g}{unit} is required"
    place = "" if part.name is None else f" for {part.name}"
    # Where much is too much (fp@10 <= 3) the queries with the highest values are the worst.
    lowest_first = condition.op in (">=", ">")
    return replace(
        check,
        status="passed" if holds else "failed",
        requirement=Requirement(condition.op, condition.value),
        because=() if holds else (wanted,),
        claim=Claim(
            "passed" if holds else "failed",
            f"{check.metric}{place} is {number(check.value)}{f' {unit}' if unit else ''}, {wanted}",
            _shown(check),
        ),
        worst=() if holds else _worst(scores, values, part, lowest_first=lowest_first),
    )


def _shown(check: Check) -> str:
    """Where the mean over all such queries plausibly lies."""
    queries = plural(check.n, "query", "queries")
    if check.interval is None:
        return queries
    low, high = number(check.interval.low), number(check.interval.high)
    return f"{check.interval.level:.0%} interval {low}–{high}, {queries}"


def _figured(figure: Figure, column: Floats, part: QuerySlice, name: str) -> Check:
    defined = column[~np.isnan(column)]
    mean = figure.statistic == "mean"
    return Check(
        name=name,
        metric=str(figure),
        slice=part.name,
        status="supporting",
        value=figure.value(defined) if defined.size else None,
        interval=_from_zero(mean_interval(defined, bounds=None)) if mean else None,
        n=defined.size,
        undefined=column.size - defined.size,
        unit=figure.unit,
    )


def _from_zero(interval: Interval | None) -> Interval | None:
    """No figure is below zero."""
    return interval and replace(interval, low=max(interval.low, 0.0))


def check_of(
    scores: Scores, metric: str, part: QuerySlice, name: str, clusters: Ints | None
) -> Check:
    """A metric on a slice, measured and not yet judged."""
    column = np.where(part.chosen, scores.of(metric), np.nan)
    defined = column[~np.isnan(column)]
    level = scores.settings["confidence"]
    return Check(
        name=name,
        metric=metric,
        slice=part.name,
        status="supporting",
        value=exact_mean(defined) if defined.size else None,
        interval=interval_of_metric(column, facts_by_name(scores)[metric], level, clusters),
        n=defined.size,
        undefined=int(part.chosen.sum()) - defined.size,
    )


def _worst(
    scores: Scores, values: Floats, part: QuerySlice, *, lowest_first: bool
) -> tuple[WorstQuery, ...]:
    rows = np.flatnonzero(part.chosen & ~np.isnan(values)).tolist()
    sign = 1.0 if lowest_first else -1.0
    names, texts = scores.queries["query"], scores.queries["text"]
    order = sorted(rows, key=lambda row: (sign * values[row], names[row]))
    return tuple(WorstQuery(names[row], texts[row], float(values[row])) for row in order[:WORST])


def figures_of(
    conditions: Sequence[Condition], pair: Matched | None
) -> tuple[Figures, tuple[str, ...]]:
    """What the run recorded for the figures asked for, and what must be said about it."""
    wanted = dict.fromkeys(one.figure for one in conditions if one.figure is not None)
    if wanted and pair is None:
        raise InvalidInput(
            f"A condition is about {next(iter(wanted))}, which a result that was measured before "
            "does not hold; give the run itself."
        )
    found = {figure: _recorded(pair, figure) for figure in wanted} if pair is not None else {}
    notes = dict.fromkeys(note for _, note in found.values() if note is not None)
    return {figure: values for figure, (values, _) in found.items()}, tuple(notes)


def _recorded(pair: Matched, figure: Figure) -> tuple[Floats, str | None]:
    """One value per query, NaN where the run has none, and what must be said about them."""
    return _latency(pair) if figure.of == "latency" else _tokens(pair, figure)


def _latency(pair: Matched) -> tuple[Floats, str | None]:
    queries = pair.run.queries
    if queries is None or "latency_ms" not in queries.columns or not queries["latency_ms"].count():
        raise InvalidInput(
            "A condition is about latency and the run has recorded none; `calipers retrieve` "
            "records it, or give 'latency_ms' in every record."
        )
    asked = pair.matches.queries.select("query").join(
        queries.select("query", pl.col("latency_ms").cast(pl.Float64)),
        on="query",
        how="left",
        maintain_order="left",
    )
    values = asked["latency_ms"].fill_null(float("nan")).to_numpy().copy()
    without = int(np.isnan(values).sum())
    said = f"The run has no latency for {plural(without, 'query', 'queries')}; these do not count."
    return values, said if without else None


def _tokens(pair: Matched, figure: Figure) -> tuple[Floats, str | None]:
    k = figure.k or max(1, pair.depth)
    found = tokens_shown(pair, lambda block, counts: block.summed(counts, [k]))
    if found is None:
        raise InvalidInput(
            "A condition is about tokens and the results have neither 'tokens' nor a text; give "
            "every result its 'tokens'."
        )
    said = "The tokens are estimated from the texts, four characters each."
    values = found.table[:, 0].astype(np.float64)
    return values, said if found.source == "estimate" else None


def _leaks_within(pair: Matched, k: int | None = None) -> tuple[Leak, ...]:
    """Every result of the first k that holds something forbidden, query by query."""
    leaked = pair.matches.leaked
    if leaked is None:
        return ()
    queries = pair.matches.queries
    rows = zip(
        leaked.query.tolist(),
        leaked.rank.tolist(),
        leaked.result.to_list(),
        leaked.name.to_list(),
        strict=True,
    )
    return tuple(
        Leak(queries["query"][query], queries["text"][query], rank, result, name)
        for query, rank, result, name in rows
        if k is None or rank <= k
    )


def with_leaks(check: Check, pair: Matched) -> Check:
    """A failed check of leaks with every leak in it; any other check as it is."""
    name, _, k = check.metric.partition("@")
    if check.status != "failed" or name not in _LEAKS:
        return check
    found = _leaks_within(pair, int(k))
    if check.slice is not None:
        # Of a slice, those of the queries with its tag.
        tag, _, value = check.slice.partition("=")
        tags = pair.ground_truth.tags[tag].to_list()
        names = pair.matches.queries["query"].to_list()
        among = {query for query, one in zip(names, tags, strict=True) if one == value}
        found = tuple(one for one in found if one.query in among)
    return replace(check, leaks=found)
