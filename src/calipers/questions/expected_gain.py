"""The gain of the best of several settings: on these queries, and to expect on new ones."""

from dataclasses import dataclass
from typing import Self

from calipers.model.plain import Plain
from calipers.statistics.winner import WinnerGain
from calipers.words import signed


@dataclass(frozen=True)
class ExpectedGain(Plain):
    """The gain of the best setting over the one in use."""

    here: float
    """The gain on these queries, on which it was chosen."""
    expected: float
    """The gain on new queries, by cross-validation: each part of the queries is measured with the
    setting that is best on the others."""
    low: float | None
    high: float | None

    @classmethod
    def of(cls, gain: WinnerGain) -> Self:
        """The gain as a result that can be kept."""
        ends = (None, None) if gain.interval is None else gain.interval
        return cls(gain.here, gain.expected, *ends)

    def sentence(self, name: str) -> str | None:
        """What to expect of the named setting; None without a gain or an interval.

        >>> ExpectedGain(0.2, 0.1, -0.05, 0.25).sentence("k = 3")
        'k = 3 gained +0.200 here, where it was chosen. Expect +0.100 on new queries, likely \
−0.050 to +0.250.'
        """
        if self.low is None or self.high is None or self.here <= 0:
            return None
        return (
            f"{name} gained {signed(self.here)} here, where it was chosen. "
            f"Expect {signed(self.expected)} on new queries, likely {signed(self.low)} to "
            f"{signed(self.high)}."
        )
