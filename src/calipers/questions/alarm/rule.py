"""Have the evaluations of a name become worse than its reference period, and since when?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput
from calipers.model.arrays import Bools, Floats
from calipers.model.scores import MetricFacts
from calipers.model.slicing import QuerySlice, everything, slices_by
from calipers.questions.alarm.reference_period import Watched, Yardstick, yardstick
from calipers.questions.alarm.result import Alarm, AlarmCheck
from calipers.questions.compare.comparable import different_ways
from calipers.questions.default_metrics import choose_primary
from calipers.questions.gate.result import WorstQuery
from calipers.questions.trend.rule import changes
from calipers.statistics.clusters import exact_mean
from calipers.statistics.drift import FEWEST_NIGHTS, Drift, began, drift, reference, threshold
from calipers.version import __version__
from calipers.words import did_you_mean

REFERENCE = 7
WORST = 5
ROUNDING = 1e-12
"""The mean of several evaluations differs by less than this from what it is on paper."""


def check_watch(false_alarms: float, nights: int) -> None:
    """Refuse what cannot be meant before anything is read."""
    threshold(false_alarms)
    if nights < FEWEST_NIGHTS:
        raise InvalidInput(
            f"The reference is {nights} evaluations long; at least {FEWEST_NIGHTS} are needed to "
            "tell noise from change."
        )


def alarm(
    name: str,
    watched: Sequence[Watched],
    metrics: list[str] | None,
    by: str | Iterable[str] = (),
    *,
    primary: str | None = None,
    reference: int = REFERENCE,
    false_alarms: float = 1.0,
) -> Alarm:
    """The evaluations of a name, newest first, of which the oldest are the reference."""
    if not watched:
        raise InvalidInput(
            f"No evaluation called {name} was found; save one with `calipers eval … --save`."
        )
    latest = watched[0]
    alike = [one for one in reversed(watched) if one is latest or not _differing(latest, one)]
    if len(alike) == 1 and len(watched) > 1:
        raise InvalidInput(
            f"The latest evaluation called {name} cannot be compared with those before: "
            f"{_differing(latest, watched[1])[0]} Measure as before, or start a new name."
        )
    if len(alike) <= FEWEST_NIGHTS:
        raise InvalidInput(
            f"There is too little to compare with: {len(alike)} evaluation"
            f"{'' if len(alike) == 1 else 's'} called {name} that were measured alike "
            f"{'was' if len(alike) == 1 else 'were'} found, and at least {FEWEST_NIGHTS + 1} are "
            f"needed, {FEWEST_NIGHTS} of them for reference. Save more with "
            "`calipers eval … --save`."
        )
    line = yardstick(alike, min(reference, len(alike) - 1))
    described = line.described()
    if not described.shared:
        raise InvalidInput(
            f"The latest evaluation called {name} shares no query with its reference that asks "
            "the same and has the same ground truth; nothing can be said of the retriever."
        )
    cuts = [by] if isinstance(by, str) else list(by)
    chosen = _chosen(metrics, primary, latest, alike)
    newest = latest.evaluation
    return Alarm(
        name=name,
        id=newest.id,
        saved=newest.saved,
        commit=newest.commit,
        branch=newest.branch,
        reference=described,
        nights=len(alike) - line.reference,
        checks=check_all(line, chosen, cuts, false_alarms),
        warnings=tuple(_warnings(latest, alike[-2])),
        notes=tuple(_notes(watched, alike, cuts, reference - line.reference)),
        false_alarms=false_alarms,
        calipers=__version__,
    )


def _differing(latest: Watched, earlier: Watched) -> list[str]:
    name = f"@{earlier.evaluation.short}"
    return list(different_ways("the latest", latest.scores, name, earlier.scores))


def _chosen(
    wanted: list[str] | None, primary: str | None, latest: Watched, alike: Sequence[Watched]
) -> list[MetricFacts]:
    """The metrics asked for, or the primary one; all sides have it, and more or less is better."""
    facts = facts_by_name(latest.scores)
    shared = [
        name
        for name in facts
        if facts[name].better != "neither"
        and all(name in facts_by_name(one.scores) for one in alike)
    ]
    for name in wanted or ():
        if name not in shared:
            raise InvalidInput(
                f"{name} cannot be watched: not all of these evaluations have it, or more of it "
                f"is neither better nor worse; choose among {', '.join(shared)}."
                f"{did_you_mean(name, shared)}"
            )
    decisive = choose_primary([facts[name] for name in shared], primary)
    chosen = wanted or ([] if decisive is None else [decisive])
    if not chosen:
        raise InvalidInput("The evaluations share no metric of which more or less is better.")
    return [facts[name] for name in chosen]


def _warnings(latest: Watched, previous: Watched) -> Iterator[str]:
    """What changed beside the retriever since the previous evaluation."""
    for _, what in changes([previous.evaluation, latest.evaluation]):
        for one in what:
            if one == "corpus":
                yield "The corpus changed since the previous evaluation: a drop may be its doing."
            else:
                yield (
                    "The ground truth changed since the previous evaluation: only queries with "
                    "the same question and ground truth are compared."
                )
    versions = [one.scores.settings["calipers"] for one in (latest, previous)]
    if versions[0] != versions[1]:
        yield (
            f"The latest was measured with Calipers {versions[0]} and the previous with "
            f"{versions[1]}; a definition may have changed."
        )


def _notes(
    watched: Sequence[Watched], alike: Sequence[Watched], by: Sequence[str], short: int
) -> Iterator[str]:
    skipped = len(watched) - len(alike)
    if skipped:
        other = next(one for one in watched if one not in alike)
        yield (
            f"{skipped} of the {len(watched) - 1} evaluations before "
            f"{'was' if skipped == 1 else 'were'} left out: {_differing(watched[0], other)[0]}"
        )
    if short > 0:
        yield (
            f"The reference is still {short} evaluation{'' if short == 1 else 's'} short; with "
            "more of them smaller losses will show."
        )
    rest = [tag for tag in watched[0].scores.tags if tag not in by]
    if rest:
        yield (
            f"The means may hide a slice that got worse: --by {rest[0]} checks its values one by "
            "one."
        )


def check_all(
    line: Yardstick, metrics: Sequence[MetricFacts], by: Sequence[str], false_alarms: float
) -> tuple[AlarmCheck, ...]:
    """Every metric and slice; all of them together keep to the budget of false alarms."""
    latest = line.nights[-1].scores
    slices = [everything(latest), *slices_by(latest, by)]
    budget = false_alarms / (len(slices) * len(metrics))
    tables = {facts.name: line.table(facts.name) for facts in metrics}
    return tuple(
        _check(line, tables[facts.name], facts, part, budget)
        for part in slices
        for facts in metrics
    )


def _check(
    line: Yardstick,
    table: Floats,
    facts: MetricFacts,
    part: QuerySlice,
    budget: float,
) -> AlarmCheck:
    first = line.reference
    usable = part.chosen & line.comparable & np.isfinite(table[-1])
    usable &= np.isfinite(table[:first]).all(axis=0)
    whole = (line.nights[-1].scores[facts.name].mean, line.whole(facts.name))
    check = AlarmCheck(
        metric=facts.name,
        slice=part.name,
        status="untested",
        n=int(usable.sum()),
        why_not="no query can be compared",
        whole_now=whole[0] if part.name is None else None,
        whole_before=whole[1] if part.name is None else None,
    )
    if not check.n:
        return check
    sign = -1.0 if facts.better == "lower" else 1.0
    values = sign * table[:, usable]
    seen = watch(values, first, budget)
    against = seen.reference
    check = replace(
        check,
        why_not=None,
        before=sign * against.level,
        now=sign * float(seen.means[-1]),
        spread=against.spread,
        sum=float(seen.sums[-1]),
        threshold=seen.threshold,
    )
    if seen.sums[-1] <= seen.threshold:
        return replace(check, status="not shown")
    raised, since = _when(seen.means - against.level, seen.sums, seen.threshold)
    saved = [one.evaluation.saved for one in line.nights[first:]]
    return replace(
        check,
        status="worse",
        since=saved[since],
        raised=saved[raised],
        worst=_worst(line, table, facts.name, usable, sign),
    )


def watch(values: Floats, first: int, budget: float) -> Drift:
    """The evaluations (rows) of the same queries (columns), of which the first are the reference.

    Higher values are better.
    """
    against = reference(values[:first])
    # An evaluation that lacks some of these queries says nothing of them.
    means = np.array(
        [exact_mean(row) if np.isfinite(row).all() else np.nan for row in values[first:]]
    )
    means[np.abs(means - against.level) < ROUNDING] = against.level
    return drift(means, against, budget)


def _when(away: Floats, sums: Floats, height: float) -> tuple[int, int]:
    """When the sum passed the threshold for good, and when the loss began by then."""
    quiet = np.flatnonzero(sums <= height)
    raised = int(quiet[-1]) + 1 if quiet.size else 0
    # After an alarm that was over, what went before belongs to that one.
    over = np.flatnonzero((sums[:raised] == 0.0) & (np.maximum.accumulate(sums)[:raised] > height))
    start = int(over[-1]) + 1 if over.size else 0
    return raised, start + began(away[start : raised + 1])


def _worst(
    line: Yardstick, table: Floats, metric: str, usable: Bools, sign: float
) -> tuple[WorstQuery, ...]:
    scores = line.nights[-1].scores
    before = np.full(len(scores), np.nan)
    before[usable] = [exact_mean(column) for column in table[: line.reference, usable].T]
    gains = sign * (scores.of(metric) - before)
    names, texts = scores.queries["query"], scores.queries["text"]
    rows = np.flatnonzero(gains < -ROUNDING).tolist()
    order = sorted(rows, key=lambda row: (gains[row], names[row]))[:WORST]
    now = scores.of(metric)
    return tuple(
        WorstQuery(names[row], texts[row], float(now[row]), float(before[row])) for row in order
    )
