"""Is the latest evaluation significantly worse than before, and in what?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from calipers.analyse.comparable import different_ways
from calipers.analyse.compare import facts_by_name
from calipers.analyse.cuts import cut
from calipers.analyse.headlines import headlines
from calipers.analyse.holm import holm
from calipers.analyse.intervals import exact_mean
from calipers.analyse.paired import PairedResult, paired_results
from calipers.analyse.trend import changes
from calipers.analyse.visible import fewest_queries, visibility
from calipers.analyse.yardstick import Watched, Yardstick, yardstick
from calipers.errors import InvalidInput
from calipers.model.alarm import Alarm, AlarmCheck, Status
from calipers.model.arrays import Bools, Floats
from calipers.model.gate import Change, WorstQuery
from calipers.model.scores import Scores
from calipers.suggest import did_you_mean
from calipers.version import __version__

WORST = 5
ROUNDING = 1e-12
"""The mean of several evaluations differs by less than this from what it is on paper."""


def check_watch(alpha: float, window: int) -> None:
    """Refuse what cannot be meant before anything is read."""
    if not 0 < alpha < 1:
        raise InvalidInput(
            f"The rate of false alarms (alpha) is {alpha!r}; it must lie between 0 and 1, such as "
            "0.05."
        )
    if window < 1:
        raise InvalidInput(f"The window is {window}; it holds at least 1 evaluation.")


def alarm(
    name: str,
    watched: Sequence[Watched],
    metrics: list[str] | None,
    by: str | Iterable[str] = (),
    *,
    alpha: float,
    resamples: int,
    seed: int,
) -> Alarm:
    """The latest of some evaluations, which stands first, against those before it."""
    if len(watched) < 2:
        some = "one evaluation" if watched else "no evaluation"
        raise InvalidInput(
            f"There is nothing to compare with: {some} called {name} was found, and at least two "
            "are needed. Save another with `calipers eval … --save`."
        )
    latest, earlier = watched[0], watched[1:]
    alike = [one for one in earlier if not _differing(latest, one)]
    if not alike:
        raise InvalidInput(
            f"The latest evaluation called {name} cannot be compared with those before: "
            f"{_differing(latest, earlier[0])[0]} Measure as before, or start a new name."
        )
    chosen = _chosen(metrics, latest, alike)
    yardsticks = [yardstick(latest, alike[:1], "previous")]
    if len(alike) > 1:
        yardsticks.append(yardstick(latest, alike, "window"))
    if not any(one.reference.shared for one in yardsticks):
        raise InvalidInput(
            f"The latest evaluation called {name} shares no query with those before that asks the "
            "same and has the same ground truth; nothing can be said of the retriever."
        )
    cuts = [by] if isinstance(by, str) else list(by)
    checks = check_all(
        latest, yardsticks, chosen, cuts, alpha=alpha, resamples=resamples, seed=seed
    )
    newest = latest.evaluation
    return Alarm(
        name=name,
        id=newest.id,
        saved=newest.saved,
        commit=newest.commit,
        branch=newest.branch,
        references=tuple(one.reference for one in yardsticks),
        checks=checks,
        warnings=tuple(_warnings(latest, alike[0])),
        notes=tuple(_notes(latest, earlier, alike, cuts)),
        alpha=alpha,
        calipers=__version__,
    )


def _differing(latest: Watched, earlier: Watched) -> list[str]:
    name = f"@{earlier.evaluation.short}"
    return list(different_ways("the latest", latest.scores, name, earlier.scores))


def _chosen(wanted: list[str] | None, latest: Watched, alike: Sequence[Watched]) -> list[str]:
    """Metrics that all sides have and of which more or less is better."""
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
    chosen = wanted or headlines(shared)
    if not chosen:
        raise InvalidInput("The evaluations share no metric of which more or less is better.")
    return chosen


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
    latest: Watched, earlier: Sequence[Watched], alike: Sequence[Watched], by: Sequence[str]
) -> Iterator[str]:
    skipped = len(earlier) - len(alike)
    if skipped:
        other = next(one for one in earlier if one not in alike)
        yield (
            f"{skipped} of the {len(earlier)} evaluations before "
            f"{'was' if skipped == 1 else 'were'} left out: {_differing(latest, other)[0]}"
        )
    rest = [tag for tag in latest.scores.tags if tag not in by]
    if rest:
        yield (
            f"The means may hide a slice that got worse: --by {rest[0]} checks its values one by "
            "one."
        )


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
