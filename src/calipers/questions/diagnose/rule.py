"""Why a retriever fails, and what to do: the rules of ``symptoms``, applied to one pair."""

import numpy as np

from calipers.engines.scoring import score
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import check_cutoff
from calipers.model.matched import Matched
from calipers.questions.diagnose.evidence import Evidence
from calipers.questions.diagnose.result import Diagnosis, Finding, Unchecked
from calipers.questions.diagnose.symptoms import RULES

METRICS = ("recall", "precision", "ndcg", "mrr", "hit_rate", "judged")
DEFAULT_K = 10


def diagnose_pair(
    pair: Matched,
    *,
    k: int | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
) -> Diagnosis:
    """Diagnose one pair."""
    k = check_cutoff(k) if k is not None else min(DEFAULT_K, pair.depth or DEFAULT_K)
    metrics = [metric.with_rel(pair.rel) for metric in parse(METRICS, [k])]
    scores = score(pair, metrics, confidence=confidence, cluster=cluster)
    seen = Evidence(pair, scores, k)
    if not seen.answerable.any():
        raise InvalidInput(
            "There is nothing to diagnose: no query has a relevant target that was measured."
        )
    findings: list[Finding] = []
    fine: list[str] = []
    unchecked: list[Unchecked] = []
    for rule in RULES:
        found = {finding.rule for finding in findings}
        instead = next((why for other, why in rule.unless.items() if other in found), None)
        symptom = instead or rule.check(seen)
        if symptom is None:
            fine.append(rule.title)
        elif isinstance(symptom, str):
            unchecked.append(Unchecked(rule.name, rule.title, symptom))
        else:
            findings.append(Finding(rule.name, rule.title, **vars(symptom)))
    return Diagnosis(
        k=k,
        queries=len(scores),
        n=int(np.sum(seen.answerable)),
        summaries=tuple(scores.summaries.values()),
        findings=tuple(findings),
        fine=tuple(fine),
        unchecked=tuple(unchecked),
        fingerprints=scores.fingerprints,
        settings={**scores.settings, "policy": scores.policy.to_dict()},
    )
