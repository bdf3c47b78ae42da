"""References of measures that are the mean gain of what a reader sees: INST and nearly ERR."""

from collections.abc import Callable

from scipy.special import polygamma

from tests.reference_query import Query, credited, wanted, worth


def inst(
    query: Query, t: float = 1.0, gmax: float | None = None, gains: str | None = None
) -> float:
    query = worth(query, gains)
    highest = query.highest if gmax is None else gmax
    gain_at = dict(
        credited(query, wanted(query), None, lambda grade, before: (grade - before) / highest)
    )
    weight, weights, earned, missing = 1.0, 0.0, 0.0, t
    for rank in range(1, max(gain_at, default=0) + 2):
        weights += weight
        earned += weight * gain_at.get(rank, 0.0)
        missing -= gain_at.get(rank, 0.0)
        weight *= ((rank + t + missing - 1) / (rank + t + missing)) ** 2
    # Nothing comes any more: all further weights, each (rank / (rank + 1))² of the one before.
    weights += weight * (rank + t + missing) ** 2 * float(polygamma(1, rank + t + missing))
    return earned / weights


def nearly_err(
    query: Query,
    k: int | None,
    gmax: float | None,
    gains: str | None,
    goes_on: Callable[[int], float],
    tail: Callable[[int], float],
) -> float:
    """The mean gain of what is seen, where a share goes on after each rank; ``tail`` is the sum of
    all weights from a rank on, for one reader there, where nothing comes any more."""
    query = worth(query, gains)
    highest = query.highest if gmax is None else gmax
    gain_at = dict(
        credited(query, wanted(query), k, lambda grade, before: (grade - before) / highest)
    )
    weight, weights, total = 1.0, 0.0, 0.0
    for rank in range(1, max(gain_at, default=0) + 1 if k is None else k + 1):
        gain = gain_at.get(rank, 0.0)
        weights += weight
        total += weight * gain
        weight *= goes_on(rank) * (1 - gain)
    return total / (weights + weight * tail(max(gain_at, default=0) + 1))


def nerr8(query: Query, k: int, gmax: float | None = None, gains: str | None = None) -> float:
    return nearly_err(query, k, gmax, gains, lambda rank: 1.0, lambda rank: 0.0)


def nerr9(query: Query, k: int, gmax: float | None = None, gains: str | None = None) -> float:
    return nearly_err(query, k, gmax, gains, lambda rank: rank / (rank + 1), lambda rank: 0.0)


def nerr10(
    query: Query, p: float = 0.9, gmax: float | None = None, gains: str | None = None
) -> float:
    return nearly_err(query, None, gmax, gains, lambda rank: p, lambda rank: 1 / (1 - p))


def nerr11(
    query: Query, t: float = 1.0, gmax: float | None = None, gains: str | None = None
) -> float:
    def goes_on(rank: int) -> float:
        return ((rank + 2 * t - 1) / (rank + 2 * t)) ** 2

    def tail(rank: int) -> float:
        # From rank r on the weights are (r - 1 + 2t)² / (r - 1 + 2t + i)², for i = 0, 1, 2 …
        at = rank - 1 + 2 * t
        return at**2 * float(polygamma(1, at))

    return nearly_err(query, None, gmax, gains, goes_on, tail)
