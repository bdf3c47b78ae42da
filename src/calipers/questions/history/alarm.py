"""Have the evaluations of a name got worse? Their lines over time, the reference, and a verdict.

Only queries with the same question and the same ground truth are compared: there a drop
is due to the retriever (or the corpus).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.age import age_of
from calipers.model.arrays import Floats
from calipers.model.evaluation import Evaluation
from calipers.model.fact import Fact, named, sentence
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import refuse_weighted, units_of
from calipers.questions.compare.comparable import different_ways
from calipers.questions.compare.paired_claim import claim_of, difference_of
from calipers.questions.compare.result import Difference
from calipers.questions.default_metrics import asked_pair, headlines
from calipers.questions.gate.result import worst_queries
from calipers.questions.history.result import (
    Alarm,
    AlarmCheck,
    AlarmReference,
    Mark,
    Standing,
    day,
)
from calipers.questions.history.rule import lines_of, metric_names, selected
from calipers.statistics.clusters import exact_mean
from calipers.statistics.nights import WEEK, Watched, watch
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.store.load import load_judgements, load_scores
from calipers.store.open import Store
from calipers.version import __version__

if TYPE_CHECKING:
    from calipers.questions.history.settings import HistoryAlarmSettings

NIGHTS_A_YEAR = 365
"""One false alarm a year is the budget, with one evaluation a day."""
ORDER = ("failed", "no clear difference", "passed")
_GAPS = 3
"""An evaluation is missing after this many times the usual gap."""
_A_DAY = timedelta(days=1)


@dataclass(frozen=True, eq=False)
class Night:
    """A saved evaluation with its scores and a digest of each query's ground truth."""

    evaluation: Evaluation
    scores: Scores
    judgements: pl.DataFrame
    """Columns query, text and judgements: a digest of the targets, null if unknown."""


def due_by(saved: Sequence[datetime], every: str | None = None) -> datetime | None:
    """When the next evaluation is due, from the times of the earlier ones."""
    if every is not None:
        return saved[-1] + age_of(every, "The time in --every")
    gaps = [(after - before).total_seconds() for before, after in pairwise(saved)][-30:]
    usual = timedelta(seconds=median(gaps)) if gaps else None
    return None if usual is None else saved[-1] + max(_A_DAY, _GAPS * usual)


def over_time(store: Store, name: str, settings: "HistoryAlarmSettings") -> Alarm:
    """The selected evaluations of a name over time, and whether the latest is worse."""
    primary = settings.primary
    check_number("The loss that is allowed", settings.allow, least=0, such_as=0.02)
    listed = selected(store, name, settings)[::-1]
    if not listed:
        raise InvalidInput(
            f"No evaluation called {name} is left after the filters; there are others of "
            "that name (`calipers history` lists them)."
        )
    nights = [
        Night(
            evaluation, load_scores(store, evaluation), load_judgements(store, evaluation)
        )
        for evaluation in listed
    ]
    latest = nights[-1]
    alike = alike_of(nights)
    metrics = metric_names(settings.metrics)
    if metrics is None:
        known = _watchable(alike)
        metrics = asked_pair(known, primary) if known else headlines(listed[-1].summaries)
    elif primary is not None and primary in metrics:
        metrics = sorted(metrics, key=lambda metric: metric != primary)
    answer = Alarm(
        name=name,
        id=latest.evaluation.id,
        saved=latest.evaluation.saved,
        commit=latest.evaluation.commit,
        branch=latest.evaluation.branch,
        evaluations=len(listed),
        metrics=tuple(metrics),
        lines=lines_of(name, listed, metrics, latest.scores.summaries),
        marks=tuple(
            Mark(evaluation.id, evaluation.saved, evaluation.changed)
            for evaluation in listed[1:]
            if evaluation.changed
        ),
        allow=settings.allow,
        calipers=__version__,
    )
    due = due_by([evaluation.saved for evaluation in listed], settings.every)
    which = settings.which
    if due is not None and which.until is None and _now(which.now) > due:
        answer = replace(answer, missing=due)
    return judged(answer, nights)


def _now(now: datetime | None) -> datetime:
    """The time to judge by; one without a zone is in UTC."""
    moment = now or datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def judged(answer: Alarm, nights: Sequence[Night]) -> Alarm:
    """Add the verdict, if there is something to compare the latest with."""
    latest = nights[-1]
    alike = alike_of(nights)
    if len(nights) == 1:
        return answer
    if len(alike) == 1:
        reason = next(different_ways("the latest", latest.scores, *_named(nights[-2])))
        sentence = f"The latest evaluation cannot be compared with those before: {reason}"
        return replace(
            answer, unchecked=f"{sentence} Measure as before, or start a new name."
        )
    refuse_weighted(latest.scores, "Alarms")
    watched = [metric for metric in _watchable(alike) if metric.name in answer.metrics]
    watched.sort(key=lambda metric: answer.metrics.index(metric.name))
    if not watched:
        sentence = f"None of {', '.join(answer.metrics)} can be watched"
        return replace(
            answer, unchecked=f"{sentence}: not all have it, or neither way is better."
        )
    checks = _checks(alike, watched, answer.allow)
    if checks[0].change is None:
        sentence = (
            "The latest evaluation shares no query with those before that asks the same "
            "and "
        )
        return replace(answer, unchecked=f"{sentence}has the same ground truth.")
    # As in the gate, a check in which no query changed says least.
    checks.sort(
        key=lambda check: (ORDER.index(check.standing), not queries_changed(check.change))
    )
    notes = list(_notes(nights, alike))
    return replace(answer, checks=tuple(checks), notes=tuple(notes))


def alike_of(nights: Sequence[Night]) -> list[Night]:
    """The evaluations measured in the same way as the latest, including itself."""
    latest = nights[-1]
    return [
        night
        for night in nights
        if night is latest
        or not any(different_ways("the latest", latest.scores, *_named(night)))
    ]


def _named(night: Night) -> tuple[str, Scores]:
    return f"@{night.evaluation.short}", night.scores


def _watchable(alike: Sequence[Night]) -> list[MetricFacts]:
    """The metrics that all evaluations have and that have a better direction."""
    facts = facts_by_name(alike[-1].scores)
    return [
        fact
        for fact in facts.values()
        if fact.better != "neither"
        and all(fact.name in facts_by_name(night.scores) for night in alike)
    ]


def _rows(latest: Night, earlier: Night) -> np.ndarray:
    """For each query of the latest its row in the earlier one, -1 if it is missing or differs."""
    joined = latest.judgements.join(
        earlier.judgements.with_row_index("row"),
        on="query",
        how="left",
        maintain_order="left",
    )
    same_text = pl.col("text").eq_missing(pl.col("text_right"))
    same_truth = pl.col("judgements") == pl.col("judgements_right")
    prints = [night.scores.fingerprints["ground_truth"] for night in (latest, earlier)]
    if prints[0] == prints[1]:
        same_truth = pl.lit(value=True)
    same = pl.col("row").is_not_null() & same_text & same_truth.fill_null(value=False)
    rows: np.ndarray = (
        joined.select(pl.when(same).then(pl.col("row").cast(pl.Int64)).otherwise(-1))
        .to_series()
        .to_numpy()
    )
    return rows


def _checks(
    nights: Sequence[Night], metrics: Sequence[MetricFacts], allow: float
) -> list[AlarmCheck]:
    """Each metric against its reference; the changes since then are tested together."""
    latest = nights[-1].scores
    rows = [_rows(nights[-1], night) for night in nights]
    level = 1.0 / NIGHTS_A_YEAR / len(metrics)
    lines = [_values(nights, rows, facts) for facts in metrics]
    watches = [watch(values, allow, level) for values in lines]
    units = units_of(latest.queries, latest.tags, latest.recorded.cluster)
    # As compare does, so that both print the same p and interval for the same two nights.
    tests = paired_rows([watched.gains for watched in watches], units)
    return [
        _check(nights, facts, values, watched, row, allow)
        for facts, values, watched, row in zip(
            metrics, lines, watches, tests, strict=True
        )
    ]


def _values(
    nights: Sequence[Night], rows: Sequence[np.ndarray], facts: MetricFacts
) -> Floats:
    """A row per night and a column per query of the latest; more is better, NaN where not known."""
    values: Floats = facts.turn * np.array(
        [
            np.where(at >= 0, night.scores.of(facts.name)[at], np.nan)
            for at, night in zip(rows, nights, strict=True)
        ]
    )
    return values


def _check(
    nights: Sequence[Night],
    facts: MetricFacts,
    values: Floats,
    watched: Watched,
    row: PairedRow,
    allow: float,
) -> AlarmCheck:
    known = np.isfinite(watched.gains)
    latest = nights[-1].scores
    name = nights[-1].evaluation.name
    rang = watched.rings[-1]
    if not known.any():
        claim = claim_of(row, facts, None, None)
        return AlarmCheck(metric=facts.name, standing="no clear difference", claim=claim)
    difference = row.difference or 0.0
    before = exact_mean(watched.before[known])
    old = facts.turn * before
    now = facts.turn * (before + difference)
    standing: Standing = (
        "failed" if rang else "no clear difference" if difference < 0 else "passed"
    )
    first = [nights[at].evaluation for at in watched.reference]
    best = None if watched.best is None else nights[watched.best].evaluation.id
    ends = (first[0].saved, first[-1].saved)
    reference = AlarmReference(tuple(evaluation.id for evaluation in first), best, *ends)
    period = _period(nights, facts.turn * values[:, known], old, watched, allow)
    if rang:
        period = {
            "sudden": "over the evaluations just before",
            "week": f"{period} (the last {WEEK} together)",
        }.get(rang, period)
    claim = claim_of(row, facts, old, now, over=(name, period), standing=standing)
    if row.worse:
        against = (reference.best or reference.evaluations[-1])[:8]
        claim = replace(claim, next=f"Compare: `calipers compare @{against} @{name}`")
    return AlarmCheck(
        metric=facts.name,
        standing=standing,
        claim=claim,
        change=difference_of(row, facts, ("reference", name), (old, now)),
        look=rang,
        noisy=watched.noisy,
        reference=reference,
        lost=worst_queries(
            latest.queries,
            np.where(watched.gains < 0.0, watched.gains, np.nan),
            facts.turn * (watched.before + watched.gains),
            facts.turn * watched.before,
        ),
    )


def queries_changed(change: Difference | None) -> int:
    """How many queries gained or lost."""
    return change.wins + change.losses if change is not None else 0


def _period(
    nights: Sequence[Night], values: Floats, old: float, watched: Watched, allow: float
) -> str:
    """Since when the value of the reference held, or until when, where it did so no more.

    ``values`` are those of the compared queries, a row per night.
    """
    near = max(allow, NEAR) if watched.noisy else NEAR
    start = watched.best if watched.best is not None else watched.reference[-1]

    def held(at: int) -> bool:
        if watched.noisy and at > start:
            return watched.rings[at] is None
        return at == start or abs(exact_mean(known_of(values[at])) - old) <= near

    before = len(nights) - 2
    last = next(at for at in range(before, start - 1, -1) if held(at))
    first = last
    while first > 0 and held(first - 1):
        first -= 1
    now = nights[-1].evaluation.saved
    if last < before:
        return f"until {day(nights[last].evaluation.saved, now)}"
    when = day(nights[first].evaluation.saved, now)
    return f"on {when}" if first == last == start else f"since {when}"


def known_of(values: Floats) -> Floats:
    """The values that there are; one that is far from any where there are none."""
    known: Floats = values[~np.isnan(values)]
    return known if known.size else np.array([np.inf])


NEAR = 0.0005
"""Means that are printed alike."""


def _notes(nights: Sequence[Night], alike: Sequence[Night]) -> Iterator[str]:
    """What was left out, and when the reference is complete."""
    latest = nights[-1]
    if skipped := len(nights) - len(alike):
        other = next(night for night in reversed(nights) if night not in alike)
        reason = next(different_ways("the latest", latest.scores, *_named(other)))
        yield sentence(
            "{it.count:evaluation|evaluations} left out: {reason.text}",
            it=Fact(about="count", count=skipped, text="left out"),
            reason=named(reason),
        )
    if len(alike) <= WEEK:
        yield sentence(
            "The reference is complete after {it.count} evaluations.",
            it=Fact(about="setting", count=WEEK),
        )
