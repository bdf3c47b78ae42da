"""Systems against a baseline: paired differences, tests, correction, power."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from calipers.engines.scoring import uneven_clusters
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints, frozen_array
from calipers.model.claim import Visibility
from calipers.model.scores import MetricFacts, Scores
from calipers.questions.compare.comparable import (
    aligned,
    clusters_shared,
    facts_shared,
    obstacles,
    shared_queries,
    undefined_in_some,
)
from calipers.questions.compare.leaderboard import rank_systems, system_means
from calipers.questions.compare.metric_difference import (
    Compared,
    Paired,
    corrected_level,
    paired_columns,
)
from calipers.questions.compare.result import Comparison, Difference, SystemMean
from calipers.questions.default_metrics import asked_metrics
from calipers.statistics.many_tests import family_of
from calipers.statistics.paired_test import undone_by
from calipers.statistics.queries_needed import visibility
from calipers.version import __version__
from calipers.words import did_you_mean, listed

_ANYWAY = "give --anyway (anyway=True in Python) to compare all the same; the result will say so"


def compare_scores(
    systems: Mapping[str, Scores],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
    named: bool = False,
    cluster: str | None = None,
    tokens: Mapping[str, float] | None = None,
    anyway: bool = False,
    level: float = 0.95,
) -> Comparison:
    """The comparison of results that were measured alike; those that were not are refused.

    ``baseline`` is the system that the others are compared with (default: the first).
    ``metrics`` are names that every result has (default: all they share). Where the user ``named``
    them all decide, else one for finding and one for order; ``primary`` leads. A difference is
    shown when its p-value, corrected for all that is marked, is at most 1 - level. ``cluster`` is
    a tag whose queries count as one unit; ``tokens`` are those per query of each system, where
    they are known.
    """
    baseline = _checked_baseline(systems, baseline)
    blocked = obstacles(systems)
    _refuse(blocked, anyway)
    queries = shared_queries(systems)
    facts = facts_shared(systems, metrics)
    values = {name: aligned(scores, queries, facts) for name, scores in systems.items()}
    for column, metric in enumerate(facts):
        by_system = {name: table[:, column] for name, table in values.items()}
        sentence = undefined_in_some(metric.name, by_system, queries["query"])
        blocked += [sentence] if sentence else []
    _refuse(blocked, anyway)
    complete = _defined_in_all(values)
    asked = asked_metrics(facts, primary, named=named)
    alpha = round(1.0 - level, 12)
    clusters = clusters_shared(systems, queries, cluster)
    tested, corrected = _tested(complete, baseline, facts, asked, clusters, alpha)
    tests = max((one.tests for one in corrected.values()), default=0)
    means = system_means(complete, facts, level, clusters)
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=facts,
        queries=queries,
        values={name: frozen_array(table) for name, table in values.items()},
        means=means,
        differences=_differences(
            tested, corrected, means, facts, asked, level, None if clusters is None else "cluster"
        ),
        primary=asked[0] if asked else None,
        asked=tuple(asked),
        visibility=_visibility(tested, baseline, asked, tests, level, clusters),
        leaderboard=None
        if not asked
        else rank_systems(
            {name: table[:, _at(facts, asked[0])] for name, table in complete.items()},
            baseline,
            facts[_at(facts, asked[0])],
            _apart(corrected, asked[0], tuple(systems), alpha),
            level,
            clusters,
            tokens or {},
        ),
        overridden=tuple(blocked),
        fingerprints={name: dict(scores.fingerprints) for name, scores in systems.items()},
        settings={
            "calipers": __version__,
            "confidence": level,
            **({} if cluster is None else {"cluster": cluster}),
            "tests": tests,
            "notes": list(
                dict.fromkeys(
                    [
                        *_equal(complete, baseline, facts),
                        *uneven_clusters(clusters, cluster),
                        *_notes(systems),
                    ]
                )
            ),
        },
    )


Key = tuple[str, str, str]
"""The system that is subtracted, the system, and the metric."""


class Corrected(NamedTuple):
    """A p-value after correction, and for how many tests."""

    p: float | None
    tests: int


def _tested(
    values: Mapping[str, Floats],
    baseline: str,
    facts: Sequence[MetricFacts],
    asked: Sequence[str],
    clusters: Ints | None,
    alpha: float,
) -> tuple[dict[Key, Paired], dict[Key, Corrected]]:
    """Every difference from the baseline, and p of those that are marked, corrected together.

    Marked are the metrics that were asked for, and which systems the leaderboard tells apart: one
    family, so that the chance of any false mark is that of one test, and no two marks contradict.
    """
    others = [name for name in values if name != baseline]
    pairs = {(baseline, name, metric.name): metric for name in others for metric in facts}
    if asked:
        first = facts[_at(facts, asked[0])]
        pairs |= {(a, b, first.name): first for a, b in combinations(others, 2)}
    columns = [
        (values[b][:, _at(facts, name)] - values[a][:, _at(facts, name)], metric)
        for (a, b, name), metric in pairs.items()
    ]
    tested = dict(zip(pairs, paired_columns(columns, clusters), strict=True))
    marked = [key for key in tested if key[2] in asked]
    tests = [tested[key].test for key in marked]
    family = family_of(
        [test.p_value() if test else None for test in tests],
        [test.least_p() if test else None for test in tests],
        alpha,
    )
    corrected = {
        key: Corrected(p, len(marked) if p is None else rows)
        for key, p, rows in zip(marked, family.adjusted, family.rows, strict=True)
    }
    return tested, corrected


def _apart(
    corrected: Mapping[Key, Corrected], primary: str, systems: tuple[str, ...], alpha: float
) -> set[tuple[str, str]]:
    """The pairs that are shown to differ in the primary metric, in the order of the systems."""
    shown = [
        sorted(key[:2], key=systems.index)
        for key, one in corrected.items()
        if key[2] == primary and one.p is not None and one.p <= alpha
    ]
    return {(first, second) for first, second in shown}


def _equal(values: Mapping[str, Floats], baseline: str, facts: Sequence[MetricFacts]) -> list[str]:
    """A word on systems that do not differ from the baseline anywhere: one may be it by mistake."""
    same = [
        name
        for name, table in values.items()
        if name != baseline and np.array_equal(table, values[baseline], equal_nan=True)
    ]
    if not same:
        return []
    has = "has" if len(same) == 1 else "have"
    return [
        f"{listed(same)} {has} the values of {baseline} for every query in "
        f"{', '.join(metric.name for metric in facts)}: what was changed does nothing here, or "
        "these are one run twice."
    ]


def _notes(systems: Mapping[str, Scores]) -> list[str]:
    """What was decided when the systems were measured; what holds for all is said once."""
    said = {name: scores.settings.get("notes") or () for name, scores in systems.items()}
    every = list(dict.fromkeys(note for notes in said.values() for note in notes))
    return [
        note if len(having) == len(systems) else f"{', '.join(having)}: {note}"
        for note in every
        if (having := [name for name, notes in said.items() if note in notes])
    ]


def _refuse(blocked: list[str], anyway: bool) -> None:
    if blocked and not anyway:
        raise InvalidInput(f"{' '.join(blocked)} Repair that, or {_ANYWAY}.")


def _checked_baseline(systems: Mapping[str, Scores], baseline: str | None) -> str:
    if len(systems) < 2:
        raise InvalidInput(
            f"A comparison needs at least two systems: found {', '.join(systems) or 'none'}; give "
            "another run, or a live retriever with --retriever (retrievers= in Python)."
        )
    if baseline is None:
        return next(iter(systems))
    if baseline not in systems:
        raise InvalidInput(
            f"The baseline {baseline!r} is none of the systems; they are {', '.join(systems)}."
            f"{did_you_mean(baseline, systems)}"
        )
    return baseline


def _defined_in_all(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same tables, a value gone wherever one system has none: means stay comparable."""
    gone = np.any([np.isnan(table) for table in values.values()], axis=0)
    return {name: np.where(gone, np.nan, table) for name, table in values.items()}


def _at(facts: Sequence[MetricFacts], name: str) -> int:
    return [metric.name for metric in facts].index(name)


def _differences(
    tested: Mapping[Key, Paired],
    corrected: Mapping[Key, Corrected],
    means: Sequence[SystemMean],
    facts: Sequence[MetricFacts],
    asked: Sequence[str],
    level: float,
    unit: str | None,
) -> tuple[Difference, ...]:
    """Every system and metric beside the baseline; only what was asked for gets a verdict."""
    at = {(mean.system, mean.metric): mean.mean for mean in means}
    by_name = {metric.name: metric for metric in facts}
    baseline = next(iter(tested))[0]
    rows = {
        key: Compared(
            baseline=baseline,
            system=key[1],
            facts=by_name[key[2]],
            means=(at[baseline, key[2]], at[key[1], key[2]]),
            paired=one,
            interval=one.interval(corrected_level(level, one.p_value, found.p)),
            p=found.p,
            tests=found.tests,
            alpha=round(1.0 - level, 12),
            unit=unit or "query",
        )
        for key, one in tested.items()
        if key[0] == baseline
        for found in [corrected.get(key, Corrected(None, 1))]
    }
    return tuple(_difference(row, level, row.facts.name in asked) for row in rows.values())


def _difference(row: Compared, level: float, is_asked: bool) -> Difference:
    one, (better, worse) = row.paired, row.better_and_worse
    return Difference(
        row.system,
        row.baseline,
        row.facts.name,
        one.n,
        one.mean,
        row.interval,
        None if row.facts.better == "neither" else one.p_value,
        row.p,
        one.effect_size,
        better,
        worse,
        one.n - better - worse,
        row.standing if is_asked else "supporting",
        row.claim if is_asked else None,
        undone_by(one.test, level) if one.test and row.standing != "no clear difference" else None,
    )


def _visibility(
    tested: Mapping[Key, Paired],
    baseline: str,
    asked: Sequence[str],
    tests: int,
    level: float,
    clusters: Ints | None,
) -> Visibility | None:
    """What the queries would show, for the system that is hardest to tell from the baseline."""
    pairs = [one for key, one in tested.items() if key[::2] == (baseline, *asked[:1]) and one.n]
    if not pairs:
        return None
    hardest = max(pairs, key=lambda one: one.test.spread if one.test else 0.0)
    limits = hardest.test.limits if hardest.test else None
    return visibility(
        hardest.column,
        round(1.0 - level, 12),
        tests,
        clusters=clusters,
        largest=limits and limits[1],
    )
