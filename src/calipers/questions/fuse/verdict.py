"""The answer about a fusion: use the best setting, keep the default, or use one lane."""

from dataclasses import replace
from typing import NamedTuple

from calipers.model.claim import Claim
from calipers.model.scores import MetricFacts
from calipers.questions.compare.paired_claim import claim_of
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.fuse.result import FusedSetting
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.winner import WinnerGain


class Weighed(NamedTuple):
    """The input of the answer."""

    default: FusedSetting
    best: FusedSetting
    lane: str
    """The best single lane."""
    lane_mean: float
    gain: WinnerGain
    best_row: PairedRow
    """The gain to expect of the best setting over the default."""
    lane_row: PairedRow
    """The default against the best single lane."""
    facts: MetricFacts


def fusion_claim(found: Weighed) -> Claim:
    """The claim of the paired test, the likely gain on new queries, and what to do."""
    gain, default, best = found.gain, found.default.name, found.best.name
    ends = gain.interval
    likely = ExpectedGain.of(gain).sentence(best)
    usual = found.default.means[found.facts.name]
    lane = f"{found.lane} alone"
    over = claim_of(
        found.best_row,
        found.facts,
        usual,
        found.best.means[found.facts.name],
        names=(default, best),
    )
    fused = claim_of(found.lane_row, found.facts, found.lane_mean, usual, names=(lane, default))
    if over.standing == "better" and (ends is None or ends.low > 0):
        return replace(over, range=likely, next=f"Use {best}.")
    if fused.standing == "worse":
        return replace(fused, range=likely, next=f"Use {lane}.")
    if (found.lane_row.difference or 0.0) <= 0:
        said = f"{lane} is enough: fusing adds nothing."
        return replace(fused, standing="no clear difference", range=likely, next=said)
    fact = f"No setting is clearly better than {default} on {found.best_row.n:,} queries."
    return Claim("no clear difference", fact, likely, f"Keep {default}.")
