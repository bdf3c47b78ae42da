"""Evaluations of one name put in line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from calipers.model.evaluation import Evaluation
from calipers.model.scores import Summary
from calipers.questions.trend.result import Line, Mark, Point, Trend


def trend_of(
    name: str,
    evaluations: Iterable[Evaluation],
    metrics: Sequence[str],
    by: str | None = None,
) -> Trend:
    """The lines of some metrics through evaluations, whatever order they come in.

    With ``by``, one line for each value of that tag; evaluations bring them in ``slices``.
    """
    ordered = sorted(evaluations, key=lambda one: (one.saved, one.number))
    values = _values(ordered, by)
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
        tuple(_marks(ordered)),
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


def _marks(ordered: Sequence[Evaluation]) -> Iterator[Mark]:
    for evaluation, what in changes(ordered):
        yield Mark(evaluation.id, evaluation.saved, what)


def _values(ordered: Sequence[Evaluation], by: str | None) -> list[str | None]:
    if by is None:
        return [None]
    found = {one.value for evaluation in ordered for one in evaluation.slices if one.tag == by}
    return [*sorted(found)]


def _points(
    ordered: Sequence[Evaluation], metric: str, by: str | None, value: str | None
) -> Iterator[Point]:
    for one in ordered:
        summary = one.summaries.get(metric) if by is None else _slice(one, metric, by, value or "")
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


def _slice(one: Evaluation, metric: str, by: str, value: str) -> Summary | None:
    for part in one.slices:
        if (part.tag, part.value, part.summary.metric) == (by, value, metric):
            return part.summary
    return None
