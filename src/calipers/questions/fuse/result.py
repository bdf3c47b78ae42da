"""What lanes are worth: the settings that were tried, the lanes, the ceiling, the reranker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from calipers.model.claim import Claim
from calipers.model.plain import Plain
from calipers.model.result import HasRows
from calipers.model.run import Run


@dataclass(frozen=True)
class Latency(Plain):
    """How long something takes, in milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True)
class Setting(Plain):
    """One way to fuse the lanes, and what it reaches."""

    name: str
    kind: str
    """alone, rrf, sum, mnz, interleave, or recorded."""
    weights: Mapping[str, float]
    constant: int | None
    norm: str | None
    means: Mapping[str, float]


@dataclass(frozen=True)
class ExpectedGain(Plain):
    """What the best setting gains over the default."""

    here: float
    """On these queries, on which it was chosen."""
    expected: float
    """On new queries: each part of the queries is measured with the setting that is best on the
    others."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class WeightPoint(Plain):
    """The gain over the default at one weight of the second lane."""

    weight: float
    gain: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Lane(Plain):
    """One lane, and what it adds."""

    name: str
    means: Mapping[str, float]
    depth: int
    """The longest list that was recorded."""
    depth_needed: int
    """From here on nothing is gained by reading deeper, with the setting that is advised."""
    found_alone: int
    """Targets that no other lane returned."""
    lost_without: int
    """Targets that leave the first k where the lane is left out."""
    wins: int
    """Queries on which it is better than every other lane."""
    best_for: tuple[str, ...]
    """Slices of the queries on which it is better than the other lanes."""
    latency: Latency | None


@dataclass(frozen=True)
class Ceiling(Plain):
    """What no order of these candidates can exceed."""

    recall: float
    """Of all candidates of all lanes, as deep as they were recorded."""
    best_order: Mapping[str, float]
    """Each metric, were the candidates in the best order."""


@dataclass(frozen=True)
class Reranker(Plain):
    """Where a reranker stands between the order it was given and the best one."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    best: Mapping[str, float]
    lost: int
    """Targets that stood in the first k before, and do not after."""
    candidates: int
    """The longest list that it was given."""
    candidates_needed: int
    """With this many the result is as good."""
    share_of_time: float | None
    """Of the whole latency, where both stages were timed."""


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(HasRows):
    """Which fusion of recorded lanes is best, and what is left of its gain on new queries."""

    shown_by: ClassVar[str] = "calipers.questions.fuse.document"
    dict_keys: ClassVar[str] = (
        "claim queries k primary metrics lanes default best today expected_gain over_best_lane "
        "over_weight settings ceiling reranker latency tokens snippets"
    )

    claim: Claim
    queries: int
    k: int
    primary: str
    metrics: tuple[str, ...]
    lanes: tuple[Lane, ...]
    default: Setting
    best: Setting
    today: Setting | None
    expected_gain: ExpectedGain
    over_best_lane: float
    """What the best setting has more than the best lane alone, on these queries."""
    over_weight: tuple[WeightPoint, ...]
    """Of two lanes, with the best way to fuse them."""
    settings: tuple[Setting, ...]
    ceiling: Ceiling
    reranker: Reranker | None
    latency: Mapping[str, Latency]
    """Of all lanes, asked in parallel and one after the other, where they were timed."""
    tokens: float | None
    """Of the first k results of the best setting, per query."""
    snippets: Mapping[str, str]
    """The advised setting for several engines, by name."""
    run: Run
    """The ranking of the advised setting."""

    @property
    def advised(self) -> Setting:
        """The setting to take: the best where it is clearly better, else the default."""
        return self.best if self.claim.standing == "better" else self.default

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        from calipers.model.plain import plain

        return {name: plain(getattr(self, name)) for name in self.dict_keys.split()}

    def to_polars(self) -> pl.DataFrame:
        """One row per setting, the best first."""
        return pl.DataFrame(
            [{"setting": one.name, "kind": one.kind, **one.means} for one in self.settings]
        )
