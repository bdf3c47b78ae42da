"""Why a retriever fails, and what to do: the rules, and how they are applied."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import check_cutoff
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import cut, cuts_of
from calipers.questions.compare.rule import compare_scores
from calipers.questions.diagnose import symptoms
from calipers.questions.diagnose.evidence import Evidence
from calipers.questions.diagnose.result import Diagnosis, Finding, RuleList, Unchecked
from calipers.questions.diagnose.symptoms import Symptom
from calipers.questions.tokens import load_tokenizer

Check = Callable[[Evidence, Mapping[str, float]], Symptom | str | None]
"""Returns the symptom, None if nothing is wrong, or a sentence if it cannot be checked."""


@dataclass(frozen=True)
class Rule:
    """One failure mode: its name, when it applies, and its check."""

    name: str
    title: str
    holds_when: str
    thresholds: Mapping[str, float]
    check: Check
    unless: Mapping[str, str] = field(default_factory=dict)
    """The rules whose finding makes this one redundant, and why."""


_NO_RANKING = {"same_answer": "every query gets the same list"}
_HUB = {"hub": "one document stands above everything"}

RULES: tuple[Rule, ...] = (
    Rule(
        "retriever_fails",
        "the retriever fails on queries",
        "the retriever raised an error for at least {share} of the queries",
        {"share": 0.001},
        symptoms.retriever_fails,
    ),
    Rule(
        "same_answer",
        "the same answer for every query",
        "at least {share} of the queries get the very same list, though they look for "
        "different things",
        {"share": 0.5},
        symptoms.same_answer,
    ),
    Rule(
        "hub",
        "a hub document first in every list",
        "the same result stands first for at least {share} of the queries, though they look for "
        "other, different things",
        {"share": 0.5},
        symptoms.hub,
        _NO_RANKING,
    ),
    Rule(
        "nothing_returned",
        "nothing returned for some queries",
        "at least {share} of the queries with something to find got no results",
        {"share": 0.05},
        symptoms.nothing_returned,
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
        "too_selective",
        "too selective",
        "recall is at most {recall} of what is possible, and where targets are missed at "
        "most {places} of the k places are used",
        {"recall": 0.85, "places": 0.8},
        symptoms.too_selective,
    ),
    Rule(
        "wrong_chunk",
        "right document, wrong chunk",
        "recall is at most {recall}, and for at least {share} of the missed targets "
        "another chunk of their document is shown",
        {"share": 0.3, "recall": 0.85},
        symptoms.wrong_chunk,
    ),
    Rule(
        "slice_collapses",
        "a slice collapses",
        "recall in a slice of at least {queries} queries is significantly below the rest, by at "
        "least {gap}",
        {"gap": 0.2, "queries": 5},
        symptoms.slice_collapses,
        _NO_RANKING,
    ),
    Rule(
        "finds_little",
        "finds too little",
        "recall is at most {recall} of what is possible, in the queries that got results",
        {"recall": 0.8},
        symptoms.finds_little,
        {**_NO_RANKING, "too_selective": "the lists end before k"},
    ),
    Rule(
        "thin_ground_truth",
        "ground truth too thin",
        "the only label of at least {close} of the queries stands second or third, below what "
        "nobody judged; or, where bad results were judged as well, ndcg is at most {ndcg} and at "
        "most {judged} of what is shown was judged where it falls short",
        {"close": 0.5, "ndcg": 0.9, "judged": 0.2},
        symptoms.thin_ground_truth,
        _HUB,
    ),
    Rule(
        "ordered_badly",
        "ordered badly",
        "the same results in the best order would have an ndcg higher by at least {gain}, read "
        "from the top or from both ends (the middle is named where it holds {middle} more of the "
        "hits than chance would)",
        {"gain": 0.15, "middle": 0.15},
        symptoms.ordered_badly,
        {**_NO_RANKING, **_HUB, "thin_ground_truth": "nobody judged what stands above the targets"},
    ),
    Rule(
        "k_too_large",
        "k larger than needed",
        "recall is at least {recall}, and a k that keeps it, as a sweep guesses, shows at least "
        "{results} results fewer per query",
        {"recall": 0.8, "results": 10},
        symptoms.k_too_large,
    ),
)
"""First what spoils every number, then causes of misses, then what is found but ranked wrongly.

Every rule that applies is reported. The thresholds are starting points chosen by hand; each can be
overridden by its name, such as ``finds_little.recall``."""


METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
COMPARED = METRICS[:-1]
DEFAULT_K = 10


def diagnose_pair(
    now: Matched,
    before: Matched | None = None,
    *,
    k: int | None = None,
    by: str | Iterable[str] | None = None,
    price: float | None = None,
    tokenizer: str | Callable[[str], Any] | None = None,
    anyway: bool = False,
    ks: Sequence[int] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Diagnosis:
    """Diagnose one pair, and what changed since an earlier one of the same queries."""
    cuts = None if by is None else (by,) if isinstance(by, str) else tuple(by)
    function = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    k = check_cutoff(k) if k is not None else min(DEFAULT_K, now.depth or DEFAULT_K)

    def look(pair: Matched) -> tuple[Diagnosis, Scores]:
        metrics = [metric.with_rel(pair.rel) for metric in parse(METRICS, [k])]
        scores = score(pair, metrics, confidence=confidence, cluster=cluster)
        seen = Evidence.of(pair, scores, k, price=price, cuts=cuts, ks=ks, tokenizer=function)
        if seen.token_source is None and (price is not None or function is not None):
            raise InvalidInput(
                "The tokens of the results are not known: some results have neither a number of "
                "tokens nor a text; give 'tokens' or 'text' with every result, or leave out the "
                "price."
            )
        for name in cuts_of(scores, cuts or ()):
            cut(scores, name)  # an unknown tag is an error even if no rule uses it
        if not seen.answerable.any():
            raise InvalidInput(
                "There is nothing to diagnose: no query has a relevant target that was measured."
            )
        return _diagnosis(seen), scores

    diagnosis, scores = look(now)
    if before is None:
        return diagnosis
    earlier, earlier_scores = look(before)
    compared = [m.name for m in scores.metrics if m.kind in COMPARED]
    comparison = compare_scores(
        {"before": earlier_scores, "now": scores},
        metrics=compared,
        anyway=anyway,
        level=confidence,
        cluster=cluster,
    )
    return replace(diagnosis, before=earlier, comparison=comparison)


def list_rules() -> RuleList:
    """Every rule of ``diagnose`` as plain values: when it holds, and its thresholds.

    >>> list_rules()[0]["thresholds"]
    {'retriever_fails.share': 0.001}
    """
    return RuleList(
        {
            "name": rule.name,
            "title": rule.title,
            "holds_when": rule.holds_when.format(
                **{name: f"{value:g}" for name, value in rule.thresholds.items()}
            ),
            "thresholds": {f"{rule.name}.{n}": v for n, v in rule.thresholds.items()},
        }
        for rule in RULES
    )


def apply_rules(
    evidence: Evidence,
) -> tuple[tuple[Finding, ...], tuple[str, ...], tuple[Unchecked, ...]]:
    """Return the findings, the rules that found nothing, and those that could not be checked."""
    findings: list[Finding] = []
    fine: list[str] = []
    unchecked: list[Unchecked] = []
    for rule in RULES:
        found = {finding.rule for finding in findings}
        instead = next((why for other, why in rule.unless.items() if other in found), None)
        seen = instead or rule.check(evidence, rule.thresholds)
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


def _diagnosis(seen: Evidence) -> Diagnosis:
    scores = seen.scores
    findings, fine, unchecked = apply_rules(seen)
    return Diagnosis(
        k=seen.k,
        queries=len(scores),
        n=int(np.sum(seen.answerable)),
        summaries=tuple(scores.summaries.values()),
        findings=findings,
        fine=fine,
        unchecked=unchecked,
        token_source=seen.token_source,
        fingerprints=scores.fingerprints,
        settings={**scores.settings, "price": seen.price, "policy": scores.policy.to_dict()},
    )
