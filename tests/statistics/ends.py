"""The interval of a mean as a pair of numbers."""

from calipers.statistics.score_interval import Ends, mean_interval


def score_interval(*values, **settings):
    found = mean_interval(*values, **settings)
    return None if found is None else Ends(found.low, found.high)
