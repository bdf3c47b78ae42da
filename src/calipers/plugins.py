"""What other packages add to Calipers, found by the entry points they declare.

A package names a group and an object in its own metadata, and installing it is all there is to
do. Nothing of it is loaded before it may be needed. One that cannot be loaded is named in a
warning, and everything else goes on as if it were not there.
"""

import warnings
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

GROUPS = ("calipers.formats", "calipers.metrics", "calipers.retrievers")


class PluginWarning(UserWarning):
    """A package that was to add something to Calipers and could not."""


@cache
def found(group: str) -> Mapping[str, Any]:
    """The objects that installed packages declare in a group, by name.

    >>> found("calipers.nothing")
    mappingproxy({})
    """
    from importlib.metadata import entry_points

    loaded: dict[str, Any] = {}
    for entry in sorted(entry_points(group=group), key=lambda one: (one.name, one.value)):
        if entry.name in loaded:
            warn(group, entry.name, f"another package declares {entry.name!r} too")
            continue
        try:
            loaded[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - another's module may raise anything
            warn(group, entry.name, f"{entry.value} raises {type(error).__name__}: {error}")
    return MappingProxyType(loaded)


def warn(group: str, name: str, why: str) -> None:
    """Say that a plug-in is left out, and why."""
    warnings.warn(
        f"The plug-in {name!r} of {group} is left out: {why}; repair it, or uninstall it.",
        PluginWarning,
        stacklevel=2,
    )
