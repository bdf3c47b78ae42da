"""Calipers measures the retriever of a RAG pipeline.

It tells you how good your retriever is, at which k, why it fails, whether the change
helped, and stops the build when it did not.

Everything is loaded when first used: importing this package costs next to nothing, and
the one-query functions need nothing but the standard library. ``__init__.pyi``, which
editors and type checkers read, is written from this table by ``tools/write_stub.py``.
"""

# No import stands here: the command comes by before it can take Ctrl-C.

_NAMES = {
    "errors": "CalipersError",
    "functions": (
        "average_precision confusion_at_k f1_at_k hit_rate_at_k ndcg_at_k precision_at_k "
        "recall_at_k reciprocal_rank"
    ),
    "integrations.scorer": "scorer",
    "labels.settings": (
        "labels_desk labels_draft labels_export labels_import labels_list labels_pool "
        "labels_sample labels_traces"
    ),
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
    "questions.diagnose.settings": "diagnose",
    "questions.evaluate.settings": "calls corrected evaluate levels read",
    "questions.fuse.settings": "fuse",
    "questions.gate.result": "Verdict",
    "questions.gate.settings": "gate gate_save",
    "questions.grid.settings": "grid",
    "questions.grow.settings": "grow",
    "questions.history.settings": "history history_alarm history_show history_trend save",
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
"""The public names, by the module that holds them."""


_HOMES = {
    name: f"calipers.{module}"
    for module, names in _NAMES.items()
    for name in names.split()
}
"""The module of every public name."""


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'calipers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
