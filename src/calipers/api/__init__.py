"""What the library does, one function per operation; every face calls these and nothing else."""

from calipers.api.agreement import agreement
from calipers.api.audit import audit
from calipers.api.baseline import read_baseline, save_baseline
from calipers.api.bounds import bounds
from calipers.api.compare import compare
from calipers.api.convert import convert
from calipers.api.diagnose import diagnose, rules
from calipers.api.draft import draft
from calipers.api.evaluate import evaluate
from calipers.api.gate import gate
from calipers.api.index_recall import index_recall
from calipers.api.judge import judge
from calipers.api.levels import levels
from calipers.api.metrics import metrics
from calipers.api.misses import misses
from calipers.api.questions import write_questions
from calipers.api.resolve import resolve
from calipers.api.retrieve import retrieve, retrieve_for, retrieve_to_report
from calipers.api.slices import slices
from calipers.api.sweep import sweep

__all__ = [
    "agreement",
    "audit",
    "bounds",
    "compare",
    "convert",
    "diagnose",
    "draft",
    "evaluate",
    "gate",
    "index_recall",
    "judge",
    "levels",
    "metrics",
    "misses",
    "read_baseline",
    "resolve",
    "retrieve",
    "retrieve_for",
    "retrieve_to_report",
    "rules",
    "save_baseline",
    "slices",
    "sweep",
    "write_questions",
]
