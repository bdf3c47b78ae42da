"""A confidence interval."""

from dataclasses import dataclass
from typing import Literal

Method = Literal["bootstrap", "normal", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean over all such queries plausibly lies, at a level such as 0.95."""

    low: float
    high: float
    level: float
    method: Method
