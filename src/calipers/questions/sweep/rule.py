"""Every metric over k, and which k to take."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from calipers.engines.scoring import cutoffs, score
from calipers.errors import InvalidInput, check_number
from calipers.measures import Metric, parse
from calipers.model.arrays import Ints
from calipers.model.matched import Matched
from calipers.model.slicing import clusters_in
from calipers.questions.shown_results import wanted_per_query
from calipers.questions.sweep.document import DEFAULT_METRICS
from calipers.questions.sweep.enough_k import MARGIN, advise_recall
from calipers.questions.sweep.result import (
    F1Advice,
    Sweep,
    SweepPoint,
    SweepValue,
    TokenAdvice,
)
from calipers.questions.tokens import (
    TokensShown,
    load_tokenizer,
    may_have_tokens,
    token_use,
    tokens_shown,
)
from calipers.statistics.clusters import exact_mean

NEEDED = ("precision", "recall", "f1")
"""Those that every sweep measures."""


def sweep_over_k(
    pair: Matched,
    *,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    tokens: int | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    margin: float = MARGIN,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Sweep:
    """Every metric at every k, with the k to take by recall, by F1 and by tokens."""
    depth = pair.depth
    if not depth:
        raise InvalidInput(
            "There is nothing to sweep over: no query of the ground truth got any results."
        )
    ks = _swept(k, depth)
    chosen = _by_stem(metrics, ks, pair)
    values: dict[str, list[SweepValue]] = {}
    for stem, several in chosen.items():
        scores = score(pair, several, confidence=confidence, cluster=cluster)
        values[stem] = [
            SweepValue(scores[facts.name].mean, scores[facts.name].interval)
            for facts in scores.metrics
        ]
        if stem == "recall":
            n = int((~np.isnan(scores.values[:, 0])).sum())
            advice = advise_recall(ks, scores.values, margin, confidence, clusters_in(scores))
            prints, settings, policy = scores.fingerprints, scores.settings, scores.policy
        # One after the other: of all metrics, every k and query would be most of the memory.
        del scores
    counted = _count(pair, ks, tokenizer, needed=tokens is not None or price is not None)
    table = counted.table if counted else None
    wanted = wanted_one_by_one(pair)
    several = bool((wanted_per_query(pair.matches, pair.rel) > 1).any())
    points = tuple(_point(i, one, values, wanted, table, price) for i, one in enumerate(ks))
    return Sweep(
        points=points,
        metrics=tuple(chosen),
        queries=pair.matches.n_queries,
        n=n,
        depth=depth,
        recall=advice,
        # Of one target each, the k with the highest F1 is the first that holds it.
        f1=advise_f1(points) if several else None,
        tokens=None if tokens is None or table is None else advise_tokens(points, table, tokens),
        token_source=counted.source if counted else None,
        price=price,
        fingerprints={name: one for name, one in prints.items() if name != "settings"},
        settings={**settings, "ks": ks, "margin": margin, "policy": policy.to_dict()},
    )


def check_costs(tokens: int | None, price: float | None) -> None:
    """Refuse a budget or a price that cannot be meant, before any file is read."""
    if tokens is not None:
        check_number("The budget of tokens", tokens, whole=True, least=1)
    if price is not None:
        check_number("The price of a million tokens", price, least=0)


def _swept(k: Any, depth: int) -> list[int]:
    given = cutoffs(k)
    return usual_cutoffs(depth) if given is None else sorted(set(given))


def _by_stem(
    metrics: str | Iterable[str] | None, ks: Sequence[int], pair: Matched
) -> dict[str, tuple[Metric, ...]]:
    """The metrics at every k, by name without cut-off; those the advice needs come too."""
    chosen: dict[str, list[Metric]] = {}
    for metric in parse(DEFAULT_METRICS if metrics is None else metrics, ks, pair.matching.like):
        chosen.setdefault(metric.stem, []).append(metric)
    for several in chosen.values():
        if sorted(metric.k or 0 for metric in several) != sorted(ks):
            has = "takes no cut-off" if several[0].k is None else "has a cut-off of its own"
            raise InvalidInput(
                f"The metric {several[0]} {has}, and a sweep goes over k; name metrics that take "
                "a cut-off, without one, such as recall,ndcg."
            )
    for stem in NEEDED:
        chosen.setdefault(stem, list(parse([stem], ks)))
    return {
        stem: tuple(metric.with_rel(pair.rel) for metric in several)
        for stem, several in chosen.items()
    }


def _count(
    pair: Matched, ks: Sequence[int], tokenizer: str | Callable[[str], Any] | None, *, needed: bool
) -> TokensShown | None:
    function = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    if not (needed or function or may_have_tokens(pair)):
        return None
    found = tokens_shown(pair, lambda block, counts: block.summed(counts, ks), function)
    if found is None and (needed or function):
        raise InvalidInput(
            "The tokens of the results are not known: some results have neither a number of "
            "tokens nor a text; give 'tokens' or 'text' with every result."
        )
    return found


def _point(
    index: int,
    k: int,
    measured: dict[str, list[SweepValue]],
    wanted: Ints | None,
    table: Ints | None,
    price: float | None,
) -> SweepPoint:
    values = {stem: each[index] for stem, each in measured.items()}
    use = None if table is None else token_use(table[:, index], price)
    highest = (None, None) if wanted is None else ceilings(wanted, k)
    return SweepPoint(k, values, *highest, use)


EVERY_K_UP_TO = 100
PER_DECADE = 12


def usual_cutoffs(depth: int) -> list[int]:
    """Every k up to 100, then about twelve per tenfold, and the depth itself.

    >>> usual_cutoffs(4)
    [1, 2, 3, 4]
    >>> usual_cutoffs(200)[98:]
    [99, 100, 121, 146, 177, 200]
    """
    ks = set(range(1, min(depth, EVERY_K_UP_TO) + 1))
    step = 1
    while EVERY_K_UP_TO * 10 ** (step / PER_DECADE) < depth:
        ks.add(int(EVERY_K_UP_TO * 10 ** (step / PER_DECADE)))
        step += 1
    return sorted({*ks, depth})


def advise_f1(points: Sequence[SweepPoint]) -> F1Advice | None:
    """The k with the highest mean F1; of equals the smallest."""
    best: F1Advice | None = None
    for point in points:
        value = point.values["f1"]
        if value.mean is not None and (best is None or value.mean > best.f1):
            best = F1Advice(point.k, value.mean, value.interval, point.values["recall"].mean)
    return best


def advise_tokens(points: Sequence[SweepPoint], table: Ints, budget: int) -> TokenAdvice:
    """The largest k whose results fit the budget for at least 95 of 100 queries."""
    fitting = [
        (point, column)
        for point, column in zip(points, table.T, strict=True)
        if point.tokens is not None and point.tokens.p95 <= budget
    ]
    if not fitting:
        return TokenAdvice(budget, None, None, None, None, None, False)
    point, column = fitting[-1]
    return TokenAdvice(
        budget,
        point.k,
        point.tokens,
        point.values["recall"].mean,
        points[-1].values["recall"].mean,
        float(np.mean(column > budget)),
        point is points[-1],
    )


def wanted_one_by_one(pair: Matched) -> Ints | None:
    """How many targets each query has, where k results can hold no more than k of them.

    None where a result may hold several quotes or spans: then precision has no ceiling.
    """
    by_item = pair.settings["match"] in ("id", "document")
    limited = by_item and pair.matches.is_one_to_one
    return wanted_per_query(pair.matches, pair.rel) if limited else None


def ceilings(targets: Ints, k: int) -> tuple[float | None, float | None]:
    """The highest recall and precision at k if every result holds one target at most.

    >>> ceilings(np.array([1, 4]), 2)
    (0.75, 0.75)
    """
    targets = targets[targets > 0]
    if not targets.size:
        return None, None
    reachable = np.minimum(targets, k).astype(np.float64)
    return exact_mean(reachable / targets), exact_mean(reachable / k)
