"""What slices and alarm still take from here."""

from calipers.model.scores import MetricFacts

ROUNDING = 1e-12
"""A difference below this is the arithmetic's, not the retriever's."""


def limits_of(facts: MetricFacts) -> tuple[float, float] | None:
    """How far two values of a metric can lie apart, either way; None where nothing is known."""
    low, high = facts.bounds
    return None if high is None else (low - high, high - low)


def corrected_level(level: float, p: float | None, adjusted: float | None) -> float:
    """The level at which an interval leaves out zero exactly where the corrected test rejects.

    A correction multiplies p; the same factor divides what the interval may miss.

    >>> corrected_level(0.95, 0.01, 0.02), corrected_level(0.95, 0.5, None)
    (0.975, 0.95)
    """
    if not p or not adjusted:
        return level
    return round(1.0 - (1.0 - level) * p / adjusted, 12)
