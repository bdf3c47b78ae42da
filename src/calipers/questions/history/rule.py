"""The evaluations of a history that fit a filter, one of them whole, or several put in line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from calipers.engines.summary import slice_summaries
from calipers.errors import InvalidInput, StoreAway, check_number
from calipers.measures import parse
from calipers.measures.spec import split
from calipers.model.age import span_of
from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.questions.default_metrics import headlines
from calipers.questions.history.result import History, Line, Mark, Point, Shown, Trend
from calipers.store.listing import count, evaluations, resolve
from calipers.store.load import load_scores
from calipers.store.open import Store
from calipers.store.schema import EVALUATION
from calipers.words import did_you_mean

_MOST_METRICS = 4
"""How many metrics a list shows where none is named."""


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which evaluations of a history are meant."""

    name: str | None = None
    tags: Mapping[str, str] | None = None
    branch: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    last: int | None = None
    metrics: list[str] | None = None
    """The metrics whose summaries come along, as results name them; None: all."""

    @classmethod
    def of(
        cls, name: str | None = None, asked: Mapping[str, Any] | None = None, **more: Any
    ) -> "Filter":
        """As a caller words it, checked before the history is opened."""
        held = {**(asked or {}), **more}
        last = held.get("last")
        if last is not None:
            check_number("The number of evaluations", last, whole=True, least=1)
        begin, end = span_of(*(held.get(name) for name in ("since", "until", "now")))
        return cls(
            name=name,
            tags=held.get("tags"),
            branch=held.get("branch"),
            since=begin,
            until=end,
            last=last,
            metrics=metric_names(held.get("metrics")),
        )

    def among(self, store: Store, *, slices: Sequence[str] = ()) -> list[Evaluation]:
        """The evaluations that fit, newest first."""
        if self.name is not None:
            resolve(store, f"@name:{self.name}")  # complains about a name that none has
        return evaluations(
            store,
            name=self.name,
            branch=self.branch,
            tags=self.tags,
            since=self.since,
            until=self.until,
            last=self.last,
            metrics=self.metrics,
            slices=slices,
        )


def listed(store: Store, wanted: Filter) -> History:
    """The evaluations that fit, with the metrics to look at first."""
    found = wanted.among(store)
    chosen = wanted.metrics
    if chosen is None:
        shown = [metric for one in found for metric in headlines(one.summaries)]
        chosen = list(dict.fromkeys(shown))[:_MOST_METRICS]
    return History(store.place.shown, tuple(found), tuple(chosen), count(store))


def shown(store: Store, reference: str) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""
    evaluation = resolve(store, reference if reference.startswith("@") else f"@{reference}")
    return Shown(evaluation, load_scores(store, evaluation))


def metric_names(metrics: str | Iterable[str] | None) -> list[str] | None:
    """The names of metrics as results have them; the combined score is one too.

    >>> metric_names("recall@5,10, score")
    ['recall@5', 'recall@10', 'score']
    """
    if metrics is None:
        return None
    several = [metrics] if isinstance(metrics, str) else list(metrics)
    given = [one.strip() for text in several for one in split(text)]
    plain = [one for one in given if one != "score"]
    found = [str(metric) for metric in parse(plain)] if plain else []
    return [*found, "score"] if "score" in given else found


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
