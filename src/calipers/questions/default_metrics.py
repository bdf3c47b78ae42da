"""The metric that decides and the few to look at, where none is named."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calipers.engines.scoring import choose_metrics, cutoffs
from calipers.errors import InvalidInput
from calipers.measures import Metric, parse
from calipers.measures.spec import find_name
from calipers.model.scores import MetricFacts, Scores
from calipers.words import did_you_mean

HEADLINES = ("recall", "precision", "ndcg", "mrr")
"""Few, as every one costs power where it is tested."""
DEFAULT_METRICS = ("recall", "precision", "ndcg", "hit_rate")
DEFAULT_WITHOUT_CUTOFF = ("mrr",)
DEFAULT_KS = (10,)


def choose_primary(facts: Sequence[MetricFacts], wanted: str | None = None) -> str | None:
    """The metric asked for, or else the score, recall at its largest k, or the first at hand.

    It alone decides; the others are shown beside it and take none of its power. More or less of
    it must be better; None where there is no such metric.

    >>> known = [MetricFacts(f"{name}@{k}", name, k, "higher", (0, 1), "")
    ...          for name in ("ndcg", "recall") for k in (5, 10)]
    >>> choose_primary(known), choose_primary(known, "nDCG@5"), choose_primary(known[:2])
    ('recall@10', 'ndcg@5', 'ndcg@5')
    """
    decisive = {one.name: one for one in facts if one.better != "neither"}
    if wanted is not None:
        found = wanted if wanted in decisive else find_name(wanted, decisive)
        if found is None:
            raise InvalidInput(
                f"The primary metric {wanted!r} is not among those of which more or less is "
                f"better; they are {', '.join(decisive) or 'none'}.{did_you_mean(wanted, decisive)}"
            )
        return found
    if "score" in decisive:
        return "score"
    recalls = [one for one in decisive.values() if one.stem.partition("(")[0] == "recall"]
    if recalls:
        return max(recalls, key=lambda one: one.k or 0).name
    return next(iter(decisive), None)


FINDING = ("recall", "hit_rate", "precision", "f1")
ORDER = ("ndcg", "mrr", "map")


def asked_pair(facts: Sequence[MetricFacts], primary: str | None = None) -> list[str]:
    """What decides where no metric is named: one for finding and one for order, primary first.

    A retriever may find the same and rank it worse, or rank well the little that it finds: one
    number hears only one of the two.

    >>> known = [MetricFacts(f"{name}@{k}", name, k, "higher", (0, 1), "")
    ...          for name in ("precision", "ndcg", "recall") for k in (5, 10)]
    >>> asked_pair(known), asked_pair(known, "ndcg@5"), asked_pair(known[:2])
    (['recall@10', 'ndcg@10'], ['ndcg@5', 'recall@10'], ['precision@10'])
    """
    decisive = {one.name: one for one in facts if one.better != "neither"}
    pair = [found for stems in (FINDING, ORDER) if (found := _deepest(decisive.values(), stems))]
    leads = choose_primary(facts, primary) if primary or "score" in decisive or not pair else None
    if leads is None:
        return pair
    led = decisive[leads].stem.partition("(")[0]
    same = next((stems for stems in (FINDING, ORDER) if led in stems), ())
    return [leads, *(name for name in pair if decisive[name].stem.partition("(")[0] not in same)]


def asked_metrics(
    facts: Sequence[MetricFacts], primary: str | None = None, *, named: bool
) -> list[str]:
    """What decides, the primary metric first: all that were named, or else the usual pair.

    >>> known = [MetricFacts(f"{name}@10", name, 10, "higher", (0, 1), "")
    ...          for name in ("precision", "ndcg", "recall")]
    >>> asked_metrics(known, named=True), asked_metrics(known, named=False)
    (['recall@10', 'precision@10', 'ndcg@10'], ['recall@10', 'ndcg@10'])
    """
    if not named:
        return asked_pair(facts, primary)
    decisive = [one.name for one in facts if one.better != "neither"]
    first = choose_primary(facts, primary)
    return sorted(decisive, key=lambda name: name != first)


def finding_metric(facts: Iterable[MetricFacts]) -> str | None:
    """The metric that says whether anything was found: recall at its largest k, or its like."""
    return _deepest(facts, FINDING)


def _deepest(facts: Iterable[MetricFacts], stems: Sequence[str]) -> str | None:
    known = list(facts)
    for stem in stems:
        same = [one for one in known if one.stem.partition("(")[0] == stem]
        if same:
            return max(same, key=lambda one: one.k or 0).name
    return None


def headlines(names: Iterable[str]) -> list[str]:
    """The few metrics to look at where none is named.

    >>> headlines(["recall@1", "recall@10", "precision@10", "mrr", "map"])
    ['recall@10', 'precision@10', 'mrr']
    """
    known = list(names)
    chosen = ["score"] if "score" in known else []
    for stem in HEADLINES:
        same = [name for name in known if name.partition("@")[0].partition("(")[0] == stem]
        if same:
            chosen.append(max(same, key=_cutoff))
    return chosen or known[:4]


def _cutoff(name: str) -> int:
    digits = name.rpartition("@")[2]
    return int(digits) if digits.isdigit() else 0


def metrics_compared(
    metrics: Any,
    k: Any,
    rel: float | None,
    weights: Mapping[str, float] | None,
    ready: Iterable[Scores],
    primary: str | None = None,
) -> tuple[Metric, ...] | None:
    """The metrics asked for, or the usual ones; None: those that the results at hand share.

    Results that were measured before have what they have: where the usual metrics are not among
    it, the runs beside them are measured by theirs. A primary metric is measured too.
    """
    further = () if primary in (None, "score") else parse([primary])
    if metrics is not None:
        return tuple(dict.fromkeys((*choose_metrics(metrics, k, rel, weights), *further)))
    usual = choose_metrics(
        (
            *parse(DEFAULT_METRICS, cutoffs(k) or DEFAULT_KS),
            *parse(DEFAULT_WITHOUT_CUTOFF),
            *further,
        ),
        None,
        rel,
        weights,
    )
    have = [[facts.name for facts in scores.metrics] for scores in ready]
    if k is not None or all(str(metric) in names for names in have for metric in usual):
        return usual
    shared = [name for name in have[0] if all(name in names for names in have)]
    return parse(shared) if shared else None
