"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change helped,
and stops the build when it did not.

The names below are loaded when first used: the one-query functions need nothing but the
standard library, and importing this package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.analyse.neighbours import exact_neighbours
    from calipers.api.baseline import read_baseline, save_baseline
    from calipers.api.bounds import bounds
    from calipers.api.compare import compare
    from calipers.api.diagnose import diagnose
    from calipers.api.evaluate import evaluate
    from calipers.api.gate import gate
    from calipers.api.grid import grid
    from calipers.api.history import alarm, history, save, show, trend
    from calipers.api.index_recall import index_recall
    from calipers.api.judge import judge
    from calipers.api.misses import misses
    from calipers.api.plot import plot
    from calipers.api.questions import write_questions
    from calipers.api.report import report
    from calipers.api.retrieve import retrieve
    from calipers.api.slices import slices
    from calipers.api.sweep import sweep
    from calipers.api.truth import agreement, audit, convert, draft, resolve
    from calipers.errors import CalipersError
    from calipers.functions import (
        average_precision,
        confusion_at_k,
        f1_at_k,
        hit_rate_at_k,
        ndcg_at_k,
        precision_at_k,
        recall_at_k,
        reciprocal_rank,
    )
    from calipers.model.comparison import Comparison
    from calipers.model.gate import Verdict
    from calipers.model.ground_truth import GroundTruth
    from calipers.model.misses import Misses
    from calipers.model.plot import Plot
    from calipers.model.policy import Policy
    from calipers.model.report import Report
    from calipers.model.run import Run
    from calipers.model.scores import Scores
    from calipers.version import __version__

_HOME = {
    "__version__": "calipers.version",
    "CalipersError": "calipers.errors",
    "Comparison": "calipers.model.comparison",
    "GroundTruth": "calipers.model.ground_truth",
    "Misses": "calipers.model.misses",
    "Plot": "calipers.model.plot",
    "Policy": "calipers.model.policy",
    "Report": "calipers.model.report",
    "Run": "calipers.model.run",
    "Scores": "calipers.model.scores",
    "Verdict": "calipers.model.gate",
    "agreement": "calipers.api",
    "alarm": "calipers.api",
    "audit": "calipers.api",
    "average_precision": "calipers.functions",
    "bounds": "calipers.api",
    "compare": "calipers.api",
    "confusion_at_k": "calipers.functions",
    "convert": "calipers.api",
    "diagnose": "calipers.api",
    "draft": "calipers.api",
    "evaluate": "calipers.api",
    "exact_neighbours": "calipers.analyse.neighbours",
    "f1_at_k": "calipers.functions",
    "gate": "calipers.api",
    "grid": "calipers.api",
    "history": "calipers.api",
    "hit_rate_at_k": "calipers.functions",
    "index_recall": "calipers.api",
    "judge": "calipers.api",
    "misses": "calipers.api",
    "ndcg_at_k": "calipers.functions",
    "plot": "calipers.api",
    "precision_at_k": "calipers.functions",
    "read_baseline": "calipers.api",
    "recall_at_k": "calipers.functions",
    "reciprocal_rank": "calipers.functions",
    "report": "calipers.api",
    "resolve": "calipers.api",
    "retrieve": "calipers.api",
    "save": "calipers.api",
    "save_baseline": "calipers.api",
    "show": "calipers.api",
    "slices": "calipers.api",
    "sweep": "calipers.api",
    "trend": "calipers.api",
    "write_questions": "calipers.api",
}

__all__ = [
    "CalipersError",
    "Comparison",
    "GroundTruth",
    "Misses",
    "Plot",
    "Policy",
    "Report",
    "Run",
    "Scores",
    "Verdict",
    "__version__",
    "agreement",
    "alarm",
    "audit",
    "average_precision",
    "bounds",
    "compare",
    "confusion_at_k",
    "convert",
    "diagnose",
    "draft",
    "evaluate",
    "exact_neighbours",
    "f1_at_k",
    "gate",
    "grid",
    "history",
    "hit_rate_at_k",
    "index_recall",
    "judge",
    "misses",
    "ndcg_at_k",
    "plot",
    "precision_at_k",
    "read_baseline",
    "recall_at_k",
    "reciprocal_rank",
    "report",
    "resolve",
    "retrieve",
    "save",
    "save_baseline",
    "show",
    "slices",
    "sweep",
    "trend",
    "write_questions",
]

# Python puts a package into its parent when it is first loaded. Loaded here, which costs nothing,
# and taken out again, the room calipers.audit never hides the operation of that name.
import_module("calipers.audit")
globals().pop("audit", None)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'calipers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
