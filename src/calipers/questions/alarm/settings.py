"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from calipers.operation import operation
from calipers.questions.reading import Where

if TYPE_CHECKING:
    from calipers.questions.alarm.result import Alarm


@operation(page="history", command="alarm")
def alarm(
    name: str,
    *,
    metrics: str | Iterable[str] | None = None,
    by: str | Iterable[str] = (),
    primary: str | None = None,
    reference: int = 7,
    since: str | datetime | None = None,
    tags: Mapping[str, str] | None = None,
    branch: str | None = None,
    false_alarms: float = 1.0,
    store: Where = None,
) -> "Alarm":
    """Have the evaluations of a name become worse than its reference period, and since when?

    The reference are the first ``reference`` evaluations of the name (from ``since`` on); every
    later one adds what it lost to a sum that starts again at zero when nothing is lost, so that
    a slow decline shows too. Queries are compared where question and ground truth are the same,
    so that a drop is the retriever's. A retriever that does not change raises at most
    ``false_alarms`` a year of one evaluation a day, over all metrics and slices together.
    ``metrics`` default to the ``primary`` one; ``by`` are tags whose values are checked one by
    one. ``tags`` and ``branch`` leave out other evaluations of the name.
    """
    from calipers.questions.alarm import rule
    from calipers.questions.alarm.reference_period import watched
    from calipers.questions.history.rule import Filter, metric_names
    from calipers.store.open import open_store

    rule.check_watch(false_alarms, reference)
    wanted = Filter.of(name, tags=tags, branch=branch, since=since, metrics=())
    return rule.alarm(
        name,
        watched(open_store(store), wanted),
        metric_names(metrics),
        by,
        primary=primary,
        reference=reference,
        false_alarms=false_alarms,
    )
