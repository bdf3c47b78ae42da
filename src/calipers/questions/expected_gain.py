"""The gain of the best of several settings: on these queries, and to expect on new ones."""

from typing import Self

from calipers.frozen import dataclass
from calipers.model.fact import Fact, Sentence, named, sentence
from calipers.model.plain import Plain
from calipers.statistics.winner import WinnerGain


@dataclass(frozen=True)
class ExpectedGain(Plain):
    """The gain of the best setting over the one in use."""

    here: float
    """The gain on these queries, on which it was chosen."""
    expected: float
    """The gain on new queries, by cross-validation: each part of the queries is measured
    with the setting that is best on the others."""
    low: float | None
    high: float | None

    @classmethod
    def of(cls, gain: WinnerGain, most: float | None) -> Self:
        """The gain as a result that can be kept; ``most`` is the largest there can be."""
        if gain.interval is None:
            return cls(gain.here, gain.expected, None, None)
        low, high = gain.interval
        if most is not None:
            low, high = max(low, -most), min(high, most)
        return cls(gain.here, gain.expected, low, high)

    def sentence(self, metric: str, leads: str | None = None) -> Sentence | None:
        """What to expect of the chosen setting in a metric; None without a gain or an interval.

        ``leads`` is the name of that setting, where another one is advised.

        >>> ExpectedGain(0.2, 0.1, -0.05, 0.25).sentence("recall@10")
        'On new queries expect about +0.10 in recall@10 (−0.05 to +0.25).'
        >>> ExpectedGain(0.2, 0.1, -0.05, 0.25).sentence("mrr", leads="RRF 5")
        'RRF 5 leads here; on new queries expect about +0.10 in mrr (−0.05 to +0.25).'
        """
        if self.low is None or self.high is None or self.here <= 0:
            return None
        fact = Fact(
            about="difference",
            metric=metric,
            difference=self.expected,
            value=self.here,
            low=self.low,
            high=self.high,
            text="on new queries",
        )
        expected = (
            "n new queries expect about {it.difference:+.2f} in {it.metric} "
            "({it.low:+.2f} to {it.high:+.2f})."
        )
        if leads is not None:
            best = named(leads)
            return sentence("{best.text} leads here; o" + expected, best=best, it=fact)
        return sentence("O" + expected, it=fact)
