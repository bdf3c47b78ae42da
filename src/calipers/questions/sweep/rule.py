"""Every metric over k, and the k to use."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from calipers.engines.scoring import compute, cutoffs, of_returned, score
from calipers.errors import InvalidInput, check_number
from calipers.measures import Metric, parse
from calipers.model.fact import Fact, sentence
from calipers.model.matched import Matched
from calipers.model.recorded import Recorded
from calipers.model.scores import Scores
from calipers.model.slicing import copies_in_words, units_in
from calipers.questions.inputs import with_cautions
from calipers.questions.recall_advice import (
    MARGIN,
    RecallAdvice,
    advise_recall,
    usual_cutoffs,
)
from calipers.questions.sweep.document import DEFAULT_METRICS
from calipers.questions.sweep.result import Sweep, SweepPoint, SweepValue
from calipers.questions.sweep.turned_round import reverse_claim
from calipers.questions.tokens import may_have_tokens, token_use, tokens_shown

NO_TOKENS = sentence(
    "What {it.count} queries cost is not known: not every result has 'tokens', and not every "
    "one a 'text'.",
    it=Fact(about="setting", count=1_000, text="priced"),
)
NEEDED = ("precision", "recall")
"""The metrics that every sweep measures."""


def sweep_over_k(
    pair: Matched,
    *,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    margin: float = MARGIN,
    confidence: float = 0.95,
    cluster: str | None = None,
    price: float | None = None,
) -> Sweep:
    """Measure every metric at every k, and advise a k by recall."""
    depth = pair.depth
    if price is not None:
        check_number("The price of a million tokens", price, least=0, such_as=0.5)
    if not depth:
        raise InvalidInput(
            "There is nothing to sweep over: no query of the ground truth got any results."
        )
    ks = sorted(set(cutoffs(k) or usual_cutoffs(depth)))
    chosen = _by_stem(metrics, ks, pair)
    values: dict[str, list[SweepValue]] = {}
    advice: RecallAdvice | None = None
    for stem, at_every_k in chosen.items():
        scores = score(pair, at_every_k, confidence=confidence, cluster=cluster)
        values[stem] = [
            SweepValue(scores[facts.name].mean, scores[facts.name].interval)
            for facts in scores.metrics
        ]
        if stem == "recall" or (stem == "precision" and "recall" not in chosen):
            n = int((~np.isnan(scores.values[:, 0])).sum())
            prints = scores.fingerprints
            settings = scores.settings
            policy = scores.policy
        if stem == "recall":
            advice = advise_recall(
                ks, scores.values, margin, confidence, units_in(scores)
            )
            # The order is judged by whole lists, whichever k are looked at.
            everywhere = _recall_at(pair, usual_cutoffs(depth)) if k else at_every_k
            recall = (
                compute(pair.matches, everywhere, pair.policy) if k else scores.values
            )
            turned = reverse_claim(pair, everywhere, recall, confidence, cluster, ks)
            settings = _with_cautions(pair, scores, advice).settings
            if advice is not None and turned is not None:
                advice = replace(advice, claim=turned)
        # One metric at a time: all metrics at every k and query would use most of the memory.
        del scores
    counted = tokens_shown(pair, ks) if may_have_tokens(pair) else None
    points = []
    for at, cutoff in enumerate(ks):
        at_cutoff = {stem: each[at] for stem, each in values.items()}
        tokens = token_use(counted.table[:, at], price) if counted else None
        points.append(SweepPoint(cutoff, at_cutoff, tokens))
    if price is not None and counted is None:
        settings = {**settings, "notes": [*Recorded(settings).notes, NO_TOKENS]}
    return Sweep(
        points=tuple(points),
        metrics=tuple(chosen),
        queries=pair.matches.n_queries,
        n=n,
        depth=depth,
        recall=advice,
        token_source=counted.source if counted else None,
        fingerprints={name: one for name, one in prints.items() if name != "settings"},
        settings={**settings, "ks": ks, "margin": margin, "policy": policy.to_dict()},
    )


def _with_cautions(pair: Matched, scores: Scores, advice: RecallAdvice | None) -> Scores:
    """The recall at every k with what makes it say less: copies, ties at the k that is advised."""
    ks = () if advice is None else (advice.best_guess, advice.below)
    names = [str(metric) for metric in _recall_at(pair, [k for k in ks if k is not None])]
    copies = copies_in_words(scores.queries, scores.recorded.cluster)
    return with_cautions(pair, scores, names or None).with_notes(copies)


def _by_stem(
    metrics: str | Iterable[str] | None, ks: Sequence[int], pair: Matched
) -> dict[str, tuple[Metric, ...]]:
    """The metrics at every k by name without cut-off, with those that the advice needs."""
    chosen: dict[str, list[Metric]] = {}
    truth = pair.ground_truth
    asked = parse(DEFAULT_METRICS if metrics is None else metrics, ks, pair.matching.like)
    for metric in asked if metrics is not None else of_returned(truth, asked):
        chosen.setdefault(metric.stem, []).append(metric)
    for several in chosen.values():
        if sorted(metric.k or 0 for metric in several) != sorted(ks):
            raise InvalidInput(_why_not_at_each_k(several[0]))
    for stem in NEEDED:
        if needed := of_returned(truth, parse([stem], ks)):
            chosen.setdefault(stem, list(needed))
    return {
        stem: tuple(metric.with_rel(pair.rel) for metric in several)
        for stem, several in chosen.items()
    }


def _why_not_at_each_k(metric: Metric) -> str:
    """Why a metric cannot be swept over k, and what to name instead."""
    has = (
        "takes no cut-off" if metric.k is None and not metric.cutoffs else "has a cut-off"
    )
    own = " of its own" if metric.cutoffs else ""
    instead = "name metrics that take a cut-off, without one, such as recall,ndcg"
    if metric.parts and all(part.definition.cutoff != "none" for part, _ in metric.parts):
        parts = (f"{replace(part, k=None)}={weight:g}" for part, weight in metric.parts)
        instead = f"write {metric.name}({','.join(parts)})"
    return f"The metric {metric} {has}{own}, and a sweep goes over k; {instead}."


def _recall_at(pair: Matched, ks: Sequence[int]) -> tuple[Metric, ...]:
    """Recall at every one of some k."""
    return tuple(metric.with_rel(pair.rel) for metric in parse(["recall"], ks))
