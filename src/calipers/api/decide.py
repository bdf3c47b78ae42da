"""Compare results with each other, with a baseline and with conditions; show them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from calipers.api.keywords import Matching, Reading
from calipers.api.operation import operation

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.comparison import Comparison
    from calipers.model.floor import Floor
    from calipers.model.gate import Baseline, Verdict
    from calipers.model.matched import Matched
    from calipers.model.plan import QueryPlan
    from calipers.model.scores import Scores
    from calipers.retrievers.watch import Watch


@operation(page="compare", command="compare")
def compare(
    systems: Mapping[str, Any] | Sequence[Any] | str | PathLike[str] = (),
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
    primary: str | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    **matching: Unpack[Matching],
) -> "Comparison":
    """Compare systems on the same queries: is the difference more than noise?

    ``systems`` maps a name to a pair that ``read`` made, to a run (a path, a mapping, records, a
    table), to a file or records with their own ground truth, to a result file of
    ``calipers eval --json``, to a reference such as ``@nightly~1`` (looked up in ``store``), or
    to scores; a list of paths takes its names from the files. Two results in files can be given one
    behind the other: ``compare("a.parquet", "b.parquet")``. ``retrievers`` maps a name to a
    live retriever, as ``retrieve`` takes it: all are asked the questions of the ground truth, for
    ``ask_for`` results (default: as many as the metrics look at). ``baseline`` is the name of the
    system that the others are compared with (default: the first). Differences of ground truth,
    queries or policies block the comparison unless ``anyway`` is true, and then the result says
    so. ``primary`` is the metric that decides (default: the score, or recall at the largest
    cut-off); the test is corrected over systems, and the other metrics are shown beside it. The
    other arguments are those of ``evaluate``.

    >>> truth = {f"q{i}": ["a"] for i in range(12)}
    >>> good, bad = ({q: order for q in truth} for order in (["a", "b"], ["b", "a"]))
    >>> comparison = compare({"old": bad, "new": good}, truth, metrics="mrr")
    >>> found = comparison.difference("new", "mrr")
    >>> found.difference, found.verdict, found.wins, found.losses
    (0.5, 'better', 12, 0)
    """
    from calipers.analyse.compare import compare_scores
    from calipers.analyse.leaderboard import tokens_per_query
    from calipers.analyse.scoring import choose_metrics
    from calipers.api.systems import name_systems, side_by_side, with_retrievers

    compared, ground_truth = side_by_side(systems, ground_truth)
    named = with_retrievers(
        name_systems(compared), retrievers, ground_truth, choose_metrics(metrics, k, None, weights),
        {"ask_for": ask_for, "workers": workers, "watch": watch},
    )  # fmt: skip
    pairs, measured, wanted = _measured(
        named, ground_truth, matching, metrics=metrics, k=k, weights=weights, primary=primary,
        cluster=cluster, confidence=confidence,
    )  # fmt: skip
    return compare_scores(
        measured, baseline=baseline, metrics=wanted, primary=primary, cluster=cluster,
        tokens=tokens_per_query(pairs, measured, primary), anyway=anyway, level=confidence,
    )  # fmt: skip


def _measured(
    systems: Mapping[str, Any] | Sequence[Any],
    ground_truth: Any,
    matching: Matching,
    *,
    metrics: "str | Iterable[str | Metric] | None",
    k: int | Sequence[int] | None,
    weights: Mapping[str, float] | None,
    primary: str | None,
    cluster: str | None,
    confidence: float,
) -> "tuple[dict[str, Matched], dict[str, Scores], list[str] | None]":
    """The systems that were matched now, the scores of all, and the names of what is compared."""
    from calipers.analyse.compare import metrics_compared
    from calipers.analyse.scoring import choose_metrics, score
    from calipers.api.systems import matched_systems, measured_before, name_systems

    named = name_systems(systems)
    given = {name: measured_before(value, matching.get("store")) for name, value in named.items()}
    ready = {name: found.scores for name, found in given.items() if found is not None}
    chosen = metrics_compared(
        metrics, k, matching.get("rel"), weights, list(ready.values()), primary
    )
    pairs = matched_systems(
        {name: value for name, value in named.items() if name not in ready},
        ground_truth, matching, measured=bool(ready),
    )  # fmt: skip
    measured = {
        name: ready[name] if name in ready else score(
            pairs[name], chosen or choose_metrics(None, None, None, weights), weights=weights,
            confidence=confidence, cluster=cluster,
        )
        for name in named
    }  # fmt: skip
    wanted = None if chosen is None else [str(metric) for metric in chosen]
    if wanted and weights:
        wanted.append("score")
    return pairs, measured, wanted


@operation(page="compare", command="plan")
def plan(
    pilot: Mapping[str, Any] | Sequence[Any] | str | PathLike[str],
    ground_truth: Any = None,
    *,
    difference: float | None = None,
    queries: int | None = None,
    power: float = 0.8,
    primary: str | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    cluster: str | None = None,
    confidence: float = 0.95,
    **matching: Unpack[Matching],
) -> "QueryPlan":
    """How many queries show a ``difference``, or how small a difference some ``queries`` show.

    ``pilot`` are two systems as for ``compare``: how their differences in the ``primary`` metric
    vary from query to query is what the plan is made from, by drawing from them and asking the
    test that ``compare`` uses. Without a ``primary`` metric, the one that ``compare`` would choose
    among ``metrics`` decides. ``power`` is the chance to see the difference where it is there.
    With a ``cluster``, ``queries`` counts clusters.

    >>> truth = {f"q{i}": ["a"] for i in range(40)}
    >>> old = {q: ["b", "a"] for q in truth}
    >>> new = {q: ["a", "b"] if i % 3 else ["b", "c", "a"] for i, q in enumerate(truth)}
    >>> found = plan({"old": old, "new": new}, truth, difference=0.2, primary="mrr")
    >>> found.metric, 25 <= found.queries <= 60
    ('mrr', True)
    """
    from calipers.analyse.pilot import check_plan, plan_queries
    from calipers.api.systems import side_by_side

    check_plan(difference, queries, power)
    compared, ground_truth = side_by_side(pilot, ground_truth)
    _, measured, _ = _measured(
        compared, ground_truth, matching, metrics=metrics, k=k, weights=weights, primary=primary,
        cluster=cluster, confidence=confidence,
    )  # fmt: skip
    return plan_queries(
        measured, difference=difference, queries=queries, power=power, primary=primary,
        cluster=cluster, confidence=confidence,
    )  # fmt: skip


@operation(page="gate", command="gate")
def gate(
    data: Any = None,
    *,
    require: str | Iterable[str] = (),
    baseline: Any = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    primary: str | None = None,
    by: str | Iterable[str] = (),
    allow: float = 0.0,
    strict: bool = False,
    cluster: str | None = None,
    max_age: str | None = None,
    anyway: bool = False,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    now: datetime | None = None,
    **reading: Unpack[Reading],
) -> "Verdict":
    """Check a result against conditions, and against a baseline.

    ``data`` is a pair, anything that ``read`` takes, or a result that ``evaluate`` made.
    ``require`` are conditions, such as ``"recall@10 >= 0.85 for type=multi-hop"``,
    ``"latency_p95 <= 300ms"`` or ``"leak_rate@10 == 0"``. With a
    ``baseline`` (a file of ``calipers baseline save``, a reference such as ``@branch:main``
    looked up in ``store``, or scores) the ``primary`` metric (default: the score, or recall at
    the largest cut-off it holds) fails where a loss beyond ``allow`` is shown with the
    ``confidence``; where ``strict``, it passes only where it is shown that no more is lost.
    ``by`` names tags whose values are checked one by one too, corrected for their number. The
    other metrics that the baseline holds, or those in ``metrics``, are shown beside it. What makes
    the two hard to compare, and a baseline older than ``max_age`` ("30d"), is an error unless
    ``anyway`` is true, and then a warning.

    >>> truth, run = {"q": ["a"], "r": ["a"]}, {"q": ["a", "b"], "r": ["b", "a"]}
    >>> verdict = gate(ground_truth=truth, run=run, require="mrr >= 0.8")
    >>> verdict.passed, verdict.checks[0].value
    (False, 0.75)
    """
    from calipers.analyse.conditions import parse_condition
    from calipers.analyse.scoring import score
    from calipers.analyse.verdict import (
        check_gate,
        metrics_needed,
        metrics_of_baseline,
        reach_verdict,
        results_needed,
        several,
    )
    from calipers.api.inputs import matched
    from calipers.api.systems import baseline_of, measured_already

    conditions = [parse_condition(one) for one in several(require)]
    check_gate(confidence, allow, conditions, baseline, strict=strict)
    kept = baseline_of(baseline, reading.get("store"))
    weights = weights or (kept.scores.weights if kept else None)
    rel = reading.get("rel")
    wanted = metrics_of_baseline(metrics, k, rel, kept, primary)
    scores, pair = measured_already(data, reading), None
    if scores is None:
        needed = metrics_needed(conditions, wanted, rel, weights)
        pair = matched(data, looks=results_needed(conditions, needed), **reading)
        rel = pair.rel
        scores = score(pair, needed, weights=weights, confidence=confidence, cluster=cluster)
    return reach_verdict(
        scores, conditions, kept, [one.with_rel(rel) for one in wanted], primary=primary,
        by=by, allow=allow, strict=strict, cluster=cluster, max_age=max_age, anyway=anyway, rel=rel,
        confidence=confidence, now=now, pair=pair,
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
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "Floor":
    """The score below which results are better not returned, and what each floor would cost.

    ``data`` is a pair, or anything that ``read`` takes; every result needs a score. The floor is
    the highest that keeps ``keep`` of what is found in the first ``k`` results (default: 0.95),
    or a ``recall``, with ``confidence``. How it does on queries that had no part in choosing it is
    measured over ``folds``; ``seed`` draws them. With a ``cluster``, queries with the same value
    of that tag are one unit.

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
        confidence=confidence, folds=folds, seed=seed, cluster=cluster,
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
    add: bool = False,
    now: datetime | None = None,
    metrics: "str | Iterable[str | Metric] | None" = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    **reading: Unpack[Reading],
) -> "Baseline":
    """Measure, and write the result with a name and the date to a JSON file.

    ``data`` and the other arguments are those of ``evaluate``. The name is that of the file
    unless given. With ``add`` the result joins those that the file holds already, as one more
    run of the same commit: the gate then compares with their mean, query by query.
    """
    from datetime import UTC
    from pathlib import Path

    from calipers.analyse.baseline_runs import with_run
    from calipers.api.measure import evaluate
    from calipers.errors import InvalidInput
    from calipers.io.baselines import read_baseline as read_file
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
        data, metrics=metrics, k=k, weights=weights, confidence=confidence, cluster=cluster,
        **reading,
    )  # fmt: skip
    baseline = Baseline(scores, name or target.stem, now or datetime.now(UTC))
    if add and target.is_file():
        baseline = with_run(read_file(target), baseline)
    write_baseline(baseline, target)
    return baseline
