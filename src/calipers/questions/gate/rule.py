"""May this change be merged? Check one result against conditions and a baseline."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from calipers.engines.scoring import (
    choose_metrics,
    cutoffs,
    deepest,
    score,
    uneven_clusters,
)
from calipers.engines.summary import facts_by_name
from calipers.errors import (
    InvalidInput,
    check_number,
)
from calipers.input_types import DataInput
from calipers.io.files.write import check_place
from calipers.measures import Metric, parse
from calipers.model.arrays import Bools, Ints
from calipers.model.claim import Claim
from calipers.model.fact import Fact, Sentence, commanded, joined, named, sentence
from calipers.model.matched import FAILED, Matched
from calipers.model.scores import Scores
from calipers.model.slicing import (
    QuerySlice,
    clusters_of,
    copies_in_words,
    everything,
    queries_where,
    tag_cuts,
)
from calipers.questions.baseline import Baseline, read_baseline, write_baseline
from calipers.questions.default_metrics import (
    DEFAULT_KS,
    FINDING,
    FOUND,
    finding_metric,
)
from calipers.questions.gate.conditions import (
    IN_WORDS,
    OPERATORS,
    Condition,
    parse_condition,
    summary_of,
)
from calipers.questions.gate.result import (
    RETRIEVER,
    Check,
    GateRule,
    Leak,
    Raised,
    Requirement,
    Status,
    Verdict,
    WorstQuery,
    check_of,
    raised_in_words,
    worst_queries,
)
from calipers.questions.inputs import is_reference, matched, with_cautions
from calipers.questions.systems import measured_already, measured_before
from calipers.shell import join_words
from calipers.version import __version__
from calipers.words import did_you_mean

if TYPE_CHECKING:
    from calipers.questions.gate.settings import GateSettings


def check_result(data: DataInput | None, settings: "GateSettings") -> Verdict:
    """Measure what is to be checked, reach a verdict, and move the baseline where that is asked."""
    conditions = [parse_condition(text) for text in _several(settings.require)]
    must = _several(settings.must)
    accept = settings.accept
    if not conditions and settings.baseline is None and not must:
        raise InvalidInput(
            "The gate has nothing to check; give a condition with --require, such as "
            "'recall@10 >= 0.85', or a --baseline."
        )
    check_number("The confidence", settings.confidence, least=0.5, below=1, such_as=0.95)
    check_number("The loss that is allowed", settings.allow, least=0, such_as=0.02)
    moves = accept is not None or settings.move_up
    target = _file_of_baseline(settings.baseline, accept) if moves else None
    kept = _baseline(settings, data)
    wanted = _wanted(settings, kept)
    rel = settings.reading.matching.rel
    pair = None
    scores = measured_already(data, settings.reading, settings.weight_by)
    if scores is None:
        # The new baseline must contain every metric of the old one.
        further = _metrics_in(kept) if moves else ()
        needed = _needed(conditions, (*wanted, *further), rel, must=bool(must))
        pair = matched(
            data,
            settings.reading,
            looks=deepest(needed),
            metrics=settings.metrics,
            tags=_tags_asked(settings, conditions, must),
        )
        rel = pair.rel
        scores = score(
            pair,
            needed,
            confidence=settings.confidence,
            cluster=settings.cluster,
            weight_by=settings.weight_by,
        )
        scores = with_cautions(pair, scores)
    conditions = [
        replace(condition, metric=condition.metric.with_rel(rel))
        for condition in conditions
    ]
    wanted = [metric.with_rel(rel) for metric in wanted]
    verdict = _verdict(scores, pair, conditions, must, kept, wanted, settings)
    if target is None or kept is None or (accept is None and not _is_better(verdict)):
        # Were every build that passes the next baseline, many small losses would add up
        # unseen.
        return verdict
    when = settings.now or datetime.now(UTC)
    write_baseline(Baseline(scores, kept.name, when, accepted=accept), target)
    return replace(verdict, accepted=accept, moved_up=accept is None)


def _verdict(
    scores: Scores,
    pair: Matched | None,
    conditions: Sequence[Condition],
    must: Sequence[str],
    kept: Baseline | None,
    wanted: Sequence[Metric],
    settings: "GateSettings",
) -> Verdict:
    """Check that the scores meet the conditions and are not worse than the baseline.

    ``pair`` is what the scores were made from, where available: it has what the run
    recorded.
    """
    rule = GateRule(settings.confidence, settings.allow, settings.only_shown)
    by = _several(settings.by)
    cluster = settings.cluster or scores.recorded.cluster
    clusters = clusters_of(scores.tags, cluster, len(scores))
    checks = [
        _check_condition(scores, condition, clusters, pair) for condition in conditions
    ]
    raised = _raised(scores, pair)
    checks += [_check_raised(raised, len(scores))] if raised else []
    notes = uneven_clusters(clusters, cluster)
    asked: list[str] = []
    warnings: list[str] = []
    if kept is not None:
        # Without a baseline nothing of compare is loaded.
        from calipers.questions.gate.baseline_checks import check_baseline

        compared, asked, warnings = check_baseline(
            scores, kept, wanted, rule, settings, by, clusters
        )
        checks += [_asking_why(check, settings.baseline, pair) for check in compared]
        notes += copies_in_words(scores.queries, cluster)
    elif by:
        raise InvalidInput(
            "Slices are named with --by and there is no baseline to compare them with; "
            "give --baseline, or write the slice into a condition: recall@10 >= 0.8 for "
            "tag=value."
        )
    notes += scores.recorded.notes
    cuts = [
        tag
        for tag in tag_cuts(scores.tags)
        if tag not in (cluster, scores.recorded.weight_by)
    ]
    if kept is not None and not by and cuts:
        notes.append(f"A slice may still be worse: --by {cuts[0]} compares each.")
    measured = [*asked, *(check.metric for check in checks if check.metric)]
    if gone := _left_out(scores, measured):
        notes.append(gone)
    checks += [_check_must(scores, _finding(scores, asked), tag) for tag in must]
    return Verdict(
        checks=tuple(checks),
        warnings=tuple(warnings),
        notes=tuple(dict.fromkeys(notes)),
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


def _asking_why(check: Check, baseline: object, pair: Matched | None) -> Check:
    """A failed check with the command that says why its queries find less, where one does."""
    failed = check.status == "failed" and check.slice is None and check.metric
    if not failed or check.claim is None or pair is None:
        return check
    if not isinstance(baseline, str | os.PathLike):
        return check
    metric = parse(check.metric or "")[0]
    if metric.name not in FOUND or metric.k is None:
        return check
    words = ["--worse-than", os.fspath(baseline)]
    words += [] if metric.k == DEFAULT_KS[-1] else ["-k", str(metric.k)]
    why = commanded("Why: {it.text}", f"`calipers misses {join_words(words)}`")
    return replace(check, claim=replace(check.claim, next=why))


def _left_out(scores: Scores, metrics: Sequence[str]) -> str | None:
    """Who leaves the mean of the first of these metrics that the scores have."""
    by_name = {facts.name: facts for facts in scores.metrics}
    first = next((by_name[name] for name in metrics if name in by_name), None)
    if first is None or not np.isnan(scores.of(first.name)).any():
        return None
    from calipers.present.scores import left_out

    return left_out(scores, first)


def _baseline(settings: "GateSettings", data: DataInput | None) -> Baseline | None:
    """The result to compare with, from scores, a file or the history; None if none is named."""
    named = settings.baseline
    if named is None:
        return None
    kept = measured_before(named, settings.reading.matching.store)
    if kept is not None:
        return kept
    if isinstance(named, str | os.PathLike) and Path(named).is_file():
        from calipers.questions.gate.run_as_baseline import refuse_run

        refuse_run(Path(named), data, settings)
    return read_baseline(named)


def _several(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _file_of_baseline(baseline: Any, accept: str | None) -> Path:
    """The file to write a new baseline to."""
    is_path = isinstance(baseline, str | os.PathLike) and not is_reference(baseline)
    is_file = is_path and Path(baseline).suffix.lower() == ".json"
    if not is_file or (accept is not None and not accept.strip()):
        raise InvalidInput(
            "A new baseline is written to the file that holds the old one, and accepted for a "
            'reason; give both: --baseline FILE.json --accept "why".'
        )
    check_place(Path(baseline))
    return Path(baseline)


def _is_better(verdict: Verdict) -> bool:
    """Whether a result may replace the baseline unasked: significantly better, nothing lost."""
    compared = [check for check in verdict.checks if check.change is not None]
    return (
        verdict.standing != "failed"
        and not verdict.raised
        and not verdict.warnings
        and all(check.loss <= 0 for check in compared)
        and any(check.change and check.change.verdict == "better" for check in compared)
    )


def _wanted(settings: "GateSettings", kept: Baseline | None) -> Sequence[Metric]:
    """The metrics to compare with the baseline: those asked for, or all it has at these k."""
    if settings.metrics is None:
        return _metrics_at(cutoffs(settings.k), kept)
    further = () if settings.primary is None else parse([settings.primary])
    chosen = choose_metrics(settings.metrics, settings.k, settings.reading.matching.rel)
    return tuple(dict.fromkeys((*chosen, *further)))


def _metrics_at(ks: Sequence[int] | None, kept: Baseline | None) -> Sequence[Metric]:
    """The metrics of a baseline that look at the first k results, for some k; None: all."""
    every = _metrics_in(kept)
    if ks is None or kept is None:
        return every
    chosen = [metric for metric in every if metric.k in ks]
    if every and not chosen:
        known = sorted({metric.k for metric in every if metric.k is not None})
        wanted = ",".join(map(str, ks))
        have = (
            f"its k are {', '.join(map(str, known))}" if known else "it has none with a k"
        )
        raise InvalidInput(
            f"The baseline {kept.name} has no metric at k = {wanted}; {have}. Leave -k out, or "
            f"save the baseline again with -k {wanted}."
        )
    return chosen


def _metrics_in(kept: Baseline | None) -> tuple[Metric, ...]:
    """The metrics of a baseline that have a direction."""
    metrics = kept.scores.metrics if kept else ()
    return parse([metric.name for metric in metrics if metric.better != "neither"])


def _needed(
    conditions: Sequence[Condition],
    wanted: Sequence[Metric],
    rel: float | None,
    *,
    must: bool,
) -> tuple[Metric, ...]:
    """The metrics to compute for the conditions and the wanted metrics."""
    metrics = [*wanted, *(condition.metric for condition in conditions)]
    if must and not any(metric.name in FINDING for metric in metrics):
        metrics += parse("recall@10")
    return choose_metrics(metrics, None, rel)


def _finding(scores: Scores, asked: Sequence[str]) -> str:
    """The metric that shows whether a question found anything, preferably one asked for."""
    facts = facts_by_name(scores)
    metric = finding_metric([facts[name] for name in asked]) or finding_metric(
        scores.metrics
    )
    if metric is None:
        raise InvalidInput(
            "Questions are named that must not fail, and no metric here says whether "
            "something was found; measure recall or hit_rate too, such as -m "
            "recall@10,ndcg@10."
        )
    return metric


def _check_condition(
    scores: Scores,
    condition: Condition,
    clusters: Ints | None,
    pair: Matched | None,
) -> Check:
    """Check whether the mean meets the condition on its queries."""
    part = everything(scores)
    if condition.tag is not None and condition.tag_value is not None:
        where = {condition.tag: condition.tag_value}
        chosen = queries_where(scores.queries, scores.tags, where).to_numpy()
        part = QuerySlice(f"{condition.tag}={condition.tag_value}", chosen)
    values = scores.of(condition.name)
    summary = summary_of(scores, condition.name, part, clusters)
    if summary.mean is None:
        raise InvalidInput(
            f"The condition '{condition}' cannot be decided: {condition.name} is "
            f"undefined for all {int(part.chosen.sum())} queries it is about; choose "
            "another metric, or label them."
        )
    holds = condition.holds(summary.mean)
    ends = summary.interval
    least = f"{IN_WORDS[condition.op]} {condition.value:.15g}"
    what = condition.name if part.name is None else f"{condition.name} for {part.name}"
    fact = Fact(
        about="requirement",
        metric=condition.name,
        slice=part.name,
        value=summary.mean,
        before=condition.value,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        queries=summary.n,
        sure=holds,
        text=str(condition),
    )
    likely = None
    # Whatever the interval is, if it decides nothing it is not worth a line.
    if ends and ends.low < condition.value < ends.high:
        likely = sentence(
            "On new queries {what} is likely between {it.low} and {it.high}, so "
            "{it.text} could {other}.",
            what=what,
            it=fact,
            other="fail" if holds else "pass",
        )
    # For an upper limit (fp@10 <= 3) the queries with the highest values are the worst.
    short = part.chosen & ~OPERATORS[condition.op](values, condition.value)
    weight = np.where(short, values if condition.op in (">=", ">") else -values, np.nan)
    status: Status = "passed" if holds else "failed"
    fact_sentence = sentence(
        "{what} is {it.value} on {it.queries:query|queries}; {op} {it.before:.15g} is "
        "required.",
        what=what,
        it=fact,
        op=IN_WORDS[condition.op],
    )
    return check_of(
        summary,
        name=str(condition),
        metric=condition.name,
        slice=part.name,
        status=status,
        requirement=Requirement(condition.op, condition.value),
        because=() if holds else (f"{least} required",),
        claim=Claim(status, fact_sentence, likely),
        worst=() if holds else worst_queries(scores.queries, weight, values),
        leaks=() if holds or pair is None else _leaks(pair, condition.metric, part),
    )


def _leaks(pair: Matched, metric: Metric, part: QuerySlice) -> tuple[Leak, ...]:
    """Every forbidden result by query, if the metric counts leaks."""
    leaked = pair.matches.leaked
    if metric.name not in ("leak", "leak_rate") or leaked is None:
        return ()
    queries = pair.matches.queries.select("query", "text").rows()
    columns = (leaked.query.tolist(), leaked.rank.tolist(), leaked.result, leaked.name)
    return tuple(
        Leak(queries[query][0], queries[query][1], rank, result, name)
        for query, rank, result, name in zip(*columns, strict=True)
        if part.chosen[query] and (metric.k is None or rank <= metric.k)
    )


def _check_must(scores: Scores, metric: str, tag: str) -> Check:
    """Check that every question of a tag or a list finds something."""
    chosen = _chosen(scores, tag)
    values = scores.of(metric)
    n = int(chosen.sum())
    lost = np.flatnonzero(chosen & (values == 0)).tolist()
    unknown = int(np.count_nonzero(chosen & np.isnan(values)))
    because = []
    if lost:
        because.append(f"{len(lost):,} of {n:,} found nothing")
    if unknown:
        because.append(f"{metric} is undefined for {unknown:,} of them")
    names = scores.queries["query"]
    texts = scores.queries["text"]
    first = named(texts[lost[0]] or names[lost[0]]) if lost else None
    status: Status = "failed" if lost else "no clear difference" if unknown else "passed"
    n_found = n - len(lost) - unknown
    fact = Fact(about="count", count=n_found, of=n, metric=metric, text=tag)
    count_sentence = sentence(
        "{it.count} of {it.of} questions that must not fail find something ({it.text}, "
        "{it.metric})",
        it=fact,
    )
    other = sentence("{it.text} does not", it=first) if first else None
    return Check(
        name=f"{tag} must not fail",
        metric=metric,
        slice=None,
        status=status,
        value=n_found / n,
        interval=None,
        n=n,
        undefined=unknown,
        because=tuple(because),
        claim=Claim(status, joined(joined(count_sentence, other, by="; "), ".", by="")),
        worst=tuple(WorstQuery(names[row], texts[row], 0.0) for row in lost),
    )


def _tags_asked(
    settings: "GateSettings", conditions: Sequence[Condition], must: Sequence[str]
) -> list[str]:
    """The tags that the queries are cut by."""
    by_conditions = [condition.tag for condition in conditions if condition.tag]
    by_must = [named.partition("=")[0].strip() for named in must if "=" in named]
    cut = (settings.cluster, settings.weight_by, *_several(settings.by))
    return [*by_conditions, *by_must, *filter(None, cut)]


def _chosen(scores: Scores, named: str) -> Bools:
    """Select the questions with a tag's value, or those in a file with one id per line."""
    if not Path(named).is_file():
        tag, equals, value = (part.strip() for part in named.partition("="))
        if not equals:
            raise InvalidInput(
                f"{named!r} does not say which questions must not fail: there is no such "
                "file, and it is not TAG=VALUE, such as priority=high."
            )
        tagged: Bools = queries_where(
            scores.queries, scores.tags, {tag: value}
        ).to_numpy()
        return tagged
    wanted = Path(named).read_text(encoding="utf-8").split("\n")
    wanted = [word.strip() for word in wanted if word.strip()]
    has = scores.queries["query"]
    known = set(has)
    unknown = next((word for word in wanted if word not in known), None)
    if unknown is not None or not wanted:
        raise InvalidInput(
            f"{named} names questions that must not fail and holds {unknown!r}, which no "
            f"question has; give one id a line.{did_you_mean(unknown or '', has)}"
        )
    mask: Bools = has.is_in(wanted).to_numpy()
    return mask


def _raised(scores: Scores, pair: Matched | None) -> tuple[Raised, ...]:
    """The questions on which the retriever failed, with their errors if known."""
    failed = scores.queries.filter(pl.col("status") == FAILED).select("query", "text")
    queries = pair.run.queries if pair is not None else None
    known = queries is not None and "error" in queries.columns
    errors = (
        dict(queries.select("query", "error").rows())
        if queries is not None and known
        else {}
    )
    return tuple(Raised(query, text, errors.get(query)) for query, text in failed.rows())


def _check_raised(raised: tuple[Raised, ...], queries: int) -> Check:
    """A check that cannot pass: what the retriever would have found is unknown."""
    words = raised_in_words(raised, queries)
    further = Sentence("Repair the retriever, and run the gate again.")
    return Check(
        name=RETRIEVER,
        metric="answers",
        slice=None,
        status="no clear difference",
        value=1.0 - len(raised) / queries,
        interval=None,
        n=queries,
        undefined=0,
        because=(words,),
        claim=Claim("no clear difference", joined(words, ".", by=""), next=further),
    )
