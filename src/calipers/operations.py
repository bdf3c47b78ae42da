"""Every operation: importing this loads them all, so that the table of them is complete."""

from importlib import import_module

from calipers import _HOMES
from calipers.operation import OPERATIONS as OPERATIONS

for _module in _HOMES:
    if _module.startswith(("labels", "live", "questions")) and not _module.endswith("result"):
        import_module(f"calipers.{_module}")
