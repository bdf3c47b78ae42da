"""Why a retriever fails, and what to do."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from calipers.analyse.compare import compare_scores
from calipers.analyse.context import Context
from calipers.analyse.cuts import cut
from calipers.analyse.diagnose import apply_rules, thresholds_in_force
from calipers.analyse.evidence import Evidence
from calipers.analyse.rules import RULES
from calipers.analyse.tokens import load_tokenizer
from calipers.api.evaluate import score
from calipers.api.prepare import Prepared, prepare
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.metrics import parse
from calipers.metrics.spec import check_cutoff
from calipers.model.diagnosis import Diagnosis
from calipers.model.scores import Scores

METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
COMPARED = METRICS[:-1]
DEFAULT_K = 10


def diagnose(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    before: Any = None,
    k: int | None = None,
    thresholds: Mapping[str, float] | None = None,
    by: str | Iterable[str] | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    anyway: bool = False,
    rel: float | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **preparing: Any,
) -> Diagnosis:
    """Look for the known failure modes in the first k results (default: 10, or fewer if shorter).

    Each finding has its evidence, a confidence and what to do. ``thresholds`` override single
    thresholds by name, such as ``{"too_wide.recall": 0.7}`` (`rules` lists them). ``before`` is
    an earlier run or evaluation of the same queries: then the result says what changed. ``by``
    are the tags to look for a collapsed slice in (default: all, and "length" and "targets").
    ``price`` is that of a million tokens, for what is wasted. The other arguments are those of
    ``evaluate`` and ``sweep``.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a", "b", "c"]}
    ...     for i in range(30)
    ... ]
    >>> [finding.title for finding in diagnose(records).findings]
    ['too selective', 'k too small for this ground truth']
    """
    in_force = thresholds_in_force(thresholds)
    cuts = None if by is None else (by,) if isinstance(by, str) else tuple(by)
    function = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    if ground_truth is not None:
        ground_truth = load(ground_truth, "ground_truth")
    now = prepare(data, ground_truth=ground_truth, run=run, rel=rel, **preparing)
    k = _cutoff(k, now)

    def look(prepared: Prepared) -> tuple[Diagnosis, Scores]:
        metrics = [metric.with_rel(rel) for metric in parse(METRICS, [k])]
        scores = score(prepared, metrics, confidence=confidence, resamples=resamples, seed=seed)
        return _diagnosis(prepared, scores, k, in_force, cuts, price, function), scores

    diagnosis, scores = look(now)
    if before is None:
        return diagnosis
    preparing.pop("progress", None)
    then = prepare(
        before, ground_truth=_same_truth(before, ground_truth, now), rel=rel, **preparing
    )
    earlier, earlier_scores = look(then)
    compared = [m.name for m in scores.metrics if m.stem.partition("(")[0] in COMPARED]
    comparison = compare_scores(
        {"before": earlier_scores, "now": scores}, metrics=compared, anyway=anyway,
        level=confidence, seed=seed,
    )  # fmt: skip
    return replace(diagnosis, before=earlier, comparison=comparison)


def rules() -> list[dict[str, Any]]:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> rules()[0]["thresholds"]
    {'too_selective.precision': 0.6, 'too_selective.recall': 0.5}
    """
    return [
        {
            "name": rule.name,
            "title": rule.title,
            "holds_when": rule.holds_when.format(
                **{name: f"{value:g}" for name, value in rule.thresholds.items()}
            ),
            "thresholds": {f"{rule.name}.{n}": v for n, v in rule.thresholds.items()},
        }
        for rule in RULES
    ]


def _cutoff(k: Any, prepared: Prepared) -> int:
    if k is not None:
        return check_cutoff(k)
    depth = int(prepared.matches.retrieved.max(initial=0))
    return min(DEFAULT_K, depth) if depth else DEFAULT_K


def _same_truth(before: Any, ground_truth: Any, now: Prepared) -> Any:
    """The ground truth that an earlier run is measured against, where it brings none itself."""
    if ground_truth is not None:
        return ground_truth
    return None if load(before, "run").ground_truth is not None else now.ground_truth


def _diagnosis(
    prepared: Prepared,
    scores: Scores,
    k: int,
    thresholds: Mapping[str, float],
    cuts: tuple[str, ...] | None,
    price: float | None,
    tokenizer: Callable[[str], Any] | None,
) -> Diagnosis:
    matches = prepared.matches
    context = Context.of(prepared.run, matches, ties=prepared.policy.ties, rel=prepared.rel)
    tokens = context.tokens(tokenizer)
    if tokens is None and (price is not None or tokenizer is not None):
        raise InvalidInput(
            "The tokens of the results are not known: some results have neither a number of "
            "tokens nor a text; give 'tokens' or 'text' with every result, or leave out the price."
        )
    evidence = Evidence(
        k, scores, prepared.ground_truth, matches, context, prepared.rel, tokens, price, cuts
    )
    for name in cuts or ():
        cut(scores, name)  # a tag that does not exist is said whatever the rules look at
    if not evidence.answerable.any():
        raise InvalidInput(
            "There is nothing to diagnose: no query has a relevant target that was measured."
        )
    findings, fine, unchecked = apply_rules(evidence, thresholds)
    return Diagnosis(
        k=k,
        queries=len(scores),
        n=int(np.sum(evidence.answerable)),
        summaries=tuple(scores.summaries.values()),
        findings=findings,
        fine=fine,
        unchecked=unchecked,
        thresholds=dict(thresholds),
        token_source=tokens.source if tokens else None,
        fingerprints=scores.fingerprints,
        settings={**scores.settings, "price": price, "policy": scores.policy.to_dict()},
    )
