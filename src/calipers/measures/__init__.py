"""Every metric, defined once: importing its module registers it."""

from calipers.measures import counts, gain, rank

# Lists of metrics follow this order, the usual ones first.
# isort: split
from calipers.measures import cost, coverage, curve, diversity, judged, no_answer, weighted
from calipers.measures.define import Definition, definitions, load_plugged, metric
from calipers.measures.spec import Metric, parse, parse_one

__all__ = ["Definition", "Metric", "definitions", "load_plugged", "metric", "parse", "parse_one"]

_DEFINING_MODULES = (
    *(counts, gain, rank, curve, coverage, diversity, judged, no_answer, cost, weighted),
)
