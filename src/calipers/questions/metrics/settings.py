"""Every metric there is, or one of them: what may be asked, and the answer."""

from typing import Annotated, Any, ClassVar

from calipers.model.result import HasRows
from calipers.operation import Setting, operation


class MetricList(HasRows, list[dict[str, Any]]):
    """Metrics as plain values."""

    shown_by: ClassVar[str] = "calipers.questions.metrics.show"


@operation(page="metrics", command="metrics")
def metrics(name: Annotated[str | None, Setting("", argument="[NAME]")] = None) -> "MetricList":
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> metrics("P_5")[0]["name"]
    'precision'
    """
    from calipers.measures import definitions, load_plugged, parse

    load_plugged()
    chosen = list(definitions().values())
    if name is not None:
        chosen = [metric.definition for metric in parse([name], ks=[1])][:1]
    return MetricList(definition.to_dict() for definition in chosen)
