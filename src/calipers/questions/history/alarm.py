"""Have the evaluations of a name become worse than its reference period, and since when?

Only queries with the same question and the same ground truth in the whole reference and in the
latest evaluation are compared: on those a drop is the retriever's (or the corpus's). What the mean
moved beyond that came with the ground truth.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import polars as pl

from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput, check_number
from calipers.model.arrays import Bools, Floats
from calipers.model.evaluation import Evaluation
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import QuerySlice, everything, slices_by
from calipers.questions.compare.comparable import different_ways
from calipers.questions.compare.metric_difference import limits_of
from calipers.questions.default_metrics import choose_primary
from calipers.questions.gate.result import WorstQuery, worst_queries
from calipers.questions.history.result import Alarm, AlarmCheck, AlarmReference
from calipers.questions.history.rule import Filter, changes
from calipers.statistics.clusters import exact_mean
from calipers.statistics.drift import ROUNDING, SURE, first_quiet, looks, night_means
from calipers.statistics.paired_test import mean_of_runs, paired_test, sign_test
from calipers.store.load import load_judgements, load_scores
from calipers.store.open import Store
from calipers.version import __version__
from calipers.words import did_you_mean

NIGHTS_A_YEAR = 365
ORDER = ("worse", "no clear difference", "passed")
_CONFIDENCE = 0.95


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


@dataclass(frozen=True)
class _Rule:
    """What is watched, and at which level each metric of each slice rings."""

    metrics: Sequence[MetricFacts]
    slices: Sequence[QuerySlice]
    allow: float
    false_alarms: float

    @property
    def level(self) -> float:
        checks = len(self.metrics) * len(self.slices)
        return self.false_alarms / NIGHTS_A_YEAR / checks

    @property
    def checks(self) -> list[tuple[QuerySlice, MetricFacts]]:
        return [(part, facts) for part in self.slices for facts in self.metrics]


def check_watch(false_alarms: float, nights: int, allow: float) -> None:
    """Refuse what cannot be meant before anything is read."""
    what = "The budget of false alarms a year"
    check_number(what, false_alarms, above=0, most=NIGHTS_A_YEAR, such_as=1)
    check_number("The number of evaluations of the reference", nights, whole=True, least=1)
    check_number("The loss that is allowed", allow, least=0, such_as=0.02)


def alarm(
    name: str,
    watched: Sequence[Watched],
    metrics: list[str] | None,
    by: str | Iterable[str] = (),
    *,
    primary: str | None = None,
    reference: int = 7,
    allow: float = 0.02,
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
    cuts = [by] if isinstance(by, str) else list(by)
    slices = [everything(latest.scores), *slices_by(latest.scores, cuts)]
    rule = _Rule(_chosen(metrics, primary, latest, alike), slices, allow, false_alarms)
    newest = latest.evaluation
    found = Alarm(
        name=name,
        id=newest.id,
        saved=newest.saved,
        commit=newest.commit,
        branch=newest.branch,
        allow=allow,
        false_alarms=false_alarms,
        calipers=__version__,
    )
    if len(alike) == 1:
        return found
    line, checks = check_all(yardstick(alike), rule, reference)
    described = line.described()
    if not described.shared:
        raise InvalidInput(
            f"The latest evaluation called {name} shares no query with its reference that asks "
            "the same and has the same ground truth; nothing can be said of the retriever."
        )
    return replace(
        found,
        reference=described,
        nights=len(alike) - len(line.reference),
        checks=checks,
        warnings=tuple(_warnings(latest, alike[-2])),
        notes=tuple(_notes(watched, alike, cuts, reference - len(line.reference))),
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
        and facts[name].aggregate != "geometric"
        and all(name in facts_by_name(one.scores) for one in alike)
    ]
    for name in wanted or ():
        if name not in shared:
            raise InvalidInput(
                f"{name} cannot be watched: not all of these evaluations have it, or more of it "
                f"is neither better nor worse; choose among {', '.join(shared)}."
                f"{did_you_mean(name, shared)}"
            )
    if wanted:
        return [facts[name] for name in wanted]
    decisive = choose_primary([facts[name] for name in shared], primary)
    if decisive is None:
        raise InvalidInput("The evaluations share no metric of which more or less is better.")
    return [facts[decisive]]


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
            f"The reference is still {short} evaluation{'' if short == 1 else 's'} short: those "
            "that come join it unless they clearly lost; with more of them smaller losses show."
        )
    rest = [tag for tag in watched[0].scores.tags if tag not in by]
    if rest:
        yield (
            f"The means may hide a slice that got worse: --by {rest[0]} checks its values one by "
            "one."
        )


def check_all(
    line: Yardstick, rule: _Rule, reference: int
) -> tuple[Yardstick, tuple[AlarmCheck, ...]]:
    """Every metric and slice, those that matter most first, and the reference they share."""
    tables = {facts.name: facts.turn * line.table(facts.name) for facts in rule.metrics}

    def doubtful(before: list[int], night: int) -> bool:
        for part, facts in rule.checks:
            table = tables[facts.name]
            values = table[:, _usable(line, table, part, [*before, night])]
            seen = looks(values, before, [night], rule.allow, rule.level)[0]
            if any(look.doubtful for look in seen):
                return True
        return False

    line = replace(line, reference=tuple(first_quiet(doubtful, len(line.nights), reference)))
    found = [_check(line, tables[facts.name], facts, part, rule) for part, facts in rule.checks]
    return line, tuple(sorted(found, key=_importance))


def _importance(check: AlarmCheck) -> tuple[int, bool, float]:
    loss = 0.0 if check.recent is None or check.before is None else check.recent - check.before
    return ORDER.index(check.standing), check.slice is not None, -abs(loss) if check.rings else 0.0


def _usable(line: Yardstick, table: Floats, part: QuerySlice, nights: Sequence[int]) -> Bools:
    """Queries of a slice that some evaluations have, with the same question and ground truth."""
    known = np.isfinite(table[list(nights)]).all(axis=0)
    usable: Bools = part.chosen & known & np.all([line.rows[at] >= 0 for at in nights], axis=0)
    return usable


def _check(
    line: Yardstick, table: Floats, facts: MetricFacts, part: QuerySlice, rule: _Rule
) -> AlarmCheck:
    last = len(line.nights) - 1
    usable = _usable(line, table, part, [*line.reference, last])
    whole = (line.nights[-1].scores[facts.name].mean, line.whole(facts.name))
    check = AlarmCheck(
        metric=facts.name,
        slice=part.name,
        standing="no clear difference",
        n=int(usable.sum()),
        allow=rule.allow,
        whole_now=whole[0] if part.name is None else None,
        whole_before=whole[1] if part.name is None else None,
    )
    if not check.n:
        return check
    values = table[:, usable]
    seen = looks(values, line.reference, [last], rule.allow, rule.level)[0]
    shown = next((look for look in seen if look.rings), None)
    look = shown or next((look for look in seen if look.beyond), seen[0])
    sign = facts.turn
    before = exact_mean(mean_of_runs([values[at] for at in line.reference]))
    lost, gained = (int(np.count_nonzero(sign * look.differences > 0)) for sign in (-1.0, 1.0))
    test = paired_test(look.differences, limits=limits_of(facts))
    check = replace(
        check,
        before=sign * before,
        now=sign * exact_mean(values[last]),
        over=look.window,
        recent=sign * (before + exact_mean(look.differences)),
        lost=lost,
        gained=gained,
        p=look.p if look.beyond else None,
        larger=look.larger,
        level=look.level,
        possible=None if test is None else max(0.0, -test.low(_CONFIDENCE)),
        worst=_worst(line, table, facts, usable),
    )
    if shown:
        since = _since(line, values, rule.allow, look.window)
        return replace(check, standing="worse", since=since)
    deaf = 0.5**check.n > look.level
    unclear = any(one.beyond for one in seen) or sign_test(lost, gained) < SURE
    return check if deaf or unclear else replace(check, standing="passed")


def _since(line: Yardstick, values: Floats, allow: float, window: int) -> datetime:
    """Where the unbroken row of evaluations that lost more than is allowed begins."""
    base = mean_of_runs([values[at] for at in line.reference])
    lower = night_means(values - base) < -allow
    lower[list(line.reference)] = False
    first = len(lower) - window + int(np.argmax(lower[-window:]))
    while first > 0 and lower[first - 1]:
        first -= 1
    return line.nights[first].evaluation.saved


def _worst(
    line: Yardstick, table: Floats, facts: MetricFacts, usable: Bools
) -> tuple[WorstQuery, ...]:
    """The queries of the latest that lost most."""
    scores = line.nights[-1].scores
    before = mean_of_runs([table[at] for at in line.reference])
    gains = table[-1] - before
    weight = np.where(usable & (gains < -ROUNDING), gains, np.nan)
    return worst_queries(scores, weight, scores.of(facts.name), facts.turn * before)
