"""Every metric as plain values, for people and for other programs."""

from typing import Any

from calipers.measures import definitions, load_plugged, parse
from calipers.measures.define import Definition


def list_metrics(name: str | None = None) -> list[dict[str, Any]]:
    """Every metric as plain values, or the one that a name in any spelling stands for.

    >>> list_metrics("P_5")[0]["name"]
    'precision'
    """
    load_plugged()
    chosen = list(definitions().values())
    if name is not None:
        chosen = [metric.definition for metric in parse([name], ks=[1])][:1]
    return [_listed(definition) for definition in chosen]


def _listed(definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "grammar": definition.grammar,
        "formula": definition.summary,
        "notes": definition.notes,
        "cutoff": definition.cutoff,
        "parameters": {
            p.name: {"default": p.default, "allowed": p.allowed}
            for p in definition.parameters.values()
        },
        "better": definition.better,
        "bounds": list(definition.bounds),
        "also_called": list(definition.aliases),
    }
