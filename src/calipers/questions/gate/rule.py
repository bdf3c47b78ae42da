"""May this change be merged? Check one result against conditions and a baseline."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from calipers.engines.scoring import choose_metrics, deepest, uneven_clusters
from calipers.engines.summary import facts_by_name
from calipers.errors import InvalidInput, check_number
from calipers.io.files.write import check_place
from calipers.measures import Metric, parse
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import clusters_of, copies_in_words
from calipers.questions.baseline import Baseline, write_baseline
from calipers.questions.default_metrics import FINDING, finding_metric
from calipers.questions.gate.condition_checks import (
    check_condition,
    check_must,
    check_raised,
    figures_of,
    raised_by,
)
from calipers.questions.gate.conditions import COMBINED, Condition
from calipers.questions.gate.result import GateRule, Verdict
from calipers.questions.inputs import is_reference
from calipers.version import __version__


def reach_verdict(
    scores: Scores,
    conditions: Sequence[Condition],
    kept: Baseline | None,
    wanted: Sequence[Metric],
    rule: GateRule,
    *,
    named: bool = False,
    primary: str | None = None,
    by: str | Iterable[str] = (),
    must: str | Iterable[str] = (),
    cluster: str | None = None,
    anyway: bool = False,
    rel: float | None = None,
    pair: Matched | None = None,
) -> Verdict:
    """Check that the scores meet the conditions and are not worse than the baseline.

    With ``named`` the user named the metrics, and all of them decide. ``pair`` is what the scores
    were made from, where available: it has what the run recorded, and names what leaked.
    """
    tags = several(by)
    cluster = cluster or scores.settings.get("cluster")
    clusters = clusters_of(scores.tags, cluster, len(scores))
    figures, said = figures_of(conditions, pair)
    asked_for = [replace(one, metric=one.metric and one.metric.with_rel(rel)) for one in conditions]
    checks = [check_condition(scores, one, figures, clusters, pair) for one in asked_for]
    raised = raised_by(scores, pair)
    checks += check_raised(raised, len(scores))
    warnings: list[str] = []
    notes = dict.fromkeys(
        [
            *uneven_clusters(clusters, cluster),
            *(copies_in_words(scores.queries, cluster) if kept else ()),
            *_unchecked(scores, kept, tags),
        ]
    )
    asked: list[str] = []
    pairing = None
    if kept is not None:
        # A gate of conditions alone needs no test of differences.
        from calipers.questions.gate.baseline_checks import against_baseline

        found = against_baseline(
            scores,
            kept,
            wanted,
            rule,
            named=named,
            primary=primary,
            tags=tags,
            clusters=clusters,
            cluster=cluster,
            anyway=anyway,
        )
        pairing, asked, warnings = found.pairing, found.asked, found.warnings
        checks += found.checks
    elif tags:
        raise InvalidInput(
            "Slices are named with --by and there is no baseline to compare them with; give "
            "--baseline, or write the slice into a condition: recall@10 >= 0.8 for tag=value."
        )
    for which in several(must):
        metric = _finding(scores, asked)
        before = pairing.baseline(metric) if pairing and metric in pairing.before else None
        checks.append(check_must(scores, metric, which, before))
    return Verdict(
        checks=tuple(checks),
        warnings=tuple(warnings),
        notes=(*said, *notes),
        queries=len(scores),
        raised=raised,
        baseline=kept.name if kept else None,
        baseline_saved=kept.saved if kept else None,
        primary=asked[0] if asked else None,
        asked=tuple(asked),
        confidence=rule.confidence,
        allow=rule.allow,
        only_shown=rule.only_shown,
        fingerprints=dict(scores.fingerprints),
        calipers=__version__,
    )


def _finding(scores: Scores, asked: Sequence[str]) -> str:
    """The metric that shows whether a question found anything, preferably one asked for."""
    facts = facts_by_name(scores)
    found = finding_metric([facts[name] for name in asked]) or finding_metric(scores.metrics)
    if found is None:
        raise InvalidInput(
            "Questions are named that must not fail, and no metric here says whether something was "
            "found; measure recall or hit_rate too, such as -m recall@10,ndcg@10."
        )
    return found


def metrics_needed(
    conditions: Sequence[Condition],
    wanted: Sequence[Metric],
    rel: float | None,
    weights: Mapping[str, float] | None,
    *,
    must: bool = False,
) -> tuple[Metric, ...]:
    """The metrics to compute for the conditions and the wanted metrics."""
    if any(one.name == COMBINED for one in conditions) and not weights:
        raise InvalidInput(
            "A condition is about the score, which is a weighted mean, and no weights are given; "
            "give them with --score, such as recall@10=0.7,precision@5=0.3."
        )
    asked = [*wanted, *(one.metric for one in conditions if one.metric is not None)]
    if not asked and weights:
        asked = list(parse(list(weights)))
    if not asked and conditions:
        # Only figures are asked for, but the list of queries still comes from scores.
        asked = list(parse("mrr"))
    if must and not any(one.name in FINDING for one in asked):
        asked += parse("recall@10")
    return choose_metrics(asked, None, rel, weights)


def results_needed(conditions: Sequence[Condition], needed: Sequence[Metric]) -> int:
    """How many results to request from a live retriever, also if only tokens are counted."""
    figures = (one.figure.k for one in conditions if one.figure is not None)
    return max([deepest(needed), *(k for k in figures if k is not None)])


def metrics_of_baseline(
    metrics: Any, k: Any, rel: float | None, kept: Baseline | None, primary: str | None = None
) -> tuple[Metric, ...]:
    """The metrics to compare with the baseline: those asked for, or all it has."""
    if metrics is not None:
        chosen = choose_metrics(metrics, k, rel)
        further = () if primary in (None, "score") else parse([primary])
        return tuple(dict.fromkeys((*chosen, *further)))
    if kept is None:
        return ()
    paired = (one for one in kept.scores.metrics if one.aggregate != "geometric")
    return parse([one.name for one in paired if one.better != "neither"])


def _unchecked(scores: Scores, kept: Baseline | None, by: Sequence[str]) -> list[str]:
    lines = list(scores.settings.get("notes") or ())
    here, there = scores.settings["calipers"], kept and kept.scores.settings["calipers"]
    if kept is not None and there != here:
        lines.append(
            f"The baseline {kept.name} was measured with Calipers {there} and this result with "
            f"{here}; the metrics are defined alike in both."
        )
    rest = [tag for tag in scores.tags if tag not in by]
    if kept is None or not rest:
        return lines
    return [
        *lines,
        f"A slice may have got worse all the same: --by {rest[0]} compares each.",
    ]


def several(value: str | Iterable[str]) -> list[str]:
    """Return one or more texts as a list."""
    return [value] if isinstance(value, str) else list(value)


def check_gate(
    rule: GateRule, conditions: Sequence[Condition], baseline: Any, must: str | Iterable[str]
) -> None:
    """Reject settings that make no sense, before any file is read."""
    if not conditions and baseline is None and not several(must):
        raise InvalidInput(
            "The gate has nothing to check; give a condition with --require, such as "
            "'recall@10 >= 0.85', or a --baseline."
        )
    check_number("The confidence", rule.confidence, least=0.5, below=1, such_as=0.95)
    check_number("The loss that is allowed", rule.allow, least=0, such_as=0.02)


def file_of_baseline(baseline: Any, accept: str | None) -> Path:
    """The file to write a new baseline to."""
    if accept is not None and not accept.strip():
        raise InvalidInput('A baseline is accepted for a reason; give it: --accept "why".')
    is_path = isinstance(baseline, str | os.PathLike) and not is_reference(baseline)
    if not is_path or Path(baseline).suffix.lower() != ".json":
        raise InvalidInput(
            "The new baseline is written to the file that holds the old one; give that as "
            "--baseline FILE.json."
        )
    check_place(Path(baseline))
    return Path(baseline)


def with_new_baseline(
    verdict: Verdict,
    scores: Scores,
    name: str,
    target: Path,
    accept: str | None,
    now: datetime | None,
) -> Verdict:
    """Replace the baseline if the result is accepted or better, and return the verdict.

    Otherwise the baseline stays: if every passing build replaced it, many small losses would
    add up and none of them would fail.
    """
    if accept is None and not _is_better(verdict):
        return verdict
    when = now or datetime.now(UTC)
    write_baseline(Baseline(scores, name, when, accepted=accept), target)
    return replace(verdict, accepted=accept, moved_up=accept is None)


def _is_better(verdict: Verdict) -> bool:
    """Whether a result may replace the baseline unasked: significantly better, nothing lost."""
    changes = [check.change for check in verdict.checks if check.change is not None]
    return (
        verdict.standing != "failed"
        and not verdict.raised
        and not verdict.warnings
        and all(change.loss <= 0 for change in changes)
        and any(change.standing == "better" for change in changes)
    )
