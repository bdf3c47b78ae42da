"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change helped,
and stops the build when it did not.

``calipers.operations`` lists the operations, each declared where its question lives. Everything
is loaded when first used: importing this package costs next to nothing, and the one-query
functions need nothing but the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # What an editor and a type checker see; at run time __getattr__ finds the same.
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
    from calipers.labels.settings import labels_desk as labels_desk
    from calipers.labels.settings import labels_draft as labels_draft
    from calipers.labels.settings import labels_export as labels_export
    from calipers.labels.settings import labels_import as labels_import
    from calipers.labels.settings import labels_list as labels_list
    from calipers.labels.settings import labels_pool as labels_pool
    from calipers.labels.settings import labels_sample as labels_sample
    from calipers.labels.settings import labels_traces as labels_traces
    from calipers.live.settings import labels_judge as labels_judge
    from calipers.live.settings import retrieve as retrieve
    from calipers.model.ground_truth import GroundTruth as GroundTruth
    from calipers.model.matched import Matched as Matched
    from calipers.model.policy import Policy as Policy
    from calipers.model.run import Run as Run
    from calipers.model.scores import Scores as Scores
    from calipers.questions.audit.settings import audit as audit
    from calipers.questions.begin.settings import first_questions as first_questions
    from calipers.questions.begin.settings import labels_check as labels_check
    from calipers.questions.compare.result import Comparison as Comparison
    from calipers.questions.compare.settings import compare as compare
    from calipers.questions.compare.settings import diff as diff
    from calipers.questions.confirm.settings import confirm as confirm
    from calipers.questions.convert.settings import convert as convert
    from calipers.questions.convert.settings import resolve as resolve
    from calipers.questions.diagnose.settings import diagnose as diagnose
    from calipers.questions.diagnose.settings import rules as rules
    from calipers.questions.evaluate.settings import calls as calls
    from calipers.questions.evaluate.settings import corrected as corrected
    from calipers.questions.evaluate.settings import evaluate as evaluate
    from calipers.questions.evaluate.settings import levels as levels
    from calipers.questions.evaluate.settings import read as read
    from calipers.questions.fuse.settings import fuse as fuse
    from calipers.questions.gate.result import Verdict as Verdict
    from calipers.questions.gate.settings import gate as gate
    from calipers.questions.gate.settings import gate_save as gate_save
    from calipers.questions.gate.settings import gate_show as gate_show
    from calipers.questions.grid.settings import grid as grid
    from calipers.questions.grid.settings import plan_grid as plan_grid
    from calipers.questions.history.settings import history as history
    from calipers.questions.history.settings import history_alarm as history_alarm
    from calipers.questions.history.settings import history_check as history_check
    from calipers.questions.history.settings import history_copy as history_copy
    from calipers.questions.history.settings import history_prune as history_prune
    from calipers.questions.history.settings import history_show as history_show
    from calipers.questions.history.settings import history_trend as history_trend
    from calipers.questions.history.settings import log_to_mlflow as log_to_mlflow
    from calipers.questions.history.settings import save as save
    from calipers.questions.metrics import metrics as metrics
    from calipers.questions.misses.result import Misses as Misses
    from calipers.questions.misses.settings import explain as explain
    from calipers.questions.misses.settings import misses as misses
    from calipers.questions.plan.settings import plan as plan
    from calipers.questions.report.result import Report as Report
    from calipers.questions.report.settings import report as report
    from calipers.questions.seal.settings import seal as seal
    from calipers.questions.slices.settings import slices as slices
    from calipers.questions.sweep.settings import floor as floor
    from calipers.questions.sweep.settings import sweep as sweep
    from calipers.version import __version__ as __version__

    __all__: list[str]

_HOMES = {
    "errors": "CalipersError",
    "functions": (
        "average_precision confusion_at_k f1_at_k hit_rate_at_k ndcg_at_k precision_at_k "
        "recall_at_k reciprocal_rank"
    ),
    "integrations.scorer": "scorer",
    "labels.settings": "labels_desk labels_draft labels_export labels_import "
    "labels_list labels_pool labels_sample labels_traces",
    "live.settings": "labels_judge retrieve",
    "model.ground_truth": "GroundTruth",
    "model.matched": "Matched",
    "model.policy": "Policy",
    "model.run": "Run",
    "model.scores": "Scores",
    "questions.audit.settings": "audit",
    "questions.begin.settings": "first_questions labels_check",
    "questions.compare.result": "Comparison",
    "questions.compare.settings": "compare diff",
    "questions.confirm.settings": "confirm",
    "questions.convert.settings": "convert resolve",
    "questions.diagnose.settings": "diagnose rules",
    "questions.evaluate.settings": "calls corrected evaluate levels read",
    "questions.fuse.settings": "fuse",
    "questions.gate.result": "Verdict",
    "questions.gate.settings": "gate gate_show gate_save",
    "questions.grid.settings": "grid plan_grid",
    "questions.history.settings": (
        "history history_trend history_alarm log_to_mlflow save history_show history_check "
        "history_copy history_prune"
    ),
    "questions.metrics": "metrics",
    "questions.misses.result": "Misses",
    "questions.misses.settings": "explain misses",
    "questions.plan.settings": "plan",
    "questions.report.result": "Report",
    "questions.report.settings": "report",
    "questions.seal.settings": "seal",
    "questions.slices.settings": "slices",
    "questions.sweep.settings": "floor sweep",
    "version": "__version__",
}
"""Every public name, by the module that is loaded when it is first used."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # Hidden from type checkers, which would accept any name because of it.

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            return sorted(_HOME_OF)
        if name in _HOME_OF:
            return getattr(import_module(f"calipers.{_HOME_OF[name]}"), name)
        from calipers.gone import gone

        raise AttributeError(gone(name) or f"module 'calipers' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(_HOME_OF)
