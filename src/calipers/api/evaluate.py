"""Score a run against a ground truth."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calipers.analyse.summary import summarise
from calipers.api.prepare import Prepared, prepare
from calipers.audit.counts import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.metrics import Metric, compute, parse
from calipers.metrics.spec import check_cutoff
from calipers.model.arrays import frozen_array
from calipers.model.fingerprint import Fingerprints, fingerprint_settings
from calipers.model.matches import Matches
from calipers.model.scores import MetricFacts, Scores
from calipers.version import __version__

DEFAULT_METRICS = ("hit_rate", "precision", "recall", "f1", "ndcg")
DEFAULT_WITHOUT_CUTOFF = ("mrr", "map")
DEFAULT_KS = (1, 3, 5, 10)


def evaluate(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    rel: float | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **preparing: Any,
) -> Scores:
    """Score a run against a ground truth, query by query.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path, a
    mapping of query to items, a list of records or a table. ``metrics`` are names such as
    ``"recall@1,5,10"``; ``k`` serves those written without a cut-off. ``rel`` is the grade from
    which a target is relevant (default: above 0). ``weights`` combine metrics into one score.
    ``confidence``, ``resamples`` and ``seed`` are those of the intervals.

    Further arguments go to ``prepare``: ``like`` takes the policies of another tool
    ("trec_eval", "trec_eval-c"); single policies (missing, unanswerable, duplicates, unknown,
    errors, ties) overrule it; ``corpus_size`` serves tn@k; ``progress`` is told the bytes read;
    ``fingerprints=False`` leaves those of run and ground truth out, which saves a tenth of the
    time on large files.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    return measure(
        data, ground_truth=ground_truth, run=run, metrics=metrics, k=k, rel=rel, weights=weights,
        confidence=confidence, resamples=resamples, seed=seed, **preparing,
    )[1]  # fmt: skip


def measure(
    data: Any = None,
    *,
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    rel: float | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **preparing: Any,
) -> tuple[Prepared, Scores]:
    """What ``evaluate`` gives, with what it was made from, for those who keep both."""
    chosen = choose_metrics(metrics, k, rel, weights)
    prepared = prepare(data, rel=rel, **preparing)
    return prepared, score(
        prepared, chosen, weights=weights, confidence=confidence, resamples=resamples, seed=seed
    )


def score(
    prepared: Prepared,
    metrics: Sequence[Metric],
    *,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Scores:
    """The scores of matches that are there already, so that several questions cost one reading."""
    _check_intervals(confidence, resamples)
    matches, policy = prepared.matches, prepared.policy
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    audit = audit_counts(
        prepared.ground_truth, matches, prepared.tally,
        depth=max(cutoffs) if cutoffs else None, rel=prepared.rel,
    )  # fmt: skip
    enforce(policy, audit)
    settings = {
        "calipers": __version__, **prepared.settings,
        "confidence": confidence, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    names = [str(metric) for metric in metrics]
    weighted = {
        str(metric.with_rel(prepared.rel)): weight
        for metric, weight in _weighted(weights or {}).items()
    }
    return Scores(
        metrics=tuple(_facts(metric) for metric in metrics),
        values=frozen_array(compute(matches, metrics, policy)),
        queries=_query_table(matches, prepared.rel),
        tags=prepared.ground_truth.tags,
        audit=audit,
        policy=policy,
        fingerprints=Fingerprints(
            {
                **_contents(prepared),
                "settings": lambda: fingerprint_settings(
                    [names, policy.to_dict(), weighted, {**settings, "notes": None}]
                ),
            }
        ),
        settings=settings,
        summarise=summarise,
        weights=weighted,
    )


def _contents(prepared: Prepared) -> dict[str, Callable[[], str]]:
    """How the fingerprints of what was measured are made, where they are wanted."""
    truth, of_run = prepared.ground_truth, prepared.tally.fingerprint
    if of_run is None:
        return {}
    return {"ground_truth": lambda: truth.fingerprint, "run": of_run.hexdigest}


def choose_metrics(
    metrics: str | Iterable[str | Metric] | None,
    k: int | Sequence[int] | None,
    rel: float | None = None,
    weights: Mapping[str, float] | None = None,
) -> tuple[Metric, ...]:
    """The metrics asked for, or the usual ones, and those that a combined score needs."""
    ks = _cutoffs(k)
    if metrics is None:
        chosen = (*parse(DEFAULT_METRICS, ks or DEFAULT_KS), *parse(DEFAULT_WITHOUT_CUTOFF))
    else:
        chosen = parse(metrics, ks)
    if not chosen:
        raise InvalidInput("No metric is named; name at least one, such as recall@10.")
    chosen = (*chosen, *_weighted(weights or {}))
    return tuple(dict.fromkeys(metric.with_rel(rel) for metric in chosen))


def _weighted(weights: Mapping[str, float]) -> dict[Metric, float]:
    """The metrics of a combined score, each once, with its weight."""
    found: dict[Metric, float] = {}
    for name, weight in weights.items():
        several = parse([name])
        if len(several) != 1:
            raise InvalidInput(
                f"A weight is given to {name!r}, which stands for {len(several)} metrics; "
                "give each its own weight."
            )
        metric = several[0]
        if metric in found:
            raise InvalidInput(f"The metric {metric} is given two weights; give it one.")
        if metric.definition.better != "higher":
            raise InvalidInput(
                f"The metric {metric} cannot be part of a combined score: more of it is not "
                "better; combine metrics such as recall@10 and precision@5."
            )
        if not (isinstance(weight, int | float) and 0 < weight < float("inf")):
            raise InvalidInput(
                f"The weight of {metric} is {weight!r}; a weight is a number above 0."
            )
        found[metric] = float(weight)
    return found


def _cutoffs(k: Any) -> list[int] | None:
    if k is None:
        return None
    several = [k] if isinstance(k, str) or not hasattr(k, "__iter__") else list(k)
    if not several:
        raise InvalidInput("No cut-off is given in k; give at least one, such as 10.")
    return [check_cutoff(one) for one in several]


def _check_intervals(confidence: float, resamples: int) -> None:
    if not 0 < confidence < 1:
        raise InvalidInput(
            f"The confidence of the intervals is {confidence!r}; it must lie between 0 and 1, "
            "such as 0.95."
        )
    if not isinstance(resamples, int) or resamples < 1:
        raise InvalidInput(
            f"The number of resamples is {resamples!r}; it must be a whole number of at least 1."
        )


def _facts(metric: Metric) -> MetricFacts:
    definition = metric.definition
    return MetricFacts(
        str(metric), metric.stem, metric.k, definition.better, definition.bounds,
        definition.summary,
    )  # fmt: skip


def _query_table(matches: Matches, rel: float | None) -> pl.DataFrame:
    targets = np.bincount(matches.target_query[matches.relevant(rel)], minlength=matches.n_queries)
    return matches.queries.with_columns(
        pl.Series("retrieved", matches.retrieved), pl.Series("targets", targets)
    )
