"""How a named evaluation moved over time."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from calipers.analyse.headlines import headlines
from calipers.analyse.trend import slice_summaries, trend_of
from calipers.api.history import check_known, check_last, metric_names
from calipers.api.times import span_of
from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.model.trend import Trend
from calipers.store.place import Where
from calipers.suggest import did_you_mean


def trend(
    name: str,
    *,
    metrics: str | Iterable[str] | None = None,
    by: str | None = None,
    tags: Mapping[str, str] | None = None,
    branch: str | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    last: int | None = 50,
    store: Where = None,
    now: datetime | None = None,
) -> Trend:
    """The means of some metrics with their intervals, evaluation by evaluation.

    ``by`` is a tag of the queries (or length, targets): one line for each value. Marks say before
    which evaluations the ground truth or the corpus changed: numbers on both sides of a mark are
    not comparable. The other arguments are those of ``history``.
    """
    from calipers.store.listing import evaluations
    from calipers.store.open import open_store

    check_last(last)
    begin, end = span_of(since, until, now)
    wanted = metric_names(metrics)
    opened = open_store(store)
    check_known(opened, name)
    found = evaluations(
        opened, name=name, branch=branch, tags=tags, since=begin, until=end, last=last,
        metrics=wanted, slices=[by] if by else (),
    )  # fmt: skip
    if not found:
        raise InvalidInput(
            f"No evaluation called {name} is left after the filters; there are others of that "
            "name (`calipers history` lists them)."
        )
    known = list(dict.fromkeys(metric for one in found for metric in one.summaries))
    if wanted is None:
        wanted = headlines(found[0].summaries)
    for metric in wanted:
        if metric not in known:
            have = list(show_metrics(opened, found[0]))
            raise InvalidInput(
                f"The evaluations called {name} have no {metric}; the latest has "
                f"{', '.join(have)}.{did_you_mean(metric, have)}"
            )
    if by is not None:
        found = _sliced(opened, found, by)
    return trend_of(name, found, wanted, by)


def show_metrics(opened: Any, evaluation: Evaluation) -> Iterable[str]:
    """The names of all metrics of an evaluation."""
    from calipers.store.listing import evaluations
    from calipers.store.schema import EVALUATION

    return evaluations(opened, where=[EVALUATION.c.id == evaluation.id])[0].summaries


def _sliced(opened: Any, found: list[Evaluation], by: str) -> list[Evaluation]:
    """The evaluations with slices: as they were kept, or else made from the scores per query."""
    from calipers.store.load import load_scores

    made, last = [], None
    for one in found:
        if not any(part.tag == by for part in one.slices):
            try:
                cut = slice_summaries(load_scores(opened, one), by)
                parts = tuple(SliceSummary(by, value, summary) for value, summary in cut)
            except InvalidInput as error:
                # Older evaluations may lack the tag; that all of them do is an error.
                last, parts = error, ()
            one = replace(one, slices=parts)
        made.append(one)
    if last is not None and not any(one.slices for one in made):
        raise last
    return made
