"""The metrics that people use, all there are, or one of them: what may be asked, and the answer."""

from typing import Annotated, Any, ClassVar

from calipers.model.result import HasRows
from calipers.operation import Setting, operation

COMMON = frozenset(
    {
        *("hit_rate", "precision", "recall", "f1", "full_recall", "ndcg", "mrr", "map", "rbp"),
        *("r_precision", "span_recall", "span_precision", "iou", "judged", "leak_rate"),
    }
)
"""Those that are listed where not all are asked for."""


class MetricList(HasRows, list[dict[str, Any]]):
    """Metrics as plain values."""

    shown_by: ClassVar[str] = "calipers.questions.metrics.document"


@operation(page="metrics", command="metrics")
def metrics(
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
    *,
    all: Annotated[bool, Setting("List every metric.")] = False,  # noqa: A002 - as the option is called
) -> "MetricList":
    """The usual metrics as plain values, all there are, or the one that a name stands for.

    Those of other packages are listed too. A name may be in any tool's spelling.

    >>> metrics("P_5")[0]["name"], len(metrics()), len(metrics(all=True)) > 40
    ('precision', 15, True)
    """
    from calipers.measures import definitions, load_plugged, parse

    load_plugged()
    chosen = [
        one
        for one in definitions().values()
        if all or one.name in COMMON or not one.function.__module__.startswith("calipers.")
    ]
    if name is not None:
        chosen = [metric.definition for metric in parse([name], ks=[1])][:1]
    return MetricList(definition.to_dict() for definition in chosen)
