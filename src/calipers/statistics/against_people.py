"""A machine's labels against people's: what it misses, what it invents, and the share that is left.

For a share of things that are relevant: Rogan and Gladen's correction, with Lang and Reiczigel's
interval.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.statistics.score_interval import Ends, check_confidence, normal_quantile

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """The machine's labels against the people's, as counts: relevant or not."""

    both: int
    """Relevant to people and machine."""
    missed: int
    """Relevant to people alone."""
    invented: int
    """Relevant to the machine alone."""
    neither: int

    def sensitivity(self) -> float | None:
        """The share of what people found relevant that the machine did too."""
        return _share(self.both, self.both + self.missed)

    def specificity(self) -> float | None:
        """The share of what people found irrelevant that the machine did too."""
        return _share(self.neither, self.neither + self.invented)

    def sensitivity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the sensitivity."""
        return wilson(self.both, self.both + self.missed, confidence)

    def specificity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the specificity."""
        return wilson(self.neither, self.neither + self.invented, confidence)


def against_people(machine: ArrayLike, people: ArrayLike) -> AgainstPeople:
    """Count labels (True for relevant), one of each for everything that both judged.

    >>> found = against_people([1, 1, 0, 0, 1], [1, 0, 0, 1, 1])
    >>> found.sensitivity(), found.specificity()
    (0.6666666666666666, 0.5)
    """
    told, true = (np.asarray(side, dtype=np.bool_) for side in (machine, people))
    if told.shape != true.shape:
        raise InvalidInput(
            f"The labels do not fit: found {told.size} of the machine and {true.size} of people; "
            "give one of each for everything."
        )
    pairs = ((told & true), (~told & true), (told & ~true), (~told & ~true))
    return AgainstPeople(*(int(np.count_nonzero(pair)) for pair in pairs))


def wilson(count: int, n: int, confidence: float = 0.95) -> Ends | None:
    """Wilson's interval of a share; None where nothing was counted.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    check_confidence(confidence)
    if not n:
        return None
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    share, pull = count / n, z * z / n
    margin = math.sqrt(pull * share * (1.0 - share) + 0.25 * pull * pull)
    low, high = (share + 0.5 * pull + sign * margin for sign in (-1.0, 1.0))
    return Ends(
        0.0 if not count else low / (1.0 + pull), 1.0 if count == n else high / (1.0 + pull)
    )


def corrected_share(
    positives: int, n: int, against: AgainstPeople, confidence: float = 0.95
) -> tuple[float, Ends] | None:
    """The share of relevant things, where the machine called so many of n relevant.

    None where the machine is no better than a coin on the people's labels, or either side of
    these is missing.

    >>> share, ends = corrected_share(600, 1000, AgainstPeople(90, 10, 20, 80))
    >>> round(share, 3), round(ends.low, 2), round(ends.high, 2)
    (0.571, 0.49, 0.66)
    """
    check_confidence(confidence)
    relevant, irrelevant = against.both + against.missed, against.neither + against.invented
    if not n or not relevant or not irrelevant:
        return None
    plain = against.both / relevant + against.neither / irrelevant - 1.0
    z = round(normal_quantile(0.5 + 0.5 * confidence), _DIGITS)
    seen = (positives + z * z / 2) / (n + z * z)
    sensitivity = (against.both + 1) / (relevant + 2)
    specificity = (against.neither + 1) / (irrelevant + 2)
    gain = sensitivity + specificity - 1.0
    if plain <= 0.0 or gain <= 0.0:
        return None
    share = (seen + specificity - 1.0) / gain
    of_seen = seen * (1 - seen) / (n + z * z)
    of_sensitivity = sensitivity * (1 - sensitivity) / (relevant + 2)
    of_specificity = specificity * (1 - specificity) / (irrelevant + 2)
    shift = 2 * z * z * (share * of_sensitivity - (1 - share) * of_specificity)
    variance = of_seen + share**2 * of_sensitivity + (1 - share) ** 2 * of_specificity
    margin = z / gain * math.sqrt(variance)
    value = (positives / n + against.neither / irrelevant - 1.0) / plain
    low, high = (min(max(share + shift + sign * margin, 0.0), 1.0) for sign in (-1.0, 1.0))
    value = min(max(value, 0.0), 1.0)
    return value, Ends(min(low, value), max(high, value))


def _share(count: int, n: int) -> float | None:
    return count / n if n else None
