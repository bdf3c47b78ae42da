"""The result of a fusion: the settings tried, the lanes, the ceiling, the reranker."""

from collections.abc import Mapping
from typing import ClassVar

from calipers.frozen import dataclass
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

    def __str__(self) -> str:
        return f"p50 {self.p50:,.0f} ms, p95 {self.p95:,.0f} ms"


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
    silent: int
    """Queries for which it returned nothing."""
    depth: int
    """The longest list that was recorded."""
    depth_needed: int
    """Reading deeper than this gains nothing with the advised setting."""
    found_alone: int
    """Targets that no other lane returned."""
    lost_without: int
    """Targets that drop out of the first k without this lane."""
    wins_by: Mapping[str, int]
    """Queries on which it is better than every other lane, by slice: each tag, and language, form,
    length and question word."""
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
class Fusion(Plain, HasRows):
    """The best fusion of recorded lanes, and its gain on new queries."""

    shown_by: ClassVar[str] = "calipers.questions.fuse.document"
    dict_keys: ClassVar[str] = (
        "claim queries k metrics primary decided_by lanes default best advised expected_gain "
        "over_best_lane over_weight settings ceiling reranker latency tokens snippets noticed"
    )

    claim: Claim
    queries: int
    k: int
    metrics: tuple[str, ...]
    """Those that decide, the primary one first."""
    decided_by: str
    """The metric by which ``best`` was chosen: the primary one, unless another shows a gain."""
    lanes: tuple[Lane, ...]
    default: FusedSetting
    """RRF 60, or what is in use today."""
    best: FusedSetting
    advised: FusedSetting
    """The setting to use: one that is clearly better, a lane that is enough, or the default."""
    expected_gain: ExpectedGain
    """The gain of the best setting over the default."""
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
    """Tokens per query in the first k results of the advised setting."""
    snippets: Mapping[str, str]
    """The advised setting for several engines, by name."""
    noticed: tuple[str, ...]
    """What a reader must know of the lanes: distances, scores without an order, idle lanes."""
    run: Run
    """The ranking of the advised setting."""

    @property
    def primary(self) -> str:
        """The metric that leads."""
        return self.metrics[0]
