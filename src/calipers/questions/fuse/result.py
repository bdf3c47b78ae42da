"""The result of a fusion: the settings tried, the lanes, the ceiling, the reranker."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from calipers.model.claim import Claim
from calipers.model.plain import Plain
from calipers.model.result import HasRows
from calipers.model.run import Run
from calipers.questions.expected_gain import ExpectedGain


@dataclass(frozen=True)
class Latency(Plain):
    """Latency in milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True)
class FusedSetting(Plain):
    """One way to fuse the lanes, and its metrics."""

    name: str
    kind: str
    """alone, rrf, sum, mnz, interleave, or recorded."""
    weights: Mapping[str, float]
    constant: int | None
    norm: str | None
    means: Mapping[str, float]


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
    """Reading deeper than this gains nothing with the advised setting."""
    found_alone: int
    """Targets that no other lane returned."""
    lost_without: int
    """Targets that drop out of the first k without this lane."""
    wins: int
    """Queries on which it is better than every other lane."""
    wins_by: Mapping[str, int]
    """The same in slices by tag, and by language, form, length and question word."""
    best_for: tuple[str, ...]
    """Slices of the queries on which it is better than the other lanes."""
    latency: Latency | None


@dataclass(frozen=True)
class Ceiling(Plain):
    """Upper bounds for any order of these candidates."""

    recall: float
    """Recall of all recorded candidates of all lanes."""
    best_order: Mapping[str, float]
    """Each metric with the candidates in the best order."""


@dataclass(frozen=True)
class Reranker(Plain):
    """How a reranker compares with its input order and with the best order."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    best: Mapping[str, float]
    lost: int
    """Targets in the first k before reranking, but not after."""
    candidates: int
    """The length of its longest input list."""
    candidates_needed: int
    """With this many candidates the result is as good."""
    share_of_time: float | None
    """The share of the total latency, if both stages were timed."""


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(HasRows):
    """The best fusion of recorded lanes, and its gain on new queries."""

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
    default: FusedSetting
    best: FusedSetting
    today: FusedSetting | None
    expected_gain: ExpectedGain
    over_best_lane: float
    """The gain of the best setting over the best single lane, on these queries."""
    over_weight: tuple[WeightPoint, ...]
    """For two lanes: the gain by weight, with the best way to fuse them."""
    settings: tuple[FusedSetting, ...]
    ceiling: Ceiling
    reranker: Reranker | None
    latency: Mapping[str, Latency]
    """The latency of all lanes in parallel and one after the other, if they were timed."""
    tokens: float | None
    """Tokens per query in the first k results of the best setting."""
    snippets: Mapping[str, str]
    """The advised setting for several engines, by name."""
    run: Run
    """The ranking of the advised setting."""

    @property
    def advised(self) -> FusedSetting:
        """The setting to use: the best if it is clearly better, else the default."""
        return self.best if self.claim.standing == "better" else self.default

    def to_dict(self) -> dict[str, Any]:
        """The fusion as plain values: what ``--json`` prints."""
        from calipers.model.plain import plain

        return {name: plain(getattr(self, name)) for name in self.dict_keys.split()}

    def to_polars(self) -> pl.DataFrame:
        """One row per setting, the best first."""
        return pl.DataFrame(
            [{"setting": one.name, "kind": one.kind, **one.means} for one in self.settings]
        )
