"""The health of a ground truth, by itself and against a corpus."""

from collections.abc import Iterable
from typing import Any

from calipers.checks import catalogue, labels, queries
from calipers.checks.corpus_findings import corpus_findings, unplaced_spans
from calipers.checks.evidence import CorpusEvidence
from calipers.checks.near_copies import near_copies
from calipers.checks.width import Width
from calipers.io.corpus.read import Corpus
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import Health, HealthFinding

CHECKS = (
    queries.without_ground_truth,
    queries.duplicates,
    queries.near_duplicates,
    labels.contradictions,
    labels.unused_grades,
    labels.single_targets,
    labels.short_quotes,
    labels.repeated_targets,
)
"""What can be checked without a corpus."""


def health(
    ground_truth: GroundTruth,
    corpus: Corpus | None = None,
    *,
    width: Width | None = None,
    notes: Iterable[str] = (),
) -> Health:
    """Everything that can be found, with what was looked at.

    >>> import polars as pl
    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "item": ["a"]}))
    >>> [finding.name for finding in health(truth).findings]
    ['one_target_per_query']
    """
    labels.check_spans(ground_truth)
    notes = list(notes)
    found: list[HealthFinding] = [check(ground_truth) for check in CHECKS]
    facts: dict[str, Any] = {
        "queries": ground_truth.queries.height,
        "targets": ground_truth.targets.height,
        "relevant": int((ground_truth.targets["grade"] > 0).sum()),
    }
    checked = [kind.name for kind in catalogue.ALONE]
    if width is None:
        checked.remove(catalogue.TOO_FEW_QUERIES.name)
    else:
        found.append(width.finding())
        facts["interval"] = width.to_dict()
    if corpus is not None:
        evidence, said = _evidence(ground_truth, corpus)
        notes += [*said, *unplaced_spans(evidence)]
        found += [*corpus_findings(evidence), near_copies(evidence, corpus)]
        facts["chunks"] = evidence.chunks
        checked += [kind.name for kind in catalogue.AGAINST_CORPUS]
    return Health.of(found, facts, notes, checked)


def _evidence(ground_truth: GroundTruth, corpus: Corpus) -> tuple[CorpusEvidence, list[str]]:
    evidence = CorpusEvidence.of(ground_truth)
    evidence.look_through(corpus)
    if ground_truth.kinds != {"item"} or evidence.items.seen:
        return evidence, []
    if not ground_truth.targets["item"].str.contains(r"\s").all():
        return evidence, []
    evidence = CorpusEvidence.of(labels.as_quotes(ground_truth))
    evidence.look_through(corpus)
    note = (
        "No target is the id of a chunk, and all read like texts, so they were taken as quotes; "
        'write them as {"quote": "…"} to make that plain.'
    )
    return evidence, [note]
