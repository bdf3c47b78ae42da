"""A model's labels against human labels: sensitivity and specificity."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calipers.errors import InvalidInput
from calipers.statistics.score_interval import Ends, check_confidence, normal_quantile

_DIGITS = 10


@dataclass(frozen=True, slots=True)
class AgainstPeople:
    """Counts of a model's labels against human labels: relevant or not."""

    both: int
    """Relevant to humans and model."""
    missed: int
    """Relevant to humans only: false negatives of the model."""
    invented: int
    """Relevant to the model only: its false positives."""
    neither: int

    def sensitivity(self) -> float | None:
        """The share of items relevant to humans that the model also found relevant."""
        return _share(self.both, self.both + self.missed)

    def specificity(self) -> float | None:
        """The share of items irrelevant to humans that the model also found irrelevant."""
        return _share(self.neither, self.neither + self.invented)

    def sensitivity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the sensitivity."""
        return wilson(self.both, self.both + self.missed, confidence)

    def specificity_interval(self, confidence: float = 0.95) -> Ends | None:
        """Wilson's interval of the specificity."""
        return wilson(self.neither, self.neither + self.invented, confidence)


def against_people(machine: ArrayLike, people: ArrayLike) -> AgainstPeople:
    """Compare labels (True for relevant), one pair per item that both judged.

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


def _share(count: int, n: int) -> float | None:
    return count / n if n else None
