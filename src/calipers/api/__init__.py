"""What the library does, one function per operation; every face calls these and nothing else."""

from calipers.api.audit import audit
from calipers.api.compare import compare
from calipers.api.evaluate import evaluate
from calipers.api.levels import levels
from calipers.api.metrics import metrics
from calipers.api.slices import slices

__all__ = ["audit", "compare", "evaluate", "levels", "metrics", "slices"]
