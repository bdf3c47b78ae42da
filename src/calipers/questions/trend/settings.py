"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from calipers.operation import operation
from calipers.questions.reading import Where

if TYPE_CHECKING:
    from calipers.questions.trend.result import Trend


@operation(page="history", command="trend")
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
) -> "Trend":
    """The means of some metrics with their intervals, evaluation by evaluation.

    ``by`` is a tag of the queries (or length, targets): one line for each value. Marks say before
    which evaluations the ground truth or the corpus changed: numbers on both sides of a mark are
    not comparable. The other arguments are those of ``history``.
    """
    from calipers.questions.history.rule import Filter
    from calipers.questions.trend.rule import moved
    from calipers.store.open import open_store

    wanted = Filter.of(
        name,
        tags=tags,
        branch=branch,
        since=since,
        until=until,
        last=last,
        metrics=metrics,
        now=now,
    )
    return moved(open_store(store), name, wanted, by)
