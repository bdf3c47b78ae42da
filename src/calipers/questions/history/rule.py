"""Questions to a history: what was measured, how it moved, what the latest is compared with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from calipers.engines.summary import slice_summaries
from calipers.errors import InvalidInput
from calipers.measures import parse
from calipers.measures.spec import split
from calipers.model.age import span_of
from calipers.model.evaluation import Evaluation, SliceSummary
from calipers.questions.alarm.reference_period import Watched
from calipers.questions.default_metrics import headlines
from calipers.questions.history.result import History, Shown
from calipers.questions.trend.result import Trend
from calipers.questions.trend.rule import trend_of
from calipers.store.listing import count, evaluations
from calipers.store.load import load_judgements, load_scores
from calipers.store.open import Store
from calipers.store.references import resolve
from calipers.store.schema import EVALUATION
from calipers.suggest import did_you_mean

MOST_METRICS = 4
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
        cls,
        name: str | None = None,
        *,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        now: datetime | None = None,
        last: int | None = None,
        metrics: str | Iterable[str] | None = None,
        tags: Mapping[str, str] | None = None,
        branch: str | None = None,
    ) -> "Filter":
        """As a caller words it, checked before the history is opened."""
        if last is not None and last < 1:
            raise InvalidInput(f"The number of evaluations is {last}; it must be at least 1.")
        begin, end = span_of(since, until, now)
        return cls(
            name=name,
            tags=tags,
            branch=branch,
            since=begin,
            until=end,
            last=last,
            metrics=metric_names(metrics),
        )

    def among(self, store: Store, *, slices: Sequence[str] = ()) -> list[Evaluation]:
        """The evaluations that fit, newest first."""
        if self.name is not None:
            check_known(store, self.name)
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
        chosen = list(dict.fromkeys(shown))[:MOST_METRICS]
    return History(store.place.shown, tuple(found), tuple(chosen), count(store))


def shown(store: Store, reference: str) -> Shown:
    """The whole result of a saved evaluation, exactly as it was."""
    evaluation = resolve(store, reference if reference.startswith("@") else f"@{reference}")
    return Shown(evaluation, load_scores(store, evaluation))


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


def watched(store: Store, wanted: Filter) -> list[Watched]:
    """The evaluations that fit, newest first, with what an alarm needs of each."""
    return [
        Watched(one, load_scores(store, one), load_judgements(store, one))
        for one in wanted.among(store)
    ]


def check_known(store: Store, name: str) -> None:
    """Complain about a name that no evaluation has."""
    resolve(store, f"@name:{name}")


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


def _sliced(store: Store, found: list[Evaluation], by: str) -> list[Evaluation]:
    """The evaluations with slices: as they were kept, or else made from the scores per query."""
    made, last = [], None
    for one in found:
        if not any(part.tag == by for part in one.slices):
            try:
                cut = slice_summaries(load_scores(store, one), by)
                parts = tuple(SliceSummary(by, value, summary) for value, summary in cut)
            except InvalidInput as error:
                # Older evaluations may lack the tag; that all of them do is an error.
                last, parts = error, ()
            one = replace(one, slices=parts)
        made.append(one)
    if last is not None and not any(one.slices for one in made):
        raise last
    return made
