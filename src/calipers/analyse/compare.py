"""Systems against a baseline: paired differences, tests, correction, power."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calipers.analyse.comparable import obstacles, shared_queries, undefined_in_some
from calipers.analyse.holm import holm
from calipers.analyse.intervals import exact_mean, mean_intervals
from calipers.analyse.paired import PairedResult, paired_results
from calipers.analyse.scoring import choose_metrics, cutoffs
from calipers.analyse.visible import visibility
from calipers.errors import InvalidInput
from calipers.measures import Metric, parse
from calipers.model.arrays import Floats, frozen_array
from calipers.model.comparison import Comparison, Difference, SystemMean, Verdict
from calipers.model.scores import MetricFacts, Scores
from calipers.suggest import did_you_mean
from calipers.version import __version__

ANYWAY = "give --anyway (anyway=True in Python) to compare all the same; the result will say so"
DEFAULT_METRICS = ("recall", "precision", "ndcg", "hit_rate")
DEFAULT_WITHOUT_CUTOFF = ("mrr",)
DEFAULT_KS = (10,)
SCORE = "the weighted mean of the chosen metrics"


def metrics_compared(
    metrics: Any,
    k: Any,
    rel: float | None,
    weights: Mapping[str, float] | None,
    ready: Iterable[Scores],
) -> tuple[Metric, ...] | None:
    """The metrics asked for, or the usual ones; None: those that the results at hand share.

    Results that were measured before have what they have: where the usual metrics are not among
    it, the runs beside them are measured by theirs.
    """
    if metrics is not None:
        return choose_metrics(metrics, k, rel, weights)
    usual = choose_metrics(
        (*parse(DEFAULT_METRICS, cutoffs(k) or DEFAULT_KS), *parse(DEFAULT_WITHOUT_CUTOFF)),
        None, rel, weights,
    )  # fmt: skip
    have = [[facts.name for facts in scores.metrics] for scores in ready]
    if k is not None or all(str(metric) in names for names in have for metric in usual):
        return usual
    shared = [name for name in have[0] if all(name in names for names in have)]
    return parse(shared) if shared else None


def compare_scores(
    systems: Mapping[str, Scores],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    anyway: bool = False,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """The comparison of results that were measured alike; those that were not are refused.

    ``baseline`` is the system that the others are held against (default: the first).
    ``metrics`` are names that every result has (default: all they share). A difference counts
    as shown when its p-value, corrected over all systems and metrics, is at most 1 - level.
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
    facts = _shared_metrics(systems, metrics)
    values = {name: _aligned(scores, queries, facts) for name, scores in systems.items()}
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
    differences = _differences(complete, baseline, others, facts, level, resamples, seed)
    return Comparison(
        systems=tuple(systems),
        baseline=baseline,
        metrics=facts,
        queries=queries,
        values={name: frozen_array(table) for name, table in values.items()},
        means=_means(complete, facts, level, seed),
        differences=differences,
        overridden=tuple(blocked),
        fingerprints={name: dict(scores.fingerprints) for name, scores in systems.items()},
        settings={
            "calipers": __version__, "confidence": level, "resamples": resamples, "seed": seed,
            "tests": sum(one.p_adjusted is not None for one in differences),
            "notes": _notes(systems),
        },
    )  # fmt: skip


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
        raise InvalidInput(f"{' '.join(blocked)} Repair that, or {ANYWAY}.")


def _checked_baseline(systems: Mapping[str, Scores], baseline: str | None) -> str:
    if len(systems) < 2:
        raise InvalidInput(
            f"A comparison needs at least two systems: found {', '.join(systems) or 'none'}."
        )
    if baseline is None:
        return next(iter(systems))
    if baseline not in systems:
        raise InvalidInput(
            f"The baseline {baseline!r} is none of the systems; they are {', '.join(systems)}."
            f"{did_you_mean(baseline, systems)}"
        )
    return baseline


def facts_by_name(scores: Scores) -> dict[str, MetricFacts]:
    """What is known of every metric, and of the combined score where there is one."""
    facts = {metric.name: metric for metric in scores.metrics}
    if scores.weights:
        facts["score"] = MetricFacts("score", "score", None, "higher", (0, None), SCORE)
    return facts


def _shared_metrics(
    systems: Mapping[str, Scores], wanted: Sequence[str] | None
) -> tuple[MetricFacts, ...]:
    each = {name: facts_by_name(scores) for name, scores in systems.items()}
    first = next(iter(each.values()))
    shared = [name for name in first if all(name in facts for facts in each.values())]
    if wanted is None:
        if not shared:
            listed = "; ".join(f"{name} has {', '.join(facts)}" for name, facts in each.items())
            raise InvalidInput(
                f"The systems share no metric: {listed}. Measure them with the same metrics."
            )
        return tuple(first[name] for name in shared)
    for metric in wanted:
        for name, facts in each.items():
            if metric not in facts:
                raise InvalidInput(
                    f"The result of {name} has no {metric!r}; it has {', '.join(facts)}."
                    f"{did_you_mean(metric, facts)}"
                )
    return tuple(first[name] for name in dict.fromkeys(wanted))


def _aligned(scores: Scores, queries: pl.DataFrame, facts: Sequence[MetricFacts]) -> Floats:
    """The values in the order of the shared queries."""
    rows = scores.queries.select("query").with_row_index("row")
    order = queries.select("query").join(rows, on="query", how="left", maintain_order="left")
    table: Floats = np.column_stack([scores.of(metric.name) for metric in facts])
    aligned: Floats = table[order["row"].to_numpy()]
    return aligned


def _defined_in_all(values: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same tables, a value gone wherever one system has none: means stay comparable."""
    gone = np.any([np.isnan(table) for table in values.values()], axis=0)
    return {name: np.where(gone, np.nan, table) for name, table in values.items()}


def _is_same(first: Floats, second: Floats) -> bool:
    return bool(np.array_equal(first, second, equal_nan=True))


def _differences(
    values: Mapping[str, Floats],
    baseline: str,
    others: Sequence[str],
    facts: Sequence[MetricFacts],
    level: float,
    resamples: int,
    seed: int,
) -> tuple[Difference, ...]:
    tables = {name: values[name] - values[baseline] for name in others}
    results = {
        name: paired_results(table, level, resamples, seed) for name, table in tables.items()
    }
    cases = [(name, column) for name in others for column in range(len(facts))]
    raw = [
        None if facts[column].better == "neither" else results[name][column].p_value
        for name, column in cases
    ]
    tests = max(1, sum(p is not None for p in raw))
    alpha = round(1.0 - level, 12)
    found = []
    for (name, column), p in zip(cases, holm(raw), strict=True):
        result, metric = results[name][column], facts[column]
        wins, losses = result.wins, result.losses
        if metric.better == "lower":
            wins, losses = losses, wins
        found.append(
            Difference(
                name, baseline, metric.name, result.n, result.mean_difference, result.interval,
                result.p_value, p, result.effect_size, wins, losses, result.ties, result.method,
                _verdict(result, p, metric, alpha),
                visibility(tables[name][:, column], alpha, tests),
            )
        )  # fmt: skip
    return tuple(found)


def _verdict(result: PairedResult, p: float | None, metric: MetricFacts, alpha: float) -> Verdict:
    if p is None or result.mean_difference is None:
        return "not tested"
    if p > alpha or result.mean_difference == 0:
        return "not shown"
    return "better" if (result.mean_difference > 0) == (metric.better == "higher") else "worse"


def _means(
    values: Mapping[str, Floats], facts: Sequence[MetricFacts], level: float, seed: int
) -> tuple[SystemMean, ...]:
    bounds = [
        (metric.bounds[0], np.inf if metric.bounds[1] is None else metric.bounds[1])
        for metric in facts
    ]
    intervals = {
        name: mean_intervals(table, level, seed=seed, bounds=bounds)
        for name, table in values.items()
    }
    found = []
    for column, metric in enumerate(facts):
        defined = {name: t[~np.isnan(t[:, column]), column] for name, t in values.items()}
        means = {name: exact_mean(v) if len(v) else None for name, v in defined.items()}
        best = _best([mean for mean in means.values() if mean is not None], metric.better)
        for name, mean in means.items():
            n = len(defined[name])
            found.append(
                SystemMean(
                    name, metric.name, mean, intervals[name][column], n,
                    len(values[name]) - n, mean is not None and mean == best,
                )
            )  # fmt: skip
    return tuple(found)


def _best(means: Sequence[float], better: str) -> float | None:
    if not means or better == "neither" or min(means) == max(means):
        return None
    return max(means) if better == "higher" else min(means)
