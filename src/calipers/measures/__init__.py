"""Every metric, defined once: importing this package fills the registry."""

from calipers.measures import (
    counts,
    coverage,
    diversity,
    gain,
    judged,
    leaks,
    rank,
)
from calipers.measures.compute import compute
from calipers.measures.define import Definition, definitions, load_plugged, metric
from calipers.measures.spec import Metric, parse, parse_one

__all__ = [
    "Definition",
    "Metric",
    "compute",
    "definitions",
    "load_plugged",
    "metric",
    "parse",
    "parse_one",
]

_DEFINING_MODULES = (counts, rank, gain, diversity, judged, coverage, leaks)
