"""Evaluations of one name put in line, and where they must not be read across."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import ClassVar

from calipers.engines.summary import slice_summaries
from calipers.errors import InvalidInput, StoreAway
from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.model.result import HasRows, Plain
from calipers.questions.default_metrics import headlines
from calipers.questions.history.rule import Filter
from calipers.store.listing import evaluations
from calipers.store.load import load_scores
from calipers.store.open import Store
from calipers.store.schema import EVALUATION
from calipers.words import did_you_mean


@dataclass(frozen=True)
class Point:
    """One evaluation on a line."""

    id: str
    saved: datetime
    commit: str | None
    mean: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Line:
    """One metric over time, over all queries or those with one value of a tag."""

    metric: str
    tag: str | None
    value: str | None
    points: tuple[Point, ...]
    """Oldest first."""


@dataclass(frozen=True)
class Mark:
    """An evaluation before which something changed that makes numbers hard to compare."""

    id: str
    saved: datetime
    what: tuple[str, ...]
    """ground truth, corpus."""


@dataclass(frozen=True, repr=False)
class Trend(Plain, HasRows):
    """The lines of one name, and where they must not be read across."""

    shown_by: ClassVar[str] = "calipers.questions.trend.show"

    name: str
    metrics: tuple[str, ...]
    by: str | None
    evaluations: int
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...]


def moved(store: Store, name: str, wanted: Filter, by: str | None = None) -> Trend:
    """The lines of some metrics through the evaluations of a name that fit."""
    found = wanted.among(store, slices=(by,) if by else ())
    if not found:
        raise InvalidInput(
            f"No evaluation called {name} is left after the filters; there are others of that "
            "name (`calipers history` lists them)."
        )
    known = list(dict.fromkeys(metric for one in found for metric in one.summaries))
    chosen = headlines(found[0].summaries) if wanted.metrics is None else wanted.metrics
    for metric in chosen:
        if metric not in known:
            [latest] = evaluations(store, where=[EVALUATION.c.id == found[0].id])
            have = list(latest.summaries)
            raise InvalidInput(
                f"The evaluations called {name} have no {metric}; the latest has "
                f"{', '.join(have)}.{did_you_mean(metric, have)}"
            )
    return trend_of(name, found if by is None else _sliced(store, found, by), chosen, by)


def _sliced(store: Store, found: list[Evaluation], by: str) -> list[Evaluation]:
    """The evaluations with slices: as they were kept, or else made from the scores per query."""
    made, last = [], None
    for one in found:
        if not any(part.tag == by for part in one.slices):
            try:
                cut = slice_summaries(load_scores(store, one), by)
                parts = tuple(SliceSummary(by, value, summary) for value, summary in cut)
            except StoreAway:
                raise
            except InvalidInput as error:
                # Older evaluations may lack the tag; that all of them do is an error.
                last, parts = error, ()
            one = replace(one, slices=parts)
        made.append(one)
    if last is not None and not any(one.slices for one in made):
        raise last
    return made


def trend_of(
    name: str, evaluations: Iterable[Evaluation], metrics: Sequence[str], by: str | None = None
) -> Trend:
    """The lines of some metrics through evaluations, whatever order they come in.

    With ``by``, one line for each value of that tag; evaluations bring them in ``slices``.
    """
    ordered = sorted(evaluations, key=lambda one: (one.saved, one.number))
    parts = (one for evaluation in ordered for one in evaluation.slices if one.tag == by)
    values: Sequence[str | None] = [None] if by is None else sorted({one.value for one in parts})
    return Trend(
        name,
        tuple(metrics),
        by,
        len(ordered),
        tuple(
            Line(metric, by, value, tuple(_points(ordered, metric, by, value)))
            for metric in metrics
            for value in values
        ),
        tuple(Mark(one.id, one.saved, what) for one, what in changes(ordered)),
    )


def changes(evaluations: Sequence[Evaluation]) -> Iterator[tuple[Evaluation, tuple[str, ...]]]:
    """Each evaluation, oldest first, before which the ground truth or the corpus changed."""
    for before, after in pairwise(evaluations):
        what = tuple(_differing(before.fingerprints, after.fingerprints))
        if what:
            yield after, what


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for key, words in (("ground_truth", "ground truth"), ("corpus", "corpus")):
        # A corpus that was not given is unknown, which is no change.
        if key in before and key in after and before[key] != after[key]:
            yield words


def _points(
    ordered: Sequence[Evaluation], metric: str, by: str | None, value: str | None
) -> Iterator[Point]:
    for one in ordered:
        summary = one.summaries.get(metric)
        if by is not None:
            parts = (part for part in one.slices if (part.tag, part.value) == (by, value))
            summary = next((p.summary for p in parts if p.summary.metric == metric), None)
        if summary is None or summary.mean is None:
            continue
        interval = summary.interval
        yield Point(
            one.id,
            one.saved,
            one.commit,
            summary.mean,
            interval.low if interval else None,
            interval.high if interval else None,
            summary.n,
        )
