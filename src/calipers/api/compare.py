"""Hold systems against a baseline."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calipers.analyse.compare import compare_scores
from calipers.api.evaluate import choose_metrics, evaluate
from calipers.api.inputs import is_reference
from calipers.api.ready import measured_before
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.load import load
from calipers.metrics import Metric, parse
from calipers.metrics.spec import check_cutoff
from calipers.model.comparison import Comparison
from calipers.model.scores import Scores

DEFAULT_METRICS = ("recall", "precision", "ndcg", "hit_rate")
DEFAULT_WITHOUT_CUTOFF = ("mrr",)
DEFAULT_KS = (10,)


def compare(
    systems: Mapping[str, Any] | Sequence[Any],
    ground_truth: Any = None,
    *,
    baseline: str | None = None,
    anyway: bool = False,
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    rel: float | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    store: str | os.PathLike[str] | None = None,
    **preparing: Any,
) -> Comparison:
    """Compare systems on the same queries: is the difference more than noise?

    ``systems`` maps a name to a run (a path, a mapping, records, a table), to a file or records
    with their own ground truth, to a result file of ``calipers eval --json``, to a reference such
    as ``@nightly~1`` (looked up in ``store``), or to scores; a list of paths takes its names from
    the files. ``baseline`` is the name of the system that
    the others are held against (default: the first). Differences of ground truth, queries or
    policies block the comparison unless ``anyway`` is true, and then the result says so.

    The other arguments are those of ``evaluate``; ``resamples`` is the number of sign flips.

    >>> truth = {f"q{i}": ["a"] for i in range(12)}
    >>> good, bad = ({q: order for q in truth} for order in (["a", "b"], ["b", "a"]))
    >>> comparison = compare({"old": bad, "new": good}, truth, metrics="mrr")
    >>> found = comparison.difference("new", "mrr")
    >>> found.difference, found.verdict, found.wins, found.losses
    (0.5, 'better', 12, 0)
    """
    named = name_systems(systems)
    given = {name: _as_scores(value, store) for name, value in named.items()}
    ready = {name: scores for name, scores in given.items() if scores is not None}
    chosen = _chosen(metrics, k, rel, weights, ready)
    truth = _loaded(ground_truth, runs=len(named) - len(ready), results=len(ready))
    measured = {
        name: scores
        if scores is not None
        else _measure(
            name, named[name], ground_truth=truth, metrics=chosen, rel=rel, weights=weights,
            confidence=confidence, seed=seed, **preparing,
        )
        for name, scores in given.items()
    }  # fmt: skip
    wanted = None if chosen is None else [str(metric) for metric in chosen]
    if wanted and weights:
        wanted.append("score")
    return compare_scores(
        measured, baseline=baseline, metrics=wanted, anyway=anyway,
        level=confidence, resamples=resamples, seed=seed,
    )  # fmt: skip


def _measure(name: str, value: Any, **settings: Any) -> Scores:
    try:
        return evaluate(value, **settings)
    except NoCommonIds as error:
        raise NoCommonIds(f"{name} cannot be measured. {error}") from None


def name_systems(systems: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Every system by a name of its own; paths are named for their files.

    >>> name_systems(["runs/bm25.jsonl", "runs/dense.jsonl.gz"])
    {'bm25': 'runs/bm25.jsonl', 'dense': 'runs/dense.jsonl.gz'}
    >>> list(name_systems(["runs/test.1", "runs/test.2"]))
    ['test.1', 'test.2']
    >>> list(name_systems(["old/run.txt", "new/run.txt"]))
    ['old/run.txt', 'new/run.txt']
    """
    if isinstance(systems, Mapping):
        return {str(name): value for name, value in systems.items()}
    paths: list[str] = []
    for value in systems:
        if not isinstance(value, str | os.PathLike):
            raise InvalidInput(
                f"A system is given as a {type(value).__name__} without a name; give a mapping of "
                "names to systems, or a list of paths."
            )
        paths.append(os.fspath(value))
    for path in paths:
        if paths.count(path) > 1:
            raise InvalidInput(f"The file {path} is given twice; compare two different ones.")
    names = [path if is_reference(path) else Path(path).name for path in paths]
    stems = [name if is_reference(name) else name.split(".")[0] or name for name in names]
    shortest = next(level for level in (stems, names, paths) if len(set(level)) == len(paths))
    return dict(zip(shortest, paths, strict=True))


def _as_scores(value: Any, store: str | os.PathLike[str] | None) -> Scores | None:
    found = measured_before(value, store)
    return None if found is None else found.scores


def _loaded(ground_truth: Any, *, runs: int, results: int) -> Any:
    """The ground truth, read once for all systems."""
    if ground_truth is None:
        return None
    if not runs and results:
        raise InvalidInput(
            "A ground truth is given, and every system is a result that was measured already; "
            "leave the ground truth out, or give the runs themselves."
        )
    return load(ground_truth, "ground_truth")


def _chosen(
    metrics: Any,
    k: Any,
    rel: float | None,
    weights: Mapping[str, float] | None,
    ready: Mapping[str, Scores],
) -> tuple[Metric, ...] | None:
    """The metrics asked for, or the usual ones; None: those that the results at hand share.

    Results that were measured before have what they have: where the usual metrics are not among
    it, the runs beside them are measured by theirs.
    """
    if metrics is not None:
        return choose_metrics(metrics, k, rel, weights)
    usual = choose_metrics(
        (*parse(DEFAULT_METRICS, _cutoffs(k)), *parse(DEFAULT_WITHOUT_CUTOFF)), None, rel, weights
    )
    have = [[facts.name for facts in scores.metrics] for scores in ready.values()]
    if k is not None or all(str(metric) in names for names in have for metric in usual):
        return usual
    shared = [name for name in have[0] if all(name in names for names in have)]
    return parse(shared) if shared else None


def _cutoffs(k: Any) -> Sequence[int]:
    if k is None:
        return DEFAULT_KS
    several = [k] if isinstance(k, str) or not hasattr(k, "__iter__") else k
    return [check_cutoff(one) for one in several]
