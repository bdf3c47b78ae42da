"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from calipers.operation import Setting, operation
from calipers.questions.history.settings import Branch, WithTags
from calipers.questions.reading import Primary, Store

if TYPE_CHECKING:
    from calipers.questions.alarm.result import Alarm


@operation(page="history", command="history alarm")
def history_alarm(
    name: Annotated[str, Setting("", argument="NAME")],
    *,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting("Metrics to watch. [default: the primary]", "-m", "LIST"),
    ] = None,
    primary: Primary = None,
    by: Annotated[
        str | Iterable[str],
        Setting(
            "Check each value of a tag too; may be given several times.",
            metavar="TAG",
            several=True,
        ),
    ] = (),
    reference: Annotated[
        int,
        Setting(
            "The first N evaluations are the period that later ones are compared with; one that "
            "rang is not among them.",
            metavar="N",
        ),
    ] = 7,
    allow: Annotated[
        float,
        Setting("A loss of up to this in the mean of a metric does not ring.", metavar="LOSS"),
    ] = 0.02,
    since: Annotated[
        str | datetime | None,
        Setting(
            "Begin the reference at this time, such as after a deliberate change: a date, or an "
            "age such as 30d.",
            metavar="TIME",
        ),
    ] = None,
    tags: WithTags = None,
    branch: Branch = None,
    false_alarms: Annotated[
        float,
        Setting(
            "How many false alarms a year are acceptable, with one evaluation a day.", metavar="N"
        ),
    ] = 1.0,
    store: Store = None,
) -> "Alarm":
    """Have the evaluations of a name become worse than its reference period, and since when?

    The reference are the first ``reference`` evaluations of the name (from ``since`` on) that did
    not ring. The latest and the mean of the last seven are compared with it, query by query, where
    question and ground truth are the same, so that a drop is the retriever's. It rings where a
    loss of more than ``allow`` is shown; a retriever that does not change rings at most
    ``false_alarms`` times a year of one evaluation a day, over all metrics and slices together.
    ``metrics`` default to the ``primary`` one; ``by`` are tags whose values are checked one by
    one. ``tags`` and ``branch`` leave out other evaluations of the name.
    """
    from calipers.questions.alarm import rule
    from calipers.questions.alarm.reference_period import watched
    from calipers.questions.history.rule import Filter, metric_names
    from calipers.store.open import open_store

    rule.check_watch(false_alarms, reference, allow)
    wanted = Filter.of(name, tags=tags, branch=branch, since=since, metrics=())
    return rule.alarm(
        name,
        watched(open_store(store), wanted),
        metric_names(metrics),
        by,
        primary=primary,
        reference=reference,
        allow=allow,
        false_alarms=false_alarms,
    )
