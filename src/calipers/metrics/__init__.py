"""Every metric, defined once: importing this package fills the registry."""

from calipers.metrics import counts, coverage, gain, judged, rank
from calipers.metrics.compute import compute
from calipers.metrics.define import Definition, definitions, load_plugged, metric
from calipers.metrics.spec import Metric, parse, parse_one

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

_DEFINING_MODULES = (counts, rank, gain, judged, coverage)
