"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Unpack

from calipers.operation import Setting, operation
from calipers.questions.history.settings import Which
from calipers.questions.reading import Store

if TYPE_CHECKING:
    from calipers.questions.trend.rule import Trend


@operation(page="history", command="history trend")
def history_trend(
    name: Annotated[str, Setting("", argument="NAME")],
    *,
    metrics: Annotated[
        str | Iterable[str] | None,
        Setting("Metrics to draw. [default: a few that matter most]", "-m", "LIST"),
    ] = None,
    by: Annotated[
        str | None,
        Setting("One line for each value of a tag, or by length or targets.", metavar="TAG"),
    ] = None,
    last: Annotated[int | None, Setting("How many evaluations; 0: all.", "-n")] = 50,
    store: Store = None,
    **which: Unpack[Which],
) -> "Trend":
    """The means of some metrics with their intervals, evaluation by evaluation.

    ``by`` is a tag of the queries (or length, targets): one line for each value. Marks say before
    which evaluations the ground truth or the corpus changed: numbers on both sides of a mark are
    not comparable. The other arguments are those of ``history``.
    """
    from calipers.questions.history.rule import Filter
    from calipers.questions.trend.rule import moved
    from calipers.store.open import open_store

    wanted = Filter.of(name, last=last, metrics=metrics, **which)
    return moved(open_store(store), name, wanted, by)
