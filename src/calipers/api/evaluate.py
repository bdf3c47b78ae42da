"""Score a run against a ground truth."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from calipers.analyse.summary import summarise
from calipers.audit.counts import audit_counts, enforce
from calipers.errors import InvalidInput
from calipers.io.load import load_pair
from calipers.io.source import Progress
from calipers.match.by_id import match_by_id
from calipers.metrics import Metric, compute, parse
from calipers.metrics.spec import check_cutoff
from calipers.model.arrays import frozen_array
from calipers.model.fingerprint import fingerprint_settings
from calipers.model.matches import Matches
from calipers.model.policy import Policy
from calipers.model.scores import MetricFacts, Scores
from calipers.version import VERSION

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
    like: str | None = None,
    weights: Mapping[str, float] | None = None,
    corpus_size: int | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
    **policies: str | None,
) -> Scores:
    """Score a run against a ground truth, query by query.

    Give ``data`` that holds both, or ``ground_truth`` and ``run``; each may be a path, a
    mapping of query to items, a list of records or a table. ``metrics`` are names such as
    ``"recall@1,5,10"``; ``k`` serves those written without a cut-off. ``rel`` is the grade from
    which a target is relevant (default: above 0). ``like`` takes the policies of another tool
    ("trec_eval", "trec_eval-c"); single ``policies`` (missing, unanswerable, duplicates,
    unknown, errors, ties) overrule it. ``weights`` combine metrics into one score.

    >>> scores = evaluate(ground_truth={"q": {"a": 1}}, run={"q": ["b", "a"]}, metrics="mrr")
    >>> scores["mrr"].mean
    0.5
    """
    chosen = choose_metrics(metrics, k, rel, weights)
    policy = (Policy.like(like) if like else Policy()).with_changes(**policies)
    _check_settings(rel, corpus_size, resamples)
    truth, results = load_pair(data, ground_truth, run, progress)
    policy = policy.with_changes(ties=policy.ties or results.ties)
    matches, tally = match_by_id(truth, results, policy, corpus_size)
    cutoffs = [metric.k for metric in chosen if metric.k is not None]
    audit = audit_counts(
        truth, matches, tally, depth=max(cutoffs) if cutoffs else None, rel=rel
    )
    enforce(policy, audit)
    settings = {
        "calipers": VERSION, "match": "id", "rel": rel, "corpus_size": corpus_size,
        "level": level, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    return Scores(
        metrics=tuple(_facts(metric) for metric in chosen),
        values=frozen_array(compute(matches, chosen, policy)),  # type: ignore[arg-type]
        queries=_query_table(matches, rel),
        tags=truth.tags,
        audit=audit,
        policy=policy,
        fingerprints={
            "ground_truth": truth.fingerprint,
            "run": tally.fingerprint,
            "settings": fingerprint_settings(
                [[str(m) for m in chosen], policy.to_dict(), dict(weights or {}), settings]
            ),
        },
        settings=settings,
        summarise=summarise,
        weights={str(parse_weighted(name)): float(w) for name, w in (weights or {}).items()},
    )


def choose_metrics(
    metrics: str | Iterable[str | Metric] | None,
    k: int | Sequence[int] | None,
    rel: float | None = None,
    weights: Mapping[str, float] | None = None,
) -> tuple[Metric, ...]:
    """The metrics asked for, or the usual ones, and those that a combined score needs."""
    ks = None if k is None else [check_cutoff(one) for one in ([k] if _is_single(k) else k)]
    if metrics is None:
        chosen = (*parse(DEFAULT_METRICS, ks or DEFAULT_KS), *parse(DEFAULT_WITHOUT_CUTOFF))
    else:
        chosen = parse(metrics, ks)
    if not chosen:
        raise InvalidInput("No metric is named; name at least one, such as recall@10.")
    for name in weights or {}:
        chosen = tuple(dict.fromkeys((*chosen, parse_weighted(name))))
    return tuple(dict.fromkeys(metric.with_rel(rel) for metric in chosen))


def parse_weighted(name: str) -> Metric:
    """The metric of a weight: one, with the cut-off written out."""
    several = parse([name])
    if len(several) != 1:
        raise InvalidInput(
            f"A weight is given to {name!r}, which stands for {len(several)} metrics; "
            "give each its own weight."
        )
    return several[0]


def _is_single(k: Any) -> bool:
    return isinstance(k, str | int | float) or not hasattr(k, "__iter__")


def _check_settings(rel: float | None, corpus_size: int | None, resamples: int) -> None:
    if rel is not None and not (isinstance(rel, int | float) and 0 < rel < float("inf")):
        raise InvalidInput(
            f"The grade from which a target is relevant (rel) is {rel!r}; "
            "it must be a number above 0."
        )
    if corpus_size is not None and (not isinstance(corpus_size, int) or corpus_size < 1):
        raise InvalidInput(
            f"The size of the corpus is {corpus_size!r}; it must be a whole number of at least 1."
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

