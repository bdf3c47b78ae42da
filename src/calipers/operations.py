"""Importing this module loads every operation, so that ``OPERATIONS`` is complete."""

from importlib import import_module

from calipers import _HOMES
from calipers.operation import OPERATIONS as OPERATIONS

for _module in _HOMES:
    _room, _, _name = _module.partition(".")
    if _room in ("labels", "live", "questions") and not _name.endswith(("result", "rule")):
        import_module(f"calipers.{_module}")
