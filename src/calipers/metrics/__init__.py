"""Every metric, defined once: importing this package fills the registry."""

from calipers.metrics import (
    counts,
    coverage,
    curve,
    diversity,
    gain,
    inst,
    judged,
    rank,
    sets,
)
from calipers.metrics.compute import compute
from calipers.metrics.define import Definition, definitions
from calipers.metrics.spec import Metric, parse, parse_one

__all__ = ["Definition", "Metric", "compute", "definitions", "parse", "parse_one"]

_DEFINING_MODULES = (counts, sets, rank, curve, gain, inst, diversity, judged, coverage)
