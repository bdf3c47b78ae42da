"""What may be asked here, declared once: names, types and defaults."""

from typing import TYPE_CHECKING, Any

from calipers.operation import operation

if TYPE_CHECKING:
    pass


@operation(page="metrics", command="metrics")
def metrics(name: str | None = None) -> list[dict[str, Any]]:
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> metrics("P_5")[0]["name"]
    'precision'
    """
    from calipers.measures.listing import list_metrics

    return list_metrics(name)
