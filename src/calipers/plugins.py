"""Plug-ins: what other packages add to Calipers through entry points.

A package declares a group and an object in its metadata; installing it is enough. Nothing
is loaded before it is needed. A plug-in that cannot be loaded gives a warning, and
everything else works without it.
"""

import warnings
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

FORMATS = "calipers.formats"
METRICS = "calipers.metrics"
RETRIEVERS = "calipers.retrievers"


class PluginWarning(UserWarning):
    """A plug-in that could not be loaded."""


@cache
def declared(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name; none is loaded.

    >>> declared("calipers.nothing")
    mappingproxy({})
    """
    known: dict[str, EntryPoint] = {}
    for entry in sorted(
        entry_points(group=group),
        key=lambda entry_point: (entry_point.name, entry_point.value),
    ):
        first = known.setdefault(entry.name, entry)
        if first.value != entry.value:
            warn(group, entry.name, f"{entry.value} has the name that {first.value} has")
    return MappingProxyType(known)


@cache
def load(group: str, name: str) -> Any | None:
    """Load the object of an entry point; None, with a warning, if it is broken."""
    entry = declared(group)[name]
    try:
        return entry.load()
    except Exception as error:  # noqa: BLE001 - another's module may raise anything
        warn(group, name, f"{entry.value} raises {type(error).__name__}: {error}")
        return None


def found(group: str) -> Mapping[str, Any]:
    """Load every working object of a group, by name."""
    loaded = {name: load(group, name) for name in declared(group)}
    return {name: plugin for name, plugin in loaded.items() if plugin is not None}


def warn(group: str, name: str, why: str) -> None:
    """Warn that a plug-in is ignored, and why."""
    warnings.warn(
        f"The plug-in {name!r} of {group} is left out: {why}; repair it, or uninstall "
        "it.",
        PluginWarning,
        stacklevel=2,
    )
