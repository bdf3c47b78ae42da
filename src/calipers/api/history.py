"""What was measured when, on which commit, how good."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from calipers.analyse.headlines import headlines
from calipers.api.times import span_of
from calipers.errors import InvalidInput
from calipers.model.evaluation import Evaluation
from calipers.store.place import Where


@dataclass(frozen=True)
class History:
    """Saved evaluations, newest first."""

    place: str
    evaluations: tuple[Evaluation, ...]
    metrics: tuple[str, ...]
    """Those to look at first: as asked for, or the headlines."""
    total: int
    """Evaluations in the history, shown or not."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values: what ``--json`` prints."""
        return {
            "place": self.place,
            "total": self.total,
            "metrics": list(self.metrics),
            "evaluations": [one.to_dict() for one in self.evaluations],
        }


def history(
    name: str | None = None,
    *,
    tags: Mapping[str, str] | None = None,
    branch: str | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    last: int | None = 20,
    metrics: str | Iterable[str] | None = None,
    store: Where = None,
    now: datetime | None = None,
) -> History:
    """What was measured when, on which commit, how good; newest first.

    ``since`` and ``until`` are dates or ages such as "30d". ``last`` is how many to list (None:
    all). ``metrics`` are those to show first (default: the headlines).
    """
    from calipers.store.listing import count, evaluations
    from calipers.store.open import open_store

    check_last(last)
    begin, end = span_of(since, until, now)
    wanted = metric_names(metrics)
    opened = open_store(store)
    if name is not None:
        check_known(opened, name)
    found = evaluations(
        opened, name=name, branch=branch, tags=tags, since=begin, until=end,
        last=last, metrics=wanted,
    )  # fmt: skip
    chosen = wanted
    if chosen is None:
        shown = [metric for one in found for metric in headlines(one.summaries)]
        chosen = list(dict.fromkeys(shown))[:4]
    return History(opened.place.shown, tuple(found), tuple(chosen), count(opened))


def check_last(last: int | None) -> None:
    """Refuse a number of evaluations that would list none."""
    if last is not None and last < 1:
        raise InvalidInput(f"The number of evaluations is {last}; it must be at least 1.")


def metric_names(metrics: str | Iterable[str] | None) -> list[str] | None:
    """The names of metrics as results have them; the combined score is one too."""
    if metrics is None:
        return None
    # Loaded for its metrics too: a metric exists once its module was loaded.
    import calipers.metrics.coverage  # noqa: F401
    from calipers.metrics import parse
    from calipers.metrics.spec import split

    several = [metrics] if isinstance(metrics, str) else list(metrics)
    given = [one.strip() for text in several for one in split(text)]
    plain = [one for one in given if one != "score"]
    found = [str(metric) for metric in parse(plain)] if plain else []
    return [*found, "score"] if "score" in given else found


def check_known(opened: Any, name: str) -> None:
    """Complain about a name that no evaluation has."""
    from calipers.store.references import resolve

    resolve(opened, f"@name:{name}")
