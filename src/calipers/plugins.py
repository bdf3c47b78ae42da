"""What other packages add to Calipers, found by the entry points they declare.

A package names a group and an object in its own metadata, and installing it is all there is to
do. Nothing of it is loaded before it may be needed. One that cannot be loaded is named in a
warning, and everything else goes on as if it were not there.
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
    """A package that was to add something to Calipers and could not."""


@cache
def declared(group: str) -> Mapping[str, EntryPoint]:
    """What installed packages declare in a group, by name; none of it is loaded.

    >>> declared("calipers.nothing")
    mappingproxy({})
    """
    known: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda one: (one.name, one.value)):
        first = known.setdefault(entry.name, entry)
        if first.value != entry.value:
            warn(group, entry.name, f"{entry.value} has the name that {first.value} has")
    return MappingProxyType(known)


@cache
def load(group: str, name: str) -> Any | None:
    """The object that a package declares under the name; None, with a warning, if it is broken."""
    entry = declared(group)[name]
    try:
        return entry.load()
    except Exception as error:  # noqa: BLE001 - another's module may raise anything
        warn(group, name, f"{entry.value} raises {type(error).__name__}: {error}")
        return None


def found(group: str) -> Mapping[str, Any]:
    """Every object of a group that can be loaded, by name."""
    loaded = {name: load(group, name) for name in declared(group)}
    return {name: one for name, one in loaded.items() if one is not None}


def warn(group: str, name: str, why: str) -> None:
    """Say that a plug-in is left out, and why."""
    warnings.warn(
        f"The plug-in {name!r} of {group} is left out: {why}; repair it, or uninstall it.",
        PluginWarning,
        stacklevel=2,
    )
