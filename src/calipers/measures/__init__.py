"""Every metric, defined once: a metric exists once its module was loaded.

The modules that nearly every evaluation uses are loaded with this package, the others when a
name is asked for that these do not define.
"""

from calipers.measures import counts, gain, rank
from calipers.measures.compute import compute
from calipers.measures.define import Definition, define_later, definitions, load_plugged, metric
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

_DEFINING_MODULES = (counts, rank, gain)
define_later(
    "calipers.measures.coverage",
    "calipers.measures.diversity",
    "calipers.measures.judged",
    "calipers.measures.leaks",
)
