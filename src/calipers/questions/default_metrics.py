"""The metrics that decide and those to show when none is named."""

from collections.abc import Iterable, Sequence
from typing import Any

from calipers.engines.scoring import choose_metrics, cutoffs
from calipers.errors import InvalidInput
from calipers.measures import Metric, parse
from calipers.measures.spec import find_name
from calipers.model.scores import MetricFacts, Scores
from calipers.words import did_you_mean

HEADLINES = ("recall", "precision", "ndcg", "mrr")
"""Few, as every tested metric costs statistical power."""
DEFAULT_METRICS = ("recall", "precision", "ndcg", "hit_rate")
DEFAULT_WITHOUT_CUTOFF = ("mrr",)
DEFAULT_KS = (10,)


def choose_primary(
    facts: Sequence[MetricFacts], wanted: str | None = None, *, named: bool = False
) -> str | None:
    """The metric asked for, else the first one at its largest cut-off; by default recall.

    Where the user ``named`` the metrics the first of them leads, else recall if it is
    there.

    It alone decides; the others are shown beside it and cost no power. It must have a
    direction (higher or lower is better); None if no metric has one.

    >>> known = [MetricFacts(f"{name}@{k}", name, k, "higher", (0, 1), "")
    ...          for name in ("ndcg", "recall") for k in (5, 10)]
    >>> choose_primary(known), choose_primary(known, "nDCG@5"), choose_primary(known, named=True)
    ('recall@10', 'ndcg@5', 'ndcg@10')
    """
    decisive = {fact.name: fact for fact in facts if fact.better != "neither"}
    if wanted is not None:
        name = wanted if wanted in decisive else find_name(wanted, decisive)
        if name is None:
            raise InvalidInput(
                f"The primary metric {wanted!r} is not among those of which more or less "
                "is better; they are "
                f"{', '.join(decisive) or 'none'}.{did_you_mean(wanted, decisive)}"
            )
        return name
    recall = None if named else deepest(decisive.values(), ("recall",))
    if recall is not None or not decisive:
        return recall.name if recall else None
    first = next(iter(decisive.values()))
    return max(
        (metric for metric in decisive.values() if metric.stem == first.stem),
        key=lambda metric: metric.k or 0,
    ).name


FINDING = ("recall", "hit_rate", "precision", "f1")
FOUND = ("recall", "hit_rate", "full_recall")
"""Metrics that say whether a query finds less of what it should."""
ORDER = ("ndcg", "mrr", "map")


def asked_pair(facts: Sequence[MetricFacts], primary: str | None = None) -> list[str]:
    """What decides where no metric is named: one for finding and one for order, primary first.

    A retriever may find the same and rank it worse, or rank well the little that it
    finds: one number shows only one of the two.

    >>> known = [MetricFacts(f"{name}@{k}", name, k, "higher", (0, 1), "")
    ...          for name in ("precision", "ndcg", "recall") for k in (5, 10)]
    >>> asked_pair(known), asked_pair(known, "ndcg@5"), asked_pair(known[:2])
    (['recall@10', 'ndcg@10'], ['ndcg@5', 'recall@10'], ['precision@10'])
    """
    decisive = {fact.name: fact for fact in facts if fact.better != "neither"}
    known = [deepest(decisive.values(), kinds) for kinds in (FINDING, ORDER)]
    pair = [metric for metric in known if metric]
    leads = choose_primary(facts, primary) if primary or not pair else None
    if leads is None:
        return [metric.name for metric in pair]
    led = decisive[leads].kind
    same = next((kinds for kinds in (FINDING, ORDER) if led in kinds), ())
    return [leads, *(metric.name for metric in pair if metric.kind not in same)]


def asked_metrics(
    facts: Sequence[MetricFacts], primary: str | None = None, *, named: bool
) -> list[str]:
    """The metrics that decide, primary first: all that were named, else the usual pair.

    >>> known = [MetricFacts(f"{name}@10", name, 10, "higher", (0, 1), "")
    ...          for name in ("precision", "ndcg", "recall")]
    >>> asked_metrics(known, named=True), asked_metrics(known, named=False)
    (['precision@10', 'ndcg@10', 'recall@10'], ['recall@10', 'ndcg@10'])
    """
    if not named:
        return asked_pair(facts, primary)
    decisive = [fact.name for fact in facts if fact.better != "neither"]
    first = choose_primary(facts, primary, named=True)
    return sorted(decisive, key=lambda name: name != first)


def finding_metric(facts: Iterable[MetricFacts]) -> str | None:
    """The metric of what was found: recall at its largest k, or a similar one."""
    metric = deepest(facts, FINDING)
    return None if metric is None else metric.name


def deepest(facts: Iterable[MetricFacts], kinds: Sequence[str]) -> MetricFacts | None:
    """The metric with the largest cut-off of the first kind that occurs."""
    known = list(facts)
    for kind in kinds:
        if same := [metric for metric in known if metric.kind == kind]:
            return max(same, key=lambda metric: metric.k or 0)
    return None


def headlines(names: Iterable[str]) -> list[str]:
    """The metrics to show when none is named.

    >>> headlines(["recall@1", "recall@10", "precision@1(rel=2)", "precision@10(rel=2)", "mrr"])
    ['recall@10', 'precision@10(rel=2)', 'mrr']
    """
    known = list(names)
    chosen = []
    for stem in HEADLINES:
        same = [
            name for name in known if name.partition("@")[0].partition("(")[0] == stem
        ]
        if same:
            chosen.append(max(same, key=_cutoff))
    return chosen or known[:4]


def _cutoff(name: str) -> int:
    digits = name.partition("(")[0].rpartition("@")[2]
    return int(digits) if digits.isdigit() else 0


def metrics_compared(
    metrics: Any,
    k: Any,
    rel: float | None,
    ready: Iterable[Scores],
    primary: str | None = None,
) -> tuple[Metric, ...] | None:
    """The metrics asked for, or the usual ones; None: those that the given results share.

    Saved results cannot get new metrics: if they lack the usual ones, the runs beside
    them are measured by the metrics they have. A primary metric is measured too.
    """
    further = () if primary is None else parse([primary])
    if metrics is not None:
        return tuple(dict.fromkeys((*choose_metrics(metrics, k, rel), *further)))
    usual = choose_metrics(
        (
            *parse(DEFAULT_METRICS, cutoffs(k) or DEFAULT_KS),
            *parse(DEFAULT_WITHOUT_CUTOFF),
            *further,
        ),
        None,
        rel,
    )
    have = [[facts.name for facts in scores.metrics] for scores in ready]
    if k is not None or all(str(metric) in names for names in have for metric in usual):
        return usual
    shared = [name for name in have[0] if all(name in names for names in have)]
    return parse(shared) if shared else None
