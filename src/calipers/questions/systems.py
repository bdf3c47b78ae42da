"""Systems to compare or report on: runs, retrievers and saved results."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, NoCommonIds
from calipers.input_types import GroundTruthInput, SystemsInput
from calipers.io.files.open import is_standard_input
from calipers.io.load import load
from calipers.io.tables.columns import Columns
from calipers.model.matched import Matched
from calipers.model.scores import Scores
from calipers.model.slicing import (
    clusters_in,
    queries_where,
    query_weights_in,
    query_weights_of,
)
from calipers.questions.inputs import columns_of_tags, is_reference, matched, tags_of
from calipers.questions.reading import (
    Inputs,
    MatchingSettings,
    MetricsAsked,
    Reading,
    Where,
)
from calipers.words import name_without_ending

if TYPE_CHECKING:
    from calipers.questions.baseline import Baseline


GIVEN = "baseline"
"""The name of scores given as an object."""


def matched_systems(
    systems: Mapping[str, object],
    ground_truth: object,
    matching: MatchingSettings,
    *,
    tags: Collection[str] = (),
    measured: bool = False,
    again: bool = False,
) -> dict[str, Matched]:
    """Match every system that is a run; their shared ground truth is read once.

    ``measured``: there are saved results beside these systems; ``again``: the pairs will
    be used for further questions.
    """
    if ground_truth is not None and not systems and measured:
        raise InvalidInput(
            "A ground truth is given, and every system is a result that was measured "
            "already; leave the ground truth out, or give the runs themselves."
        )
    named = matching.files.columns
    sliced = columns_of_tags((*tags, *(matching.where or ())))
    columns = Columns.of(named).with_tags(sliced) if named is not None or sliced else None
    truth = None if ground_truth is None else load(ground_truth, "ground_truth", columns)
    files = replace(matching.files, columns=columns)
    reading = Reading(
        inputs=Inputs(ground_truth=truth), matching=replace(matching, files=files)
    )
    pairs = {}
    for name, value in systems.items():
        # A pair has its own ground truth and columns.
        how = Reading(matching=matching) if isinstance(value, Matched) else reading
        try:
            pairs[name] = matched(value, how, again=again, tags=tags)
        except NoCommonIds as error:
            raise NoCommonIds(f"{name} cannot be measured. {error}") from None
        except InvalidInput:
            _refuse_truth_among(systems, ground_truth, columns)
            raise
        if truth is not None and truth.run is None:
            _refuse_ground_truth(name, value, pairs[name], columns)
    if systems and columns is not None:
        columns.check_used()
    return pairs


def _refuse_truth_among(
    systems: Mapping[str, object], ground_truth: object, columns: Columns | None
) -> None:
    """Refuse a file that holds a ground truth alone: a pattern such as *.jsonl may hold it, too."""
    for value in systems.values():
        if not isinstance(value, str | os.PathLike) or is_standard_input(value):
            continue
        try:
            found = load(value, "both", columns)
        except InvalidInput:
            continue
        if found.ground_truth is not None and found.run is None:
            give = "" if ground_truth is not None else " and give it as the ground truth"
            how = "" if ground_truth is not None else ": -g (ground_truth= in Python)"
            raise InvalidInput(
                f"{value} holds a ground truth and no results, so it is no system; leave "
                f"it out of the systems{give}{how}."
            )


def _refuse_ground_truth(
    name: str, value: object, pair: Matched, columns: Columns | None
) -> None:
    """Refuse a file that is the ground truth itself: a pattern such as m*.csv may hold it, too.

    A run of the same rows would be perfect; only such a one is read a second time to be
    sure.
    """
    matches = pair.matches
    is_perfect = (
        isinstance(value, str | os.PathLike)
        and int(matches.retrieved.sum())
        == matches.target_query.size
        == matches.edge_query.size
    )
    if not is_perfect:
        return
    again = load(value, "ground_truth", columns).ground_truth
    if again is not None and again.fingerprint == pair.ground_truth.fingerprint:
        raise InvalidInput(
            f"The system {name} ({value}) holds the same rows as the ground truth: it is "
            "the ground truth, not what a retriever returned; leave it out of the "
            "systems."
        )


def name_of(value: object) -> str:
    """The display name of a retriever: its file name without the extension."""
    value = value.run if isinstance(value, Matched) else value
    if isinstance(value, str | os.PathLike):
        named: str | os.PathLike[str] | None = value
    else:
        named = getattr(value, "name", None) or getattr(value, "__name__", None)
    return (name_without_ending(Path(named).name) if named else "") or "the retriever"


def measured_before(value: object, store: Where = None) -> "Baseline | None":
    """A saved result with its name and date, from scores, a file or a reference such as @main.

    None for anything else: a run, a file of records. Every operation that takes results
    calls this, so that all accept the same.
    """
    from calipers.questions.baseline import Baseline

    if isinstance(value, Baseline):
        return value
    if isinstance(value, Scores):
        return Baseline(value, GIVEN, None)
    if is_reference(value):
        from calipers.store.listing import resolve
        from calipers.store.load import load_scores
        from calipers.store.open import open_store

        opened = open_store(store)
        evaluation = resolve(opened, value)
        return Baseline(load_scores(opened, evaluation), value, evaluation.saved)
    if is_result_file(value):
        from calipers.questions.baseline import read_baseline

        return read_baseline(Path(value))
    return None


def scores_of(value: object, store: Where = None) -> Scores:
    """The scores in a value, or in the file or reference that it names."""
    baseline = measured_before(value, store)
    if baseline is None:
        raise InvalidInput(
            f"{value if isinstance(value, str | os.PathLike) else type(value).__name__} "
            "holds no scores; give what calipers.evaluate returned, or a file that "
            "`calipers eval --json` wrote."
        )
    return baseline.scores


def measured_already(
    data: object, reading: Reading, weight_by: str | None = None
) -> Scores | None:
    """The scores given in place of inputs to measure; None if there are none."""
    baseline = measured_before(data, reading.matching.store)
    if baseline is None:
        return None
    inputs = reading.inputs
    sources = (inputs.ground_truth, inputs.run, inputs.retriever)
    if any(source is not None for source in sources):
        raise InvalidInput(
            "A result that was measured already is given together with a ground truth, a "
            "run or a retriever; give one or the other."
        )
    return weighed(scores_where(baseline.scores, reading.matching.where), weight_by)


def scores_where(scores: Scores, where: Mapping[str, str] | None) -> Scores:
    """Restrict scores to queries with these tags."""
    if not where:
        return scores
    chosen = queries_where(scores.queries, scores.tags, where)
    values = scores.values[chosen.to_numpy()]
    part = replace(
        scores,
        values=values,
        queries=scores.queries.filter(chosen),
        tags={name: column.filter(chosen) for name, column in scores.tags.items()},
        settings={**scores.settings, "where": dict(where)},
        policy=replace(scores.policy, nothing_in_common="zero"),
    )
    return summarised(part)


def weighed(scores: Scores, weight_by: str | None) -> Scores:
    """The scores with every query weighed by a tag; unchanged where none is named."""
    if weight_by is None or scores.recorded.weight_by == weight_by:
        return scores
    from calipers.engines.scoring import weights_in_words

    sentences = weights_in_words(query_weights_of(scores.tags, weight_by), weight_by)
    notes = [*sentences, *scores.recorded.notes]
    settings = {**scores.settings, "weight_by": weight_by, "notes": notes}
    return summarised(replace(scores, settings=settings))


def summarised(scores: Scores) -> Scores:
    """The scores with means by their own settings."""
    from calipers.engines.summary import summarise

    means = summarise(
        scores.metrics,
        scores.values,
        scores.recorded.confidence,
        clusters_in(scores),
        query_weights_in(scores),
    )
    return replace(scores, summaries=means)


def is_result_file(value: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a value is the path of a saved result."""
    if not isinstance(value, str | os.PathLike):
        return False
    path = Path(value)
    from calipers.io.records.results import is_result

    return path.is_file() and is_result(path)


def name_systems(systems: Mapping[str, object] | Sequence[object]) -> dict[str, Any]:
    """The systems by unique names; paths are named after their files.

    >>> name_systems(["runs/bm25.jsonl", "runs/dense.jsonl.gz"])
    {'bm25': 'runs/bm25.jsonl', 'dense': 'runs/dense.jsonl.gz'}
    >>> list(name_systems(["runs/test.1", "runs/test.2"]))
    ['test.1', 'test.2']
    >>> list(name_systems(["voyage-3.5.jsonl", "voyage-3.jsonl"]))
    ['voyage-3.5', 'voyage-3']
    >>> list(name_systems(["old/run.txt", "new/run.txt"]))
    ['old/run.txt', 'new/run.txt']
    """
    if isinstance(systems, Mapping):
        return {str(name): value for name, value in systems.items()}
    if isinstance(systems, str | bytes) or not isinstance(systems, Iterable):
        raise InvalidInput(
            f"The systems are given as a {type(systems).__name__}; give a mapping of "
            "names to systems, or a list of paths."
        )
    paths: list[str] = []
    for value in systems:
        if not isinstance(value, str | os.PathLike):
            raise InvalidInput(
                f"A system is given as a {type(value).__name__} without a name; give a "
                "mapping of names to systems, or a list of paths."
            )
        paths.append(os.fspath(value))
    for path in paths:
        if paths.count(path) > 1:
            raise InvalidInput(
                f"The file {path} is given twice; compare two different ones."
            )
    names = [path if is_reference(path) else Path(path).name for path in paths]
    stems = [name if is_reference(name) else name_without_ending(name) for name in names]
    shortest = next(
        level for level in (stems, names, paths) if len(set(level)) == len(paths)
    )
    return dict(zip(shortest, paths, strict=True))


class MeasuredSystems(NamedTuple):
    """The scores of systems, and what is known about them beside these."""

    scores: dict[str, Scores]
    metrics: list[str] | None
    """The names of the metrics that are compared; None: all that they share."""
    latency_ms: dict[str, float]
    """The median latency of each system whose run recorded it."""


def median_latency(pair: Matched) -> float | None:
    """The median latency of a run in milliseconds; None where none was recorded."""
    queries = pair.as_read[1].queries
    if queries is None or "latency_ms" not in queries.columns:
        return None
    times = queries["latency_ms"].cast(pl.Float64).drop_nulls()
    return None if times.is_empty() else float(np.median(times.to_numpy()))


def measure_systems(
    systems: SystemsInput,
    ground_truth: GroundTruthInput | None,
    matching: MatchingSettings,
    measures: MetricsAsked,
    primary: str | None,
) -> MeasuredSystems:
    """The scores of all systems, the names of the metrics compared, and the latencies."""
    from calipers.engines.scoring import choose_metrics, of_returned, score
    from calipers.questions.default_metrics import metrics_compared
    from calipers.questions.inputs import with_cautions

    named = name_systems(systems)
    intervals = measures.intervals
    saved = {
        name: measured_before(value, matching.store) for name, value in named.items()
    }
    ready = {
        name: weighed(scores_where(result.scores, matching.where), intervals.weight_by)
        for name, result in saved.items()
        if result is not None
    }
    before = list(ready.values())
    chosen = metrics_compared(measures.metrics, measures.k, matching.rel, before, primary)
    pairs = matched_systems(
        {name: value for name, value in named.items() if name not in ready},
        ground_truth,
        matching,
        tags=tags_of(intervals),
        measured=bool(ready),
    )
    if measures.metrics is None and chosen is not None:
        leading = [metric for metric in chosen if str(metric) == primary]
        for pair in pairs.values():
            # What was judged of the results of one system bounds what can be compared.
            known = of_returned(pair.ground_truth, chosen)
            chosen = tuple(one for one in chosen if one in (*known, *leading))
    measured = {
        name: ready[name]
        if name in ready
        else with_cautions(
            pairs[name],
            score(
                pairs[name],
                chosen or choose_metrics(None, None),
                confidence=intervals.confidence,
                cluster=intervals.cluster,
                weight_by=intervals.weight_by,
            ),
        )
        for name in named
    }
    times = {name: median_latency(pair) for name, pair in pairs.items()}
    return MeasuredSystems(
        measured,
        None if chosen is None else [str(metric) for metric in chosen],
        {name: time for name, time in times.items() if time is not None},
    )
