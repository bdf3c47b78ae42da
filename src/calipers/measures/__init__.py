"""Every metric, defined once: importing this package fills the registry."""

from calipers.measures import counts, coverage, gain, judged, rank
from calipers.measures.compute import compute
from calipers.measures.define import Definition, definitions
from calipers.measures.spec import Metric, parse, parse_one

__all__ = ["Definition", "Metric", "compute", "definitions", "parse", "parse_one"]

_DEFINING_MODULES = (counts, rank, gain, judged, coverage)
