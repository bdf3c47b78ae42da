"""Scores by slice of the queries, and the claims about them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from calipers.frozen import dataclass
from calipers.model.claim import Claim
from calipers.model.fact import Fact, commanded, sentence
from calipers.model.result import HasRows, Plain
from calipers.model.scores import Interval
from calipers.shell import join_words

Standing = Literal["better", "worse", "no clear difference"]
MOST_CLAIMS = 3


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One slice of the queries on one metric."""

    by: str
    value: str
    metric: str
    queries: int
    n: int
    """Queries for which the metric is defined."""
    mean: float | None
    interval: Interval | None
    rest_n: int
    rest: float | None
    """The mean over all other queries."""
    rest_interval: Interval | None
    difference: float | None
    """Slice minus rest."""
    p_value: float | None = None
    p_adjusted: float | None = None
    standing: Standing | None = None
    """Better or worse than the rest in the primary metric; other metrics are not
    tested."""
    better: str
    """Whether higher or lower is better in this metric."""

    @property
    def is_worse(self) -> bool:
        """Whether it is worse than the rest."""
        return self.standing == "worse"

    @property
    def shortfall(self) -> float:
        """How much worse it is than the rest on these queries; negative: better."""
        difference = self.difference or 0.0
        return difference if self.better == "lower" else -difference


@dataclass(frozen=True, repr=False)
class Slices(Plain, HasRows):
    """The slices by one or more tags or properties, tested together."""

    shown_by: ClassVar[str] = "calipers.questions.slices.document"
    dict_keys: ClassVar[str] = "by metrics primary tests claims slices=rows settings"

    by: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: tuple[Slice, ...]
    tests: int
    """The number of slices tested together."""
    primary: str | None
    """The metric that is tested."""
    claims: tuple[Claim, ...]
    """The slices that are worse, worst first; else those that are better, and the
    lowest."""
    settings: Mapping[str, Any]

    def of(self, by: str) -> tuple[Slice, ...]:
        """The slices by one tag or property."""
        return tuple(row for row in self.rows if row.by == by)


def slice_claims(rows: Sequence[Slice]) -> tuple[Claim, ...]:
    """The slices that are worse; else those that are better, and the weakest."""
    tested = [row for row in rows if row.p_value is not None]
    weakest_first = sorted(tested, key=lambda row: -row.shortfall)
    worse = [row for row in weakest_first if row.is_worse]
    better = [row for row in weakest_first[::-1] if row.standing == "better"]
    named = worse or [*better[: MOST_CLAIMS - 1], *weakest_first[:1]]
    return tuple(map(_claim, named[:MOST_CLAIMS]))


def _claim(row: Slice) -> Claim:
    standing = row.standing or "no clear difference"
    likely = following = None
    ends = row.interval
    fact = Fact(
        about="slice",
        metric=row.metric,
        slice=f"{row.by}={row.value}",
        value=row.mean,
        before=row.rest,
        difference=row.difference,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        queries=row.n,
        count=row.rest_n,
        direction="same"
        if not row.shortfall
        else "worse"
        if row.shortfall > 0
        else "better",
        sure=standing != "no clear difference",
        text=f"{row.by} {row.value}",
    )
    if ends is not None:
        likely = sentence(
            "On new queries of {it.text} it is likely between {it.low} and {it.high}.",
            it=fact,
        )
    if row.is_worse:
        why = f"`calipers misses --where {join_words([f'{row.by}={row.value}'])}`"
        following = commanded("Why: {it.text}", why)
    text = sentence(
        "{it.text} is {said}: {it.metric} is {it.value} on {it.queries:query|queries} "
        "and {it.before} on the other {it.count}.",
        it=fact,
        said="weakest" if standing == "no clear difference" else standing,
    )
    return Claim(standing, text, likely, following)
