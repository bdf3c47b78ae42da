"""List the evaluations of a history, show one of them, or draw lines through several."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from calipers.errors import InvalidInput, check_number
from calipers.measures import parse
from calipers.measures.spec import split
from calipers.model.age import span_of
from calipers.model.evaluation import Evaluation
from calipers.model.scores import Summary
from calipers.questions.default_metrics import headlines
from calipers.questions.history.result import History, Line, Point, Shown
from calipers.store.listing import (
    count,
    evaluations,
    names_of,
    resolve,
    unknown_reference,
)
from calipers.store.load import load_scores
from calipers.store.open import Store
from calipers.words import did_you_mean

if TYPE_CHECKING:
    from calipers.questions.history.settings import HistoryAlarmSettings, HistorySettings

_MOST_METRICS = 4
"""How many metrics a list has by default."""


def selected(
    store: Store,
    name: str | None,
    settings: "HistorySettings | HistoryAlarmSettings",
) -> list[Evaluation]:
    """The evaluations that settings such as ``since`` select, newest first."""
    last = settings.last
    if last is not None:
        check_number("The number of evaluations", last, whole=True, least=1)
    which = settings.which
    since, until = span_of(which.since, which.until, which.now)
    if name is not None and name not in (known := names_of(store)):
        raise unknown_reference(
            store, f"@{name}", [f"@{known_name}" for known_name in known]
        )
    return evaluations(
        store,
        name=name,
        since=since,
        until=until,
        last=last,
        metrics=metric_names(settings.metrics),
    )


def listed(store: Store, name: str | None, settings: "HistorySettings") -> History:
    """The selected evaluations, with the metrics to list."""
    evaluations = selected(store, name, settings)
    chosen = metric_names(settings.metrics)
    if chosen is None:
        shown = [
            metric
            for evaluation in evaluations
            for metric in headlines(evaluation.summaries)
        ]
        chosen = list(dict.fromkeys(shown))[:_MOST_METRICS]
    return History(store.place.shown, tuple(evaluations), tuple(chosen), count(store))


def shown(store: Store, reference: str) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""
    evaluation = resolve(
        store, reference if reference.startswith("@") else f"@{reference}"
    )
    return Shown(evaluation, load_scores(store, evaluation))


def metric_names(metrics: str | Iterable[str] | None) -> list[str] | None:
    """Expand metric names to those used in results.

    >>> metric_names("recall@5,10, mrr")
    ['recall@5', 'recall@10', 'mrr']
    """
    if metrics is None:
        return None
    several = [metrics] if isinstance(metrics, str) else list(metrics)
    texts = [word.strip() for text in several for word in split(text)]
    return [str(metric) for metric in parse(texts)]


def lines_of(
    name: str,
    evaluations: Sequence[Evaluation],
    metrics: Sequence[str],
    latest: Iterable[str],
) -> tuple[Line, ...]:
    """A line for each metric through evaluations, oldest first.

    ``latest`` are the metrics that the latest has, for an error.
    """
    known = {metric for evaluation in evaluations for metric in evaluation.summaries}
    for metric in metrics:
        if metric not in known:
            have = list(latest)
            raise InvalidInput(
                f"The evaluations called {name} have no {metric}; the latest has "
                f"{', '.join(have)}.{did_you_mean(metric, have)}"
            )
    return tuple(
        Line(
            metric,
            _points(
                evaluations,
                [evaluation.summaries.get(metric) for evaluation in evaluations],
            ),
        )
        for metric in metrics
    )


def _points(
    evaluations: Sequence[Evaluation], summaries: Iterable[Summary | None]
) -> tuple[Point, ...]:
    """A point for each evaluation that has a mean."""
    return tuple(
        Point(
            evaluation.id,
            evaluation.saved,
            evaluation.commit,
            summary.mean,
            summary.interval.low if summary.interval else None,
            summary.interval.high if summary.interval else None,
            summary.n,
        )
        for evaluation, summary in zip(evaluations, summaries, strict=True)
        if summary is not None and summary.mean is not None
    )
