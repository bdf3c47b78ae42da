"""What a history holds: the evaluations that fit a filter, or one of them whole."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from calipers.errors import check_number
from calipers.measures import parse
from calipers.measures.spec import split
from calipers.model.age import span_of
from calipers.model.evaluation import Evaluation
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Scores
from calipers.questions.default_metrics import headlines
from calipers.store.listing import count, evaluations, resolve
from calipers.store.load import load_scores
from calipers.store.open import Store


@dataclass(frozen=True, repr=False)
class History(Plain, HasRows):
    """Saved evaluations, newest first."""

    dict_keys: ClassVar[str] = "place total metrics evaluations"
    shown_by: ClassVar[str] = "calipers.questions.history.show"

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""


@dataclass(frozen=True, eq=False, repr=False)
class Shown(HasRows):
    """One saved evaluation with everything in it."""

    shown_by: ClassVar[str] = "calipers.questions.history.show"

    evaluation: Evaluation
    scores: Scores

    def to_dict(self) -> dict[str, Any]:
        """The result as ``calipers eval --json`` prints it, and what is known of the saving."""
        kept = self.evaluation.to_dict()
        kept.pop("summaries")
        return {**self.scores.to_dict(), "evaluation": kept}


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
        if last is not None:
            check_number("The number of evaluations", last, whole=True, least=1)
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
