"""Importing this module loads every operation, so that ``OPERATIONS`` is complete."""

from importlib import import_module

from calipers import _HOMES
from calipers.operation import OPERATIONS as OPERATIONS

for _module in dict.fromkeys(_HOMES.values()):
    _is_ours = _module.startswith(
        ("calipers.labels", "calipers.live", "calipers.questions")
    )
    if _is_ours and not _module.endswith((".result", ".rule")):
        import_module(_module)
