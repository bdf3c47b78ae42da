"""Check conditions on scores and on what the run recorded, and questions that must not fail."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name, summarise
from calipers.errors import InvalidInput
from calipers.measures import Metric
from calipers.model.arrays import Bools, Floats, Ints
from calipers.model.claim import Claim
from calipers.model.matched import FAILED, Matched
from calipers.model.scores import Scores
from calipers.model.slicing import QuerySlice, cut, everything, query_weights_in
from calipers.questions.gate.conditions import OPERATORS, Condition, Figure, unknown_tag_value
from calipers.questions.gate.result import (
    RETRIEVER,
    Check,
    Leak,
    Raised,
    Requirement,
    Status,
    WorstQuery,
    raised_in_words,
    spread_of,
    worst_queries,
)
from calipers.statistics.score_interval import mean_interval
from calipers.words import did_you_mean, number, plural

_LEAKS = ("leak", "leak_rate")
Figures = Mapping[Figure, Floats]
"""The recorded values, one per query, of each figure in the conditions."""
NO_FIGURES: Figures = MappingProxyType({})


def slice_of(scores: Scores, tag: str, value: str) -> QuerySlice:
    """The queries with this value of a tag; none is an error."""
    masks = dict(cut(scores, tag))
    if value not in masks:
        raise unknown_tag_value(tag, value, list(masks))
    return QuerySlice(f"{tag}={value}", masks[value])


def check_condition(
    scores: Scores,
    condition: Condition,
    figures: Figures = NO_FIGURES,
    clusters: Ints | None = None,
    pair: Matched | None = None,
) -> Check:
    """Check whether the mean, or the figure, meets the condition on its queries.

    ``pair`` is what the scores were made from, where available: it names what leaked.
    """
    part = (
        everything(scores)
        if condition.tag is None or condition.tag_value is None
        else slice_of(scores, condition.tag, condition.tag_value)
    )
    if condition.figure is not None:
        values = figures[condition.figure]
        check = _figured(scores, condition.figure, values, part, str(condition), clusters)
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
    wanted = f"{condition.op} {condition.value:.15g}{unit} required"
    place = "" if part.name is None else f" for {part.name}"
    # For an upper limit (fp@10 <= 3) the queries with the highest values are the worst.
    short = part.chosen & ~OPERATORS[condition.op](values, condition.value)
    weight = np.where(short, values if condition.op in (">=", ">") else -values, np.nan)
    return replace(
        check,
        status="passed" if holds else "failed",
        requirement=Requirement(condition.op, condition.value),
        because=() if holds else (wanted,),
        claim=Claim(
            "passed" if holds else "failed",
            f"{check.metric}{place} is {number(check.value)}{f' {unit}' if unit else ''}; "
            f"{wanted} ({spread_of(check)}).",
        ),
        worst=() if holds else worst_queries(scores, weight, values),
        leaks=() if holds or pair is None else _leaks(pair, condition.metric, part),
    )


def _figured(
    scores: Scores,
    figure: Figure,
    values: Floats,
    part: QuerySlice,
    name: str,
    clusters: Ints | None,
) -> Check:
    column = np.where(part.chosen, values, np.nan)
    defined = column[~np.isnan(column)]
    interval = None
    if figure.statistic == "mean":
        interval = mean_interval(column, scores.settings["confidence"], None, clusters)
    return Check(
        name=name,
        metric=str(figure),
        slice=part.name,
        status="no clear difference",
        value=figure.value(defined) if defined.size else None,
        # No figure is negative.
        interval=interval and replace(interval, low=max(interval.low, 0.0)),
        n=defined.size,
        undefined=int(part.chosen.sum()) - defined.size,
        unit=figure.unit,
    )


def check_of(
    scores: Scores, metric: str, part: QuerySlice, name: str, clusters: Ints | None
) -> Check:
    """A metric on a slice with its interval, not yet checked against a value."""
    column = np.where(part.chosen, scores.of(metric), np.nan)
    # The condition may omit the relevance threshold that the scores were made with.
    facts = facts_by_name(scores)[scores[metric].metric]
    weights = query_weights_in(scores)
    found = summarise([facts], column[:, None], {}, scores.settings, clusters, weights)[facts.name]
    return Check(
        name=name,
        metric=metric,
        slice=part.name,
        status="no clear difference",
        value=found.mean,
        interval=found.interval,
        n=found.n,
        undefined=int(part.chosen.sum()) - found.n,
    )


def figures_of(
    conditions: Sequence[Condition], pair: Matched | None
) -> tuple[Figures, tuple[str, ...]]:
    """The recorded values of the figures in the conditions, and notes about them."""
    wanted = dict.fromkeys(one.figure for one in conditions if one.figure is not None)
    if wanted and pair is None:
        raise InvalidInput(
            f"A condition is about {next(iter(wanted))}, which a result that was measured before "
            "does not hold; give the run itself."
        )
    recorded = {"latency": _latency, "tokens": _tokens}
    found = {one: recorded[one.of](pair, one) for one in wanted} if pair is not None else {}
    notes = dict.fromkeys(note for _, note in found.values() if note is not None)
    return {figure: values for figure, (values, _) in found.items()}, tuple(notes)


def _latency(pair: Matched, _: Figure) -> tuple[Floats, str | None]:
    """The latency of each query, NaN where the run has none, and a note about them."""
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
    from calipers.questions.tokens import tokens_shown  # only loaded for tokens

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


def _leaks(pair: Matched, metric: Metric | None, part: QuerySlice) -> tuple[Leak, ...]:
    """Every forbidden result by query, if the metric counts leaks."""
    leaked = pair.matches.leaked
    if metric is None or metric.name not in _LEAKS or leaked is None:
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
        if part.chosen[query] and (metric.k is None or rank <= metric.k)
    )


def check_must(scores: Scores, metric: str, named: str, before: Floats | None) -> Check:
    """Check that every question of a tag or a list finds something."""
    chosen = _chosen(scores, named)
    values = scores.of(metric)
    lost = np.flatnonzero(chosen & (values == 0)).tolist()
    unknown = int(np.count_nonzero(chosen & np.isnan(values)))
    n = int(chosen.sum())
    because = []
    if lost:
        because.append(f"{len(lost):,} of {n:,} found nothing")
    if unknown:
        because.append(f"{metric} is undefined for {unknown:,} of them")
    names, texts = scores.queries["query"], scores.queries["text"]
    found = f"{n - len(lost) - unknown:,} of {n:,} questions that must not fail find something"
    first = f"; {texts[lost[0]] or names[lost[0]]} does not" if lost else ""
    status: Status = "failed" if lost else "no clear difference" if unknown else "passed"
    return Check(
        name=f"{named} must not fail",
        metric=metric,
        slice=None,
        status=status,
        value=(n - len(lost) - unknown) / n,
        interval=None,
        n=n,
        undefined=unknown,
        because=tuple(because),
        claim=Claim(status, f"{found} ({named}, {metric}){first}."),
        worst=tuple(
            WorstQuery(names[row], texts[row], 0.0, None if before is None else _known(before[row]))
            for row in lost
        ),
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _chosen(scores: Scores, named: str) -> Bools:
    """Select the questions with a tag's value, or those in a file with one id per line."""
    if Path(named).is_file():
        wanted = [line.strip() for line in Path(named).read_text(encoding="utf-8").splitlines()]
        wanted = [one for one in wanted if one]
        has = scores.queries["query"]
        known = set(has)
        unknown = [one for one in wanted if one not in known]
        if unknown or not wanted:
            what = f"the id {unknown[0]!r}" if unknown else "no id"
            raise InvalidInput(
                f"{named} names questions that must not fail and holds {what}, which no question "
                f"has; give one id a line.{did_you_mean(unknown[0], has) if unknown else ''}"
            )
        mask: Bools = has.is_in(wanted).to_numpy()
        return mask
    tag, equals, value = (part.strip() for part in named.partition("="))
    if not equals:
        raise InvalidInput(
            f"{named!r} does not say which questions must not fail: there is no such file, and it "
            "is not TAG=VALUE, such as priority=high."
        )
    return slice_of(scores, tag, value).chosen


def raised_by(scores: Scores, pair: Matched | None) -> tuple[Raised, ...]:
    """The questions on which the retriever failed, with their errors if known."""
    failed = scores.queries.filter(pl.col("status") == FAILED)
    if not failed.height:
        return ()
    errors: dict[str, str] = {}
    asked = None if pair is None else pair.run.queries
    if asked is not None and "error" in asked.columns:
        errors = dict(asked.select("query", "error").filter(pl.col("error").is_not_null()).rows())
    return tuple(
        Raised(query, text, errors.get(query))
        for query, text in failed.select("query", "text").rows()
    )


def check_raised(raised: tuple[Raised, ...], queries: int) -> list[Check]:
    """A check that cannot pass if the retriever failed: what it would have found is unknown."""
    if not raised:
        return []
    status: Status = "no clear difference"
    return [
        Check(
            name=RETRIEVER,
            metric="answers",
            slice=None,
            status=status,
            value=1.0 - len(raised) / queries,
            interval=None,
            n=queries,
            undefined=0,
            because=(raised_in_words(raised, queries),),
            claim=Claim(
                status,
                f"{raised_in_words(raised, queries)}.",
                next="Repair the retriever, and run the gate again.",
            ),
        )
    ]
