"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change helped,
and stops the build when it did not.

The operations are those of ``calipers.api``, which declares each of them once. Everything is
loaded when first used: importing this package costs next to nothing, and the one-query functions
need nothing but the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # What an editor and a type checker see; at run time __getattr__ finds the same.
    from calipers.api.change import *
    from calipers.api.decide import *
    from calipers.api.explain import *
    from calipers.api.history import *
    from calipers.api.labels import *
    from calipers.api.live import *
    from calipers.api.measure import *
    from calipers.api.pages import *
    from calipers.api.truth import *
    from calipers.errors import CalipersError as CalipersError
    from calipers.functions import average_precision as average_precision
    from calipers.functions import confusion_at_k as confusion_at_k
    from calipers.functions import f1_at_k as f1_at_k
    from calipers.functions import hit_rate_at_k as hit_rate_at_k
    from calipers.functions import ndcg_at_k as ndcg_at_k
    from calipers.functions import precision_at_k as precision_at_k
    from calipers.functions import recall_at_k as recall_at_k
    from calipers.functions import reciprocal_rank as reciprocal_rank
    from calipers.integrations.scorer import scorer as scorer
    from calipers.model.comparison import Comparison as Comparison
    from calipers.model.gate import Verdict as Verdict
    from calipers.model.ground_truth import GroundTruth as GroundTruth
    from calipers.model.matched import Matched as Matched
    from calipers.model.misses import Misses as Misses
    from calipers.model.plot import Plot as Plot
    from calipers.model.policy import Policy as Policy
    from calipers.model.report import Report as Report
    from calipers.model.run import Run as Run
    from calipers.model.scores import Scores as Scores
    from calipers.version import __version__ as __version__

    __all__: list[str]

_HOMES = {
    "CalipersError": "errors",
    "Comparison": "model.comparison",
    "GroundTruth": "model.ground_truth",
    "Matched": "model.matched",
    "Misses": "model.misses",
    "Plot": "model.plot",
    "Policy": "model.policy",
    "Report": "model.report",
    "Run": "model.run",
    "Scores": "model.scores",
    "Verdict": "model.gate",
    "__version__": "version",
    "average_precision": "functions",
    "confusion_at_k": "functions",
    "f1_at_k": "functions",
    "hit_rate_at_k": "functions",
    "ndcg_at_k": "functions",
    "precision_at_k": "functions",
    "recall_at_k": "functions",
    "reciprocal_rank": "functions",
    "scorer": "integrations.scorer",
}
"""Public names that are no operations, with their modules."""

if not TYPE_CHECKING:  # A type checker that sees this believes in every name.

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            return getattr(import_module(f"calipers.{_HOMES[name]}"), name)
        operations = import_module("calipers.api.surface").OPERATIONS
        if name == "__all__":
            return sorted([*_HOMES, *operations])
        if name in operations:
            return operations[name].function
        raise AttributeError(f"module 'calipers' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __getattr__("__all__")
