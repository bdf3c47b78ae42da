"""Why a retriever fails, and what to do: the rules, tried one by one on the evidence."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import check_cutoff
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import cut
from calipers.questions.compare.rule import compare_scores
from calipers.questions.diagnose import symptoms
from calipers.questions.diagnose.evidence import Evidence
from calipers.questions.diagnose.result import Diagnosis, Finding, Unchecked
from calipers.questions.diagnose.symptoms import Symptom
from calipers.questions.shown_results import Context
from calipers.questions.tokens import load_tokenizer
from calipers.words import did_you_mean

Check = Callable[[Evidence, Mapping[str, float]], Symptom | str | None]
"""What was seen; None where nothing is wrong; a sentence where it cannot be checked."""


@dataclass(frozen=True)
class Rule:
    """One failure mode: how it is called, when it holds, what decides."""

    name: str
    title: str
    holds_when: str
    thresholds: Mapping[str, float]
    check: Check


RULES: tuple[Rule, ...] = (
    Rule(
        "too_selective",
        "too selective",
        "at least {precision} of what is shown holds a target, and recall is at most {recall}",
        {"precision": 0.6, "recall": 0.5},
        symptoms.too_selective,
    ),
    Rule(
        "finds_little",
        "finds too little",
        "recall is at most {recall}, and less than {precision} of what is shown holds a target",
        {"precision": 0.6, "recall": 0.5},
        symptoms.finds_little,
    ),
    Rule(
        "too_wide",
        "too wide",
        "recall is at least {recall}, and at most {precision} of what is shown holds a target",
        {"precision": 0.3, "recall": 0.8},
        symptoms.too_wide,
    ),
    Rule(
        "ordered_badly",
        "ordered badly",
        "the same results in the best order would have an ndcg higher by at least {gain}",
        {"gain": 0.15},
        symptoms.ordered_badly,
    ),
    Rule(
        "buried_in_the_middle",
        "buried in the middle",
        "the middle third of the list holds more of the hits than chance would put there, by at "
        "least {excess}",
        {"excess": 0.15},
        symptoms.buried_in_the_middle,
    ),
    Rule(
        "wrong_chunk",
        "right document, wrong chunk",
        "for at least {share} of the missed targets, another chunk of their document is shown",
        {"share": 0.3},
        symptoms.wrong_chunk,
    ),
    Rule(
        "duplicates",
        "duplicates crowd the list",
        "at least {share} of what is shown repeats an earlier result",
        {"share": 0.1},
        symptoms.duplicates,
    ),
    Rule(
        "k_too_small",
        "k too small for this ground truth",
        "even a perfect ranking would have a recall of at most {recall}",
        {"recall": 0.9},
        symptoms.k_too_small,
    ),
    Rule(
        "k_too_large",
        "k too large for this ground truth",
        "even a perfect ranking would have a precision of at most {precision}",
        {"precision": 0.2},
        symptoms.k_too_large,
    ),
    Rule(
        "thin_ground_truth",
        "ground truth too thin",
        "at least {single} of the queries have a single label, or (matched by id) at most "
        "{judged} of what is shown was ever judged",
        {"single": 0.8, "judged": 0.2},
        symptoms.thin_ground_truth,
    ),
    Rule(
        "slice_collapses",
        "a slice collapses while the mean looks fine",
        "recall is at least {mean}, and a slice of at least {queries} queries is significantly "
        "below the rest, by at least {gap}",
        {"mean": 0.5, "gap": 0.2, "queries": 5},
        symptoms.slice_collapses,
    ),
)
"""Looked at in this order; every rule that holds is reported. Every number here is a starting point
chosen by hand, not a law; each can be overridden by its name, such as ``too_wide.recall``."""


METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
COMPARED = METRICS[:-1]
DEFAULT_K = 10


def diagnose_pair(
    now: Matched,
    before: Matched | None = None,
    *,
    k: int | None = None,
    thresholds: Mapping[str, float] | None = None,
    by: str | Iterable[str] | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    anyway: bool = False,
    ks: Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Diagnosis:
    """The failure modes of one pair, and what changed since an earlier one of the same queries."""
    in_force = thresholds_in_force(thresholds)
    cuts = None if by is None else (by,) if isinstance(by, str) else tuple(by)
    function = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    k = check_cutoff(k) if k is not None else min(DEFAULT_K, now.depth or DEFAULT_K)

    def look(pair: Matched) -> tuple[Diagnosis, Scores]:
        metrics = [metric.with_rel(pair.rel) for metric in parse(METRICS, [k])]
        scores = score(pair, metrics, confidence=confidence, cluster=cluster)
        return _diagnosis(pair, scores, k, in_force, cuts, price, function, ks), scores

    diagnosis, scores = look(now)
    if before is None:
        return diagnosis
    earlier, earlier_scores = look(before)
    compared = [m.name for m in scores.metrics if m.stem.partition("(")[0] in COMPARED]
    comparison = compare_scores(
        {"before": earlier_scores, "now": scores},
        metrics=compared,
        anyway=anyway,
        level=confidence,
        cluster=cluster,
    )
    return replace(diagnosis, before=earlier, comparison=comparison)


def list_rules() -> list[dict[str, Any]]:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> list_rules()[0]["thresholds"]
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


def thresholds_in_force(changes: Mapping[str, float] | None = None) -> dict[str, float]:
    """Every threshold by its full name, with the changes of the caller.

    >>> thresholds_in_force({"too_wide.recall": 0.7})["too_wide.recall"]
    0.7
    """
    known = {
        f"{rule.name}.{name}": value for rule in RULES for name, value in rule.thresholds.items()
    }
    for name, value in (changes or {}).items():
        if name not in known:
            raise InvalidInput(
                f"There is no threshold {name!r}; the thresholds are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
            raise InvalidInput(f"The threshold {name} is {value!r}; it must be a number.")
        known[name] = float(value)
    return known


def apply_rules(
    evidence: Evidence, thresholds: Mapping[str, float]
) -> tuple[tuple[Finding, ...], tuple[str, ...], tuple[Unchecked, ...]]:
    """What was found, what was checked and is fine, and what could not be checked."""
    findings: list[Finding] = []
    fine: list[str] = []
    unchecked: list[Unchecked] = []
    for rule in RULES:
        own = {name: thresholds[f"{rule.name}.{name}"] for name in rule.thresholds}
        seen = rule.check(evidence, own)
        if seen is None:
            fine.append(rule.title)
        elif isinstance(seen, str):
            unchecked.append(Unchecked(rule.name, rule.title, seen))
        else:
            findings.append(
                Finding(
                    rule.name, rule.title, seen.confidence, seen.evidence, seen.advice, seen.numbers
                )
            )
    return tuple(findings), tuple(fine), tuple(unchecked)


def _diagnosis(
    pair: Matched,
    scores: Scores,
    k: int,
    thresholds: Mapping[str, float],
    cuts: tuple[str, ...] | None,
    price: float | None,
    tokenizer: Callable[[str], Any] | None,
    ks: Sequence[int] | None,
) -> Diagnosis:
    matches = pair.matches
    context = Context.of(pair.run, matches, ties=pair.policy.ties, rel=pair.rel)
    tokens = context.tokens(tokenizer)
    if tokens is None and (price is not None or tokenizer is not None):
        raise InvalidInput(
            "The tokens of the results are not known: some results have neither a number of "
            "tokens nor a text; give 'tokens' or 'text' with every result, or leave out the price."
        )
    evidence = Evidence(
        k,
        scores,
        pair.ground_truth,
        matches,
        context,
        pair.rel,
        tokens,
        price,
        cuts,
        None if ks is None else tuple(ks),
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
