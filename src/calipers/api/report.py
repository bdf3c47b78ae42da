"""Gather everything about one retriever, or several, for the page that people open."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from calipers.analyse.rankings import rank_table
from calipers.analyse.slices import slice_scores
from calipers.api.compare import compare, name_systems
from calipers.api.diagnose import diagnose
from calipers.api.evaluate import choose_metrics, score
from calipers.api.inputs import read_pair
from calipers.api.metrics import metrics as metric_definitions
from calipers.api.misses import misses
from calipers.api.prepare import Prepared, prepare
from calipers.api.sweep import sweep
from calipers.errors import InvalidInput
from calipers.io.load import load
from calipers.io.results import is_result
from calipers.io.source import Progress
from calipers.metrics import Metric, parse
from calipers.model.comparison import Comparison
from calipers.model.ground_truth import GroundTruth
from calipers.model.report import FEWEST_SHOWN, Report, SystemReport
from calipers.model.run import Run
from calipers.model.scores import Scores

HEAD = ("hit_rate", "recall", "precision", "f1", "ndcg", "mrr", "map")
DEFAULT_K = 10
DEEPEST_SWEEP = 100
MOST_SLICES = 12
"""A tag with more values than this is a name, not a kind of query."""

T = TypeVar("T")


def report(
    data: Any = None,
    *,
    ground_truth: Any = None,
    run: Any = None,
    systems: Mapping[str, Any] | Sequence[Any] | None = None,
    baseline: str | None = None,
    anyway: bool = False,
    comparison: Comparison | None = None,
    name: str | None = None,
    metrics: str | Iterable[str | Metric] | None = None,
    k: int | Sequence[int] | None = None,
    weights: Mapping[str, float] | None = None,
    corpus: Any = None,
    by: Iterable[str] | None = None,
    rel: float | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
    **preparing: Any,
) -> Report:
    """Measure, sweep, diagnose and explain in one go; ``save`` writes the page.

    Give ``data``, or ``ground_truth`` and ``run``, as for ``evaluate``; or several ``systems``,
    as for ``compare`` (runs or records, not results measured before: a page shows rankings).
    The largest cut-off in ``metrics`` or ``k`` is the one that is described (default: 10).
    ``corpus`` tells more about misses; ``by`` are the tags to slice by (default: all that have
    a few values). ``name`` is what the page calls the retriever; ``comparison`` is what
    ``compare`` made of the same systems, where that was done already.

    >>> made = report([{"query": "q", "retrieved": ["x", "a"], "ground_truth": ["a", "b"]}], k=2)
    >>> made.k, made.systems[0].head["recall@2"].mean
    (2, 0.5)
    >>> "recall" in made.to_markdown()
    True
    """
    chosen = choose_metrics(metrics, k, rel, weights)
    settings = {"confidence": confidence, "resamples": resamples, "seed": seed}
    truth = None if ground_truth is None else load(ground_truth, "ground_truth")
    if systems is None:
        pairs = {name or _name_of(run if run is not None else data): (data, run)}
    elif data is not None or run is not None:
        raise InvalidInput(
            "Both systems and a run are given; give all retrievers as systems, or one as a run."
        )
    else:
        pairs = {one: (_run_of(value), None) for one, value in name_systems(systems).items()}
    made = tuple(
        _system(
            one, read_pair(given, truth, results, progress, preparing.get("store")),
            chosen, weights, corpus, by, {**preparing, "rel": rel}, settings,
        )
        for one, (given, results) in pairs.items()
    )  # fmt: skip
    if len(made) > 1 and comparison is None:
        comparison = compare(
            {one.name: one.scores for one in made}, baseline=baseline, anyway=anyway,
            metrics=None if metrics is None and k is None else [str(metric) for metric in chosen],
            confidence=confidence, seed=seed,
        )  # fmt: skip
    if comparison is not None:
        first = comparison.baseline
        made = tuple(sorted(made, key=lambda one: one.name != first))
    return Report(made, comparison, _definitions(made))


def _system(
    name: str,
    pair: tuple[GroundTruth, Run],
    chosen: Sequence[Metric],
    weights: Mapping[str, float] | None,
    corpus: Any,
    by: Iterable[str] | None,
    preparing: dict[str, Any],
    settings: dict[str, Any],
) -> SystemReport:
    truth, run = pair
    rel = preparing["rel"]
    prepared = prepare(ground_truth=truth, run=run, **preparing)
    depth = int(prepared.matches.retrieved.max(initial=0))
    k = max((metric.k for metric in chosen if metric.k is not None), default=DEFAULT_K)
    described = [metric.with_rel(rel) for metric in parse(HEAD, [k])]
    head = score(prepared, described, **settings)
    without: dict[str, str] = {}

    def attempt(part: str, make: Callable[[], T]) -> T | None:
        try:
            return make()
        except InvalidInput as error:
            without[part] = str(error)
            return None

    given = {"ground_truth": truth, "run": run, **preparing}
    targets = prepared.ground_truth.targets[
        np.argsort(prepared.ground_truth.target_query, kind="stable")
    ]
    swept = _swept(depth, k)
    return SystemReport(
        name=name,
        k=k,
        scores=score(prepared, chosen, weights=weights, **settings),
        head=head,
        sweep=attempt("sweep", lambda: sweep(**given, k=swept, **settings)) if depth else None,
        diagnosis=attempt("diagnosis", lambda: diagnose(**given, k=k, by=by, **settings)),
        misses=attempt("misses", lambda: misses(**given, k=k, corpus=corpus)),
        slices=attempt("slices", lambda: _slices(head, prepared, by, k)),
        rankings=rank_table(
            prepared.run, prepared.matches, ties=prepared.policy.ties,
            depth=max(k, FEWEST_SHOWN), rel=rel,
        ),
        targets=targets,
        without=without,
    )  # fmt: skip


def _swept(depth: int, k: int) -> list[int] | None:
    """A page draws no more of a deep run than the eye can use; None: as ``sweep`` chooses."""
    if depth <= DEEPEST_SWEEP:
        return None
    usual = [*range(1, 21), *range(25, DEEPEST_SWEEP + 1, 5)]
    return sorted({*usual, min(k, depth)})


def _slices(head: Scores, prepared: Prepared, by: Iterable[str] | None, k: int) -> Any:
    tags = prepared.ground_truth.tags
    cuts = (
        list(by)
        if by
        else [name for name, tag in tags.items() if 1 < tag.drop_nulls().n_unique() <= MOST_SLICES]
    )
    if not cuts:
        raise InvalidInput("The queries have no tags with a few values each.")
    names = [facts.name for facts in head.metrics if facts.k == k]
    wanted = [one for one in names if one.partition("@")[0] in ("recall", "precision", "ndcg")]
    return slice_scores(head, cuts, metrics=wanted, resamples=head.settings["resamples"])


def _run_of(value: Any) -> Any:
    """A system that has rankings; a result that was measured before has none to show."""
    is_file = isinstance(value, str | PathLike)
    if isinstance(value, Scores) or (is_file and Path(value).is_file() and is_result(Path(value))):
        raise InvalidInput(
            f"{value if is_file else 'One of the systems'} is a result that was measured before, "
            "without its rankings; a report shows rankings, so give the run itself."
        )
    return value


def _definitions(systems: Sequence[SystemReport]) -> tuple[Mapping[str, Any], ...]:
    names: dict[str, None] = {}
    for one in systems:
        for facts in (*one.head.metrics, *one.scores.metrics):
            names.setdefault(metric_definitions(facts.name)[0]["name"])
    return tuple(metric_definitions(name)[0] for name in names)


def _name_of(value: Any) -> str:
    """What to call a retriever: its file, without the ending."""
    if isinstance(value, str | PathLike):
        return Path(value).name.split(".")[0] or "the retriever"
    named = getattr(value, "name", None)
    return Path(named).name.split(".")[0] if isinstance(named, str) else "the retriever"
