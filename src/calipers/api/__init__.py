"""What the library does, one function per operation; every face calls these and nothing else.

An operation is loaded when it is first used, so that one command does not pay for all others.
To add one, import it below and name it in ``__all__`` (and in ``_ELSEWHERE`` if its module has
another name).
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.api.baseline import read_baseline, save_baseline
    from calipers.api.bounds import bounds
    from calipers.api.compare import compare
    from calipers.api.diagnose import diagnose, rules
    from calipers.api.evaluate import evaluate, measure
    from calipers.api.gate import gate
    from calipers.api.grid import grid, plan_grid
    from calipers.api.history import (
        alarm,
        history,
        log_to_mlflow,
        save,
        show,
        store_check,
        store_export,
        store_import,
        store_info,
        store_prune,
        store_vacuum,
        trend,
    )
    from calipers.api.index_recall import index_recall
    from calipers.api.judge import judge
    from calipers.api.levels import levels
    from calipers.api.metrics import metrics
    from calipers.api.misses import misses
    from calipers.api.plot import plot
    from calipers.api.questions import write_questions
    from calipers.api.report import report
    from calipers.api.retrieve import retrieve, retrieve_for, retrieve_to_report
    from calipers.api.slices import slices
    from calipers.api.sweep import sweep
    from calipers.api.truth import agreement, audit, convert, draft, resolve

__all__ = [
    "agreement",
    "alarm",
    "audit",
    "bounds",
    "compare",
    "convert",
    "diagnose",
    "draft",
    "evaluate",
    "gate",
    "grid",
    "history",
    "index_recall",
    "judge",
    "levels",
    "log_to_mlflow",
    "measure",
    "metrics",
    "misses",
    "plan_grid",
    "plot",
    "read_baseline",
    "report",
    "resolve",
    "retrieve",
    "retrieve_for",
    "retrieve_to_report",
    "rules",
    "save",
    "save_baseline",
    "show",
    "slices",
    "store_check",
    "store_export",
    "store_import",
    "store_info",
    "store_prune",
    "store_vacuum",
    "sweep",
    "trend",
    "write_questions",
]

_ELSEWHERE = {
    **dict.fromkeys(("agreement", "audit", "convert", "draft", "resolve"), "truth"),
    **dict.fromkeys(
        (
            "alarm",
            "log_to_mlflow",
            "save",
            "show",
            "store_check",
            "store_export",
            "store_import",
            "store_info",
            "store_prune",
            "store_vacuum",
            "trend",
        ),
        "history",
    ),
    "measure": "evaluate",
    "plan_grid": "grid",
    "read_baseline": "baseline",
    "retrieve_for": "retrieve",
    "retrieve_to_report": "retrieve",
    "rules": "diagnose",
    "save_baseline": "baseline",
    "write_questions": "questions",
}
"""Operations whose module is not named after them."""


class _Operations(ModuleType):
    """This package, with functions where Python would put the modules of the same name."""

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(f"{__name__}.{_ELSEWHERE.get(name, name)}")
        return getattr(home, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # An import of calipers.api.evaluate, by whomever, must not hide the function evaluate.
        if isinstance(value, ModuleType) and name in __all__ and name not in _ELSEWHERE:
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return list(__all__)


sys.modules[__name__].__class__ = _Operations
