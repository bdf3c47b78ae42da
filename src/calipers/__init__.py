"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change helped,
and stops the build when it did not.

The operations are those of ``calipers.api``, which declares each of them once. Importing this
package loads neither numpy nor polars: the one-query functions need nothing but the standard
library, and the nouns below are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calipers.api import OPERATIONS
from calipers.errors import CalipersError as CalipersError
from calipers.functions import average_precision as average_precision
from calipers.functions import confusion_at_k as confusion_at_k
from calipers.functions import f1_at_k as f1_at_k
from calipers.functions import hit_rate_at_k as hit_rate_at_k
from calipers.functions import ndcg_at_k as ndcg_at_k
from calipers.functions import precision_at_k as precision_at_k
from calipers.functions import recall_at_k as recall_at_k
from calipers.functions import reciprocal_rank as reciprocal_rank
from calipers.version import __version__ as __version__

if TYPE_CHECKING:
    # What an editor and a type checker see of the operations.
    from calipers.api.decide import *
    from calipers.api.history import *
    from calipers.api.live import *
    from calipers.api.measure import *
    from calipers.api.truth import *
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

_NOUNS = {
    "Comparison": "comparison",
    "GroundTruth": "ground_truth",
    "Matched": "matched",
    "Misses": "misses",
    "Plot": "plot",
    "Policy": "policy",
    "Report": "report",
    "Run": "run",
    "Scores": "scores",
    "Verdict": "gate",
}
"""The nouns that a user may name, with their modules in calipers.model."""

_PLAIN = (
    "CalipersError",
    "__version__",
    "average_precision",
    "confusion_at_k",
    "f1_at_k",
    "hit_rate_at_k",
    "ndcg_at_k",
    "precision_at_k",
    "recall_at_k",
    "reciprocal_rank",
)

__all__ = sorted([*_PLAIN, *_NOUNS, *OPERATIONS])


if not TYPE_CHECKING:  # A type checker that sees this believes in every name.

    def __getattr__(name: str) -> Any:
        if name in OPERATIONS:
            return OPERATIONS[name].function
        if name in _NOUNS:
            return getattr(import_module(f"calipers.model.{_NOUNS[name]}"), name)
        raise AttributeError(f"module 'calipers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
