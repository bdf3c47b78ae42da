"""The health of a ground truth, by itself and against a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from calipers.checks import catalogue, labels, queries
from calipers.checks.corpus_findings import (
    concentrated,
    corpus_findings,
    near_copies,
    unplaced_spans,
)
from calipers.checks.evidence import CorpusEvidence
from calipers.checks.queries import copied_wording
from calipers.checks.versions import older_first, superseded_targets, unordered
from calipers.io.corpus import Corpus
from calipers.match.choose import as_quotes
from calipers.model.ground_truth import GroundTruth
from calipers.model.health import Health, HealthFinding
from calipers.model.run import Run
from calipers.model.scores import Interval
from calipers.words import plural

WIDEST = 0.1
"""The distance from the mean to the farther end of its interval that is still of use."""


@dataclass(frozen=True)
class Width:
    """The interval to expect of a mean over the queries of a ground truth."""

    queries: int
    metric: str
    mean: float | None
    interval: Interval | None
    """None with fewer than two queries."""
    measured: bool
    """From a run; else the widest that a share of queries can have."""
    needed: int | None = None
    """Queries that bring the distance down to ``WIDEST``."""

    @property
    def margin(self) -> float:
        """The distance from the mean to the farther end; 1 where nothing can be said."""
        if self.interval is None or self.mean is None:
            return 1.0
        return max(self.interval.high - self.mean, self.mean - self.interval.low)

    def sentence(self) -> str:
        """What to expect, in words."""
        if self.interval is None or self.mean is None:
            count = plural(self.queries, "query", "queries")
            return f"{count} with a target: an interval takes at least two."
        ends = f"{self.interval.low:.3f}–{self.interval.high:.3f}"
        if self.measured:
            words = f"{self.metric} of the given results is {self.mean:.3f}, with a"
        else:
            count = plural(self.queries, "query", "queries")
            words = f"Over {count} a hit rate of {self.mean:.2f} would have a"
        needed = f" About {self.needed:,} queries bring it to ±{WIDEST:g}." if self.needed else ""
        return f"{words} {self.interval.level:.0%} interval of {ends} (±{self.margin:.3f}).{needed}"

    def finding(self) -> HealthFinding:
        """Too few queries, if the interval is too wide."""
        return HealthFinding.of_kind(
            catalogue.TOO_FEW_QUERIES,
            count=self.queries if self.margin > WIDEST else 0,
            detail=self.sentence(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The interval as plain data."""
        return {
            "queries": self.queries,
            "metric": self.metric,
            "measured": self.measured,
            "mean": self.mean,
            "low": self.interval.low if self.interval else None,
            "high": self.interval.high if self.interval else None,
            "level": self.interval.level if self.interval else None,
            "margin": self.margin,
            "needed": self.needed,
        }


CHECKS = (
    queries.without_ground_truth,
    queries.duplicates,
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
    further: Sequence[HealthFinding] = (),
    runs: Mapping[str, Run] | None = None,
) -> Health:
    """Everything that can be found, with what was looked at and what was found ``further``.

    ``runs`` are results by name, in which older versions of documents are looked for.

    >>> import polars as pl
    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "item": ["a"]}))
    >>> [finding.name for finding in health(truth).findings]
    ['one_target_per_query']
    """
    labels.check_spans(ground_truth)
    notes = list(notes)
    alike, different = queries.near_duplicates(ground_truth)
    found = [*(check(ground_truth) for check in CHECKS), alike, *further]
    facts: dict[str, Any] = {
        "queries": ground_truth.queries.height,
        "different_queries": different,
        "targets": ground_truth.targets.height,
        "relevant": int((ground_truth.targets["grade"] > 0).sum()),
    }
    checked = [kind.name for kind in catalogue.ALONE] + [one.name for one in further]
    if width is None:
        checked.remove(catalogue.TOO_FEW_QUERIES.name)
    else:
        found.append(width.finding())
        facts["interval"] = width.to_dict()
    passages = labels.quotes_by_query(ground_truth)
    several = None
    if corpus is not None:
        evidence, said = _evidence(ground_truth, corpus)
        notes += [*said, *unplaced_spans(evidence), *unordered(pl.concat(evidence.versions))]
        several = evidence.several_versions
        found += [
            *corpus_findings(evidence),
            near_copies(evidence, corpus),
            concentrated(evidence),
            superseded_targets(several, evidence.held),
        ]
        for query, held in evidence.held:
            passages.setdefault(query, []).extend(evidence.texts[one] for one in held)
        facts["chunks"] = evidence.chunks
        checked += [kind.name for kind in catalogue.AGAINST_CORPUS]
    found.append(copied_wording(queries.asked(ground_truth), passages))
    if runs:
        found.append(older_first(runs, several))
        checked.append(catalogue.OLDER_FIRST.name)
    return Health.of(found, facts, notes, checked)


def _evidence(ground_truth: GroundTruth, corpus: Corpus) -> tuple[CorpusEvidence, list[str]]:
    evidence = CorpusEvidence.of(ground_truth)
    evidence.look_through(corpus)
    if ground_truth.kinds != {"item"} or evidence.items.seen:
        return evidence, []
    if not ground_truth.targets["item"].str.contains(r"\s").all():
        return evidence, []
    evidence = CorpusEvidence.of(as_quotes(ground_truth))
    evidence.look_through(corpus)
    note = (
        "No target is the id of a chunk, and all read like texts, so they were taken as quotes; "
        'write them as {"quote": "…"} to make that plain.'
    )
    return evidence, [note]
