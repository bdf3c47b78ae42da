"""Every metric, defined once: importing its module registers it."""

from calipers.measures import counts, gain, rank

# Lists of metrics follow this order, the usual ones first.
# isort: split
from calipers.measures import coverage, diversity, judged, no_answer
from calipers.measures.define import Definition, definitions, load_plugged, metric
from calipers.measures.spec import Metric, parse, parse_one

__all__ = [
    "Definition",
    "Metric",
    "definitions",
    "load_plugged",
    "metric",
    "parse",
    "parse_one",
]

_DEFINING_MODULES = (counts, gain, rank, coverage, diversity, judged, no_answer)
