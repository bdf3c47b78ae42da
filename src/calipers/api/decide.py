"""Hold results against each other, against a baseline and against conditions; show them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.keywords import Matching, Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.api.asking import Watch
    from calipers.measures import Metric
    from calipers.model.comparison import Comparison
    from calipers.model.floor import Floor
    from calipers.model.gate import Baseline, Verdict
    from calipers.model.plot import Plot
    from calipers.model.report import Report


@operation(page="compare", command="compare")
def compare(
    systems: Mapping[str, Any] | Sequence[Any] = (),
    ground_truth: Any = None,
    *,
    retrievers: Mapping[str, Any] | None = None,
    ask_for: int | None = None,
    workers: int | None = None,
    watch: "Watch | None" = None,
    baseline: str | None = None,
    anyway: bool = False,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    **matching: Unpack[Matching],
) -> "Comparison":
    """Compare systems on the same queries: is the difference more than noise?

    ``systems`` maps a name to a pair that ``read`` made, to a run (a path, a mapping, records, a
    table), to a file or records with their own ground truth, to a result file of
    ``calipers eval --json``, to a reference such as ``@nightly~1`` (looked up in ``store``), or
    to scores; a list of paths takes its names from the files. ``retrievers`` maps a name to a
    live retriever, as ``retrieve`` takes it: all are asked the questions of the ground truth, for
    ``ask_for`` results (default: as many as the metrics look at). ``baseline`` is the name of the
    system that the others are held against (default: the first). Differences of ground truth,
    queries or policies block the comparison unless ``anyway`` is true, and then the result says
    so. ``resamples`` is the number of sign flips; the other arguments are those of ``evaluate``.

    >>> truth = {f"q{i}": ["a"] for i in range(12)}
    >>> good, bad = ({q: order for q in truth} for order in (["a", "b"], ["b", "a"]))
    >>> comparison = compare({"old": bad, "new": good}, truth, metrics="mrr")
    >>> found = comparison.difference("new", "mrr")
    >>> found.difference, found.verdict, found.wins, found.losses
    (0.5, 'better', 12, 0)
    """
    from calipers.analyse.compare import compare_scores, metrics_compared
    from calipers.analyse.scoring import choose_metrics, score
    from calipers.api.inputs import matched_systems, measured_before, name_systems, with_retrievers

    named = with_retrievers(
        name_systems(systems), retrievers, ground_truth, choose_metrics(metrics, k, None, weights),
        {"ask_for": ask_for, "workers": workers, "watch": watch},
    )  # fmt: skip
    given = {name: measured_before(value, matching.get("store")) for name, value in named.items()}
    ready = {name: found.scores for name, found in given.items() if found is not None}
    chosen = metrics_compared(metrics, k, matching.get("rel"), weights, list(ready.values()))
    pairs = matched_systems(
        {name: value for name, value in named.items() if name not in ready},
        ground_truth, matching, measured=bool(ready),
    )  # fmt: skip
    measured = {
        name: ready[name] if name in ready else score(
            pairs[name], chosen or choose_metrics(None, None, None, weights), weights=weights,
            confidence=confidence, seed=seed,
        )
        for name in named
    }  # fmt: skip
    wanted = None if chosen is None else [str(metric) for metric in chosen]
    if wanted and weights:
        wanted.append("score")
    return compare_scores(
        measured, baseline=baseline, metrics=wanted, anyway=anyway,
        level=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip


@operation(page="gate", command="gate")
def gate(
    data: Any = None,
    *,
    require: str | Iterable[str] = (),
    baseline: Any = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    by: str | Iterable[str] = (),
    tolerance: float | None = None,
    max_age: str | None = None,
    anyway: bool = False,
    weights: Mapping[str, float] | None = None,
    alpha: float = 0.05,
    resamples: int = 10_000,
    seed: int = 0,
    now: datetime | None = None,
    **reading: Unpack[Reading],
) -> "Verdict":
    """Check a result against conditions, and against a baseline.

    ``data`` is a pair, anything that ``read`` takes, or a result that ``evaluate`` made.
    ``require`` are conditions, such as ``"recall@10 >= 0.85 for type=multi-hop"``,
    ``"latency_p95 <= 300ms"`` or ``"leak_rate@10 == 0"``. With a
    ``baseline`` (a file of ``calipers baseline save``, a reference such as ``@branch:main``
    looked up in ``store``, or scores) every metric it holds, or those in ``metrics``, must not be
    significantly worse (paired test at ``alpha``, corrected over metrics and slices), nor worse
    by more than ``tolerance``; ``by`` names tags whose values are checked one by one too. What
    makes the two hard to compare, and a baseline older than ``max_age`` ("30d"), is an error
    unless ``anyway`` is true, and then a warning.

    >>> truth, run = {"q": ["a"], "r": ["a"]}, {"q": ["a", "b"], "r": ["b", "a"]}
    >>> verdict = gate(ground_truth=truth, run=run, require="mrr >= 0.8")
    >>> verdict.passed, verdict.checks[0].value
    (False, 0.75)
    """
    from calipers.analyse.conditions import parse_condition
    from calipers.analyse.scoring import deepest, score
    from calipers.analyse.verdict import (
        check_gate,
        metrics_needed,
        metrics_of_baseline,
        reach_verdict,
        several,
    )
    from calipers.api.inputs import baseline_of, matched, measured_already

    conditions = [parse_condition(one) for one in several(require)]
    check_gate(alpha, tolerance, conditions, baseline)
    kept = baseline_of(baseline, reading.get("store"))
    weights = weights or (kept.scores.weights if kept else None)
    rel = reading.get("rel")
    wanted = metrics_of_baseline(metrics, k, rel, kept)
    scores, pair = measured_already(data, reading), None
    if scores is None:
        needed = metrics_needed(conditions, wanted, rel, weights)
        pair = matched(data, looks=deepest(needed), **reading)
        rel = pair.rel
        scores = score(pair, needed, weights=weights, confidence=1 - alpha, seed=seed)
    return reach_verdict(
        scores, conditions, kept, [one.with_rel(rel) for one in wanted], by=by,
        tolerance=tolerance, max_age=max_age, anyway=anyway, rel=rel, alpha=alpha,
        resamples=resamples, seed=seed, now=now, pair=pair,
    )  # fmt: skip


@operation(page="floor", command="floor")
def floor(
    data: Any = None,
    *,
    k: int = 10,
    keep: float | None = None,
    recall: float | None = None,
    confidence: float = 0.95,
    folds: int = 5,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Floor":
    """The score below which results are better not returned, and what each floor would cost.

    ``data`` is a pair, or anything that ``read`` takes; every result needs a score. The floor is
    the highest that keeps ``keep`` of what is found in the first ``k`` results (default: 0.95),
    or a ``recall``, with ``confidence``. How it does on queries that had no part in choosing it is
    measured over ``folds``; ``seed`` draws them.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": [{"id": "a", "score": 0.8 if i % 4 else 0.3}],
    ...      "ground_truth": ["a"] if i % 4 else []}
    ...     for i in range(120)
    ... ]
    >>> found = floor(records)
    >>> found.chosen.floor, found.chosen.wrongly_answered, found.without.wrongly_answered
    (0.8, 0.0, 1.0)
    """
    from calipers.analyse.floor import check_goal, find_floor
    from calipers.api.inputs import matched
    from calipers.measures.spec import check_cutoff

    check_goal(keep, recall, confidence, folds)
    k = check_cutoff(k)
    return find_floor(
        matched(data, keep=True, **reading), k=k, keep=keep, recall=recall,
        confidence=confidence, folds=folds, seed=seed,
    )  # fmt: skip


@operation(page="gate", command="baseline show")
def read_baseline(path: str | PathLike[str]) -> "Baseline":
    """A result that was kept in a file: its name, its date and its scores."""
    from pathlib import Path

    from calipers.io.baselines import read_baseline as read_file

    return read_file(Path(path))


@operation(page="gate", command="baseline save")
def save_baseline(
    data: Any = None,
    *,
    to: str | PathLike[str],
    name: str | None = None,
    now: datetime | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Baseline":
    """Measure, and write the result with a name and the date to a JSON file.

    ``data`` and the other arguments are those of ``evaluate``. The name is that of the file
    unless given.
    """
    from datetime import UTC
    from pathlib import Path

    from calipers.api.measure import evaluate
    from calipers.errors import InvalidInput
    from calipers.io.baselines import write_baseline
    from calipers.io.write import check_place
    from calipers.model.gate import Baseline

    target = Path(to)
    if target.suffix.lower() != ".json":
        raise InvalidInput(
            f"The baseline file is {str(to)!r}; a baseline is JSON, so end its name in .json."
        )
    check_place(target)
    scores = evaluate(
        data, metrics=metrics, k=k, weights=weights, confidence=confidence, resamples=resamples,
        seed=seed, **reading,
    )  # fmt: skip
    baseline = Baseline(scores, name or target.stem, now or datetime.now(UTC))
    write_baseline(baseline, target)
    return baseline


@operation(page="report", command="eval")
def report(
    data: Any = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    baseline: str | None = None,
    anyway: bool = False,
    comparison: "Comparison | None" = None,
    name: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    corpus: Any = None,
    by: Iterable[str] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    **reading: Unpack[Reading],
) -> "Report":
    """Measure, sweep, diagnose and explain in one go; ``save`` writes the page.

    Give ``data`` as for ``evaluate``, or several ``systems`` as for ``compare`` (pairs, runs or
    records, not results measured before: a page shows rankings). The largest cut-off in
    ``metrics`` or ``k`` is the one that is described (default: 10). ``corpus`` tells more about
    misses; ``by`` are the tags to slice by (default: all that have a few values). ``name`` is
    what the page calls the retriever; ``comparison`` is what ``compare`` made of the same
    systems, where that was done already.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].head["recall@2"].mean
    (2, 0.5)
    >>> "recall" in made.to_markdown()
    True
    """
    from calipers.analyse.report import definitions_shown, describe
    from calipers.analyse.scoring import choose_metrics, deepest
    from calipers.api.inputs import like_of, matched_to_report
    from calipers.api.keywords import DEPTH
    from calipers.model.report import Report

    chosen = choose_metrics(metrics, k, None, weights, like_of(data, reading))
    pairs = matched_to_report(data, systems, name, reading, looks=deepest(chosen, DEPTH))
    made = tuple(
        describe(
            one, pair, chosen, weights=weights, corpus=corpus, by=by,
            confidence=confidence, resamples=resamples, seed=seed,
        )
        for one, pair in pairs.items()
    )  # fmt: skip
    if len(made) > 1 and comparison is None:
        comparison = compare(
            {one.name: one.scores for one in made}, baseline=baseline, anyway=anyway,
            metrics=None if metrics is None and k is None else
            [facts.name for facts in made[0].scores.metrics],
            confidence=confidence, seed=seed,
        )  # fmt: skip
    if comparison is not None:
        first = comparison.baseline
        made = tuple(sorted(made, key=lambda one: one.name != first))
    return Report(made, comparison, definitions_shown(made))


@operation(page="report", command="plot")
def plot(
    data: Any = None,
    chart: str | None = None,
    *,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    metrics: str | Iterable[str] | None = None,
    k: int | Sequence[int] | None = None,
    by: str | Iterable[str] | None = None,
    corpus: Any = None,
    baseline: str | None = None,
    **reading: Unpack[Reading],
) -> "Plot":
    """Make one chart: "over-k" (default), "precision-recall", "waterfall" or "slices".

    Of several ``systems``: "differences" (default) or "head-to-head". ``metrics`` and ``k`` are
    those of ``sweep``, of ``misses`` (the largest k) or of ``compare``; ``by`` are the tags of
    slices. The other arguments are those of ``read``.

    >>> made = plot([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a"]}])
    >>> made.chart, sorted(made.spec)[:3]
    ('over-k', ['$schema', 'background', 'columns'])
    """
    from calipers.analyse.plot import chart_of_pair, check_chart
    from calipers.api.inputs import matched, without_inputs
    from calipers.model.plot import Plot

    chart = check_chart(chart, several=systems is not None)
    if systems is not None:
        compared = compare(
            systems, reading.get("ground_truth"), baseline=baseline, metrics=metrics, k=k,
            **without_inputs(reading),
        )  # fmt: skip
        return Plot(chart, compared, tuple(facts.name for facts in compared.metrics))
    pair = matched(data, keep=True, **reading)
    return chart_of_pair(pair, chart, metrics=metrics, k=k, by=by, corpus=corpus)
