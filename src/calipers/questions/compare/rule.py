"""Systems against a baseline: paired differences, tests, correction, power."""

from collections.abc import Mapping, Sequence

import numpy as np

from calipers.engines.scoring import uneven_clusters
from calipers.engines.summary import interval_of_metric
from calipers.errors import InvalidInput
from calipers.model.arrays import Floats, Ints, frozen_array
from calipers.model.scores import MetricFacts, Scores
from calipers.model.visibility import Visibility
from calipers.questions.compare.comparable import (
    aligned,
    clusters_shared,
    facts_shared,
    obstacles,
    shared_queries,
    undefined_in_some,
)
from calipers.questions.compare.leaderboard import rank_systems
from calipers.questions.compare.metric_difference import Paired, corrected_level, paired_columns
from calipers.questions.compare.result import Comparison, Difference, SystemMean, Verdict
from calipers.questions.default_metrics import choose_primary
from calipers.statistics.clusters import exact_mean
from calipers.statistics.many_tests import holm
from calipers.statistics.paired_test import undone_by
from calipers.statistics.queries_needed import visibility
from calipers.version import __version__
from calipers.words import did_you_mean

_ANYWAY = "give --anyway (anyway=True in Python) to compare all the same; the result will say so"


def compare_scores(
    systems: Mapping[str, Scores],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    primary: str | None = None,
    cluster: str | None = None,
    tokens: Mapping[str, float] | None = None,
    anyway: bool = False,
    level: float = 0.95,
) -> Comparison:
    """The comparison of results that were measured alike; those that were not are refused.

    ``baseline`` is the system that the others are compared with (default: the first).
    ``metrics`` are names that every result has (default: all they share). ``primary`` is the one
    that decides: a difference counts as shown when its p-value, corrected over systems, is at
    most 1 - level. ``cluster`` is a tag whose queries count as one unit; ``tokens`` are those
    per query of each system, where they are known.
    """
    baseline = _checked_baseline(systems, baseline)
    blocked = obstacles(systems)
    _refuse(blocked, anyway)
    queries = shared_queries(systems)
    if queries.height < 2:
        raise InvalidInput(
            f"One query cannot be compared: the systems share {queries['query'][0]!r} only, and "
            "a difference on one query says nothing about others; give at least two."
        )
    facts = facts_shared(systems, metrics)
    values = {name: aligned(scores, queries, facts) for name, scores in systems.items()}
    for column, metric in enumerate(facts):
        by_system = {name: table[:, column] for name, table in values.items()}
        sentence = undefined_in_some(metric.name, by_system, queries["query"])
        blocked += [sentence] if sentence else []
    _refuse(blocked, anyway)
    complete = _defined_in_all(values)
    others = [name for name in systems if name != baseline]
    if all(_is_same(complete[name], complete[baseline]) for name in others):
        blocked.append(
            f"There is no difference to look at: {' and '.join(systems)} have the same value for "
            f"every query in {', '.join(metric.name for metric in facts)}; check that these are "
            "different runs."
        )
        _refuse(blocked, anyway)
    decisive = choose_primary(facts, primary)
    clusters = clusters_shared(systems, queries, cluster)
    columns = {
        (name, metric.name): (complete[name][:, at] - complete[baseline][:, at], metric)
        for name in others
        for at, metric in enumerate(facts)
    }
    found = paired_columns(list(columns.values()), clusters)
    tested = dict(zip(columns, found, strict=True))
    differences = _differences(tested, baseline, facts, decisive, level)
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=facts,
        queries=queries,
        values={name: frozen_array(table) for name, table in values.items()},
        means=_means(complete, facts, level, clusters),
        differences=differences,
        primary=decisive,
        visibility=_visibility(tested, decisive, len(others), level, clusters),
        leaderboard=None
        if decisive is None
        else rank_systems(
            {name: table[:, _at(facts, decisive)] for name, table in complete.items()},
            facts[_at(facts, decisive)],
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
            "tests": sum(one.p_adjusted is not None for one in differences),
            "notes": list(dict.fromkeys([*uneven_clusters(clusters, cluster), *_notes(systems)])),
        },
    )


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


def _is_same(first: Floats, second: Floats) -> bool:
    return bool(np.array_equal(first, second, equal_nan=True))


def _at(facts: Sequence[MetricFacts], name: str) -> int:
    return [metric.name for metric in facts].index(name)


def _differences(
    tested: Mapping[tuple[str, str], Paired],
    baseline: str,
    facts: Sequence[MetricFacts],
    primary: str | None,
    level: float,
) -> tuple[Difference, ...]:
    """Every system and metric; only the primary metric is corrected and gets a verdict."""
    deciding = [key for key in tested if key[1] == primary]
    corrected = dict(zip(deciding, holm([tested[key].p_value for key in deciding]), strict=True))
    alpha = round(1.0 - level, 12)
    by_name = {metric.name: metric for metric in facts}
    found = []
    for (system, name), one in tested.items():
        metric, p = by_name[name], corrected.get((system, name))
        above, below, ties = one.counts
        wins, losses = (below, above) if metric.better == "lower" else (above, below)
        said = _verdict(one, p, metric, alpha, is_primary=name == primary)
        shown = said in ("better", "worse")
        found.append(
            Difference(
                system,
                baseline,
                name,
                one.n,
                one.mean,
                one.interval(corrected_level(level, one.p_value, p)),
                None if metric.better == "neither" else one.p_value,
                p,
                one.effect_size,
                wins,
                losses,
                ties,
                said,
                undone_by(one.test, level) if one.test and shown else None,
            )
        )
    return tuple(found)


def _verdict(
    one: Paired, p: float | None, metric: MetricFacts, alpha: float, *, is_primary: bool
) -> Verdict:
    if metric.better == "neither":
        return "not tested"
    if not is_primary:
        return "supporting"
    if p is None or one.mean is None:
        return "not tested"
    if p > alpha or one.mean == 0:
        return "not shown"
    return "better" if (one.mean > 0) == (metric.better == "higher") else "worse"


def _visibility(
    tested: Mapping[tuple[str, str], Paired],
    primary: str | None,
    tests: int,
    level: float,
    clusters: Ints | None,
) -> Visibility | None:
    """What the queries would show, for the pair of systems that is hardest to tell apart."""
    pairs = [one for (_, metric), one in tested.items() if metric == primary and one.n]
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


def _means(
    values: Mapping[str, Floats],
    facts: Sequence[MetricFacts],
    level: float,
    clusters: Ints | None,
) -> tuple[SystemMean, ...]:
    found = []
    for at, metric in enumerate(facts):
        defined = {name: t[~np.isnan(t[:, at]), at] for name, t in values.items()}
        means = {name: exact_mean(v) if len(v) else None for name, v in defined.items()}
        best = _best([mean for mean in means.values() if mean is not None], metric.better)
        for name, mean in means.items():
            n = len(defined[name])
            found.append(
                SystemMean(
                    name,
                    metric.name,
                    mean,
                    interval_of_metric(values[name][:, at], metric, level, clusters),
                    n,
                    len(values[name]) - n,
                    mean is not None and mean == best,
                )
            )
    return tuple(found)


def _best(means: Sequence[float], better: str) -> float | None:
    if not means or better == "neither" or min(means) == max(means):
        return None
    return max(means) if better == "higher" else min(means)
