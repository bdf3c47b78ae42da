"""The answer about a fusion: use the best setting, keep the default, or use one lane."""

from collections.abc import Sequence
from typing import NamedTuple

from calipers.model.claim import Claim
from calipers.questions.fuse.result import FusedSetting
from calipers.statistics.paired_rows import PairedRow
from calipers.statistics.winner import WinnerGain
from calipers.words import plural, signed


class Weighed(NamedTuple):
    """The input of the answer."""

    default: FusedSetting
    best: FusedSetting
    lane: str
    """The best single lane."""
    lane_mean: float
    gain: WinnerGain
    rows: Sequence[PairedRow]
    """The expected gain, and each lane against the default."""
    lane_row: PairedRow
    """The best single lane against the default."""
    queries: int
    primary: str


def fusion_claim(found: Weighed) -> Claim:
    """What to do, the likely gain on new queries, and what would settle it."""
    row, gain = found.rows[0], found.gain
    ends = gain.interval
    likely = (
        None
        if ends is None or gain.here <= 0
        else f"{_named(found.best)} gained {signed(gain.here)} here, where it was chosen. Expect "
        f"{signed(gain.expected)} on new queries, likely {signed(ends.low)} to {signed(ends.high)}."
    )
    queries = plural(found.queries, "query", "queries")
    if row.standing == "better" and (ends is None or ends.low > 0):
        return Claim(
            "better",
            f"Use {found.best.name}: {found.primary} is {found.best.means[found.primary]:.3f}, "
            f"{found.default.means[found.primary]:.3f} by {found.default.name}.",
            likely,
        )
    if found.lane_row.standing == "better":
        return Claim(
            "worse",
            f"{found.lane} alone is better than {found.default.name}: {found.primary} is "
            f"{found.lane_mean:.3f}, fused {found.default.means[found.primary]:.3f}.",
            likely,
        )
    if found.lane_row.difference is not None and found.lane_row.difference >= 0:
        return Claim(
            "no clear difference",
            f"{found.lane} alone is enough: fusing adds nothing to its {found.primary} of "
            f"{found.lane_mean:.3f}.",
            likely,
        )
    return Claim(
        "no clear difference",
        f"Keep {found.default.name}: no setting is clearly better on {queries}.",
        likely,
    )


def _named(setting: FusedSetting) -> str:
    return setting.name[:1].upper() + setting.name[1:]
