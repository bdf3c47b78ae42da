"""Plan a comparison from a pilot of two systems."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from calipers.errors import InvalidInput, check_number
from calipers.model.claim import Claim
from calipers.model.document import Document, Note, of_claim
from calipers.model.result import SCHEMA, Plain, ShowsItself
from calipers.model.scores import Scores
from calipers.model.slicing import refuse_weighted, units_of
from calipers.questions.compare.comparable import (
    aligned,
    clusters_shared,
    facts_shared,
    obstacles,
    shared_queries,
)
from calipers.questions.compare.paired_claim import gains_of
from calipers.questions.default_metrics import asked_metrics
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import paired_rows
from calipers.statistics.queries_needed import (
    FEWEST_PILOT,
    Needed,
    needed_queries,
    rounder_below,
    visible_difference,
)
from calipers.words import counts_in_words, listed, number


@dataclass(frozen=True, repr=False)
class QueryPlan(Plain, ShowsItself):
    """The smallest difference that a number of queries detects with a given power."""

    shown_by: ClassVar[str] = "calipers.questions.plan.rule"

    queries: int
    """The number of queries, or of clusters if queries are clustered."""
    difference: float
    power: float
    alpha: float
    claim: Claim
    """The pilot's result, the plan, its uncertainty, and how many queries are missing."""
    asked: Literal["queries", "difference"] = "difference"
    """What was computed: the queries for a difference, or the difference for some queries."""
    metric: str | None = None
    systems: tuple[str, ...] = ()
    pilot: int = 0
    """The number of pairs in the pilot."""
    low: float = 0.0
    """The low end of the 90% range of what was computed."""
    high: float = 0.0
    cluster: str | None = None
    decides: tuple[str, ...] = ()
    """The metrics that decide in the comparison; its test is corrected for their number."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}


def check_plan(difference: float | None, queries: int | None, power: float) -> None:
    """Raise on invalid settings before any file is read."""
    if (difference is None) == (queries is None):
        given = "neither is" if difference is None else "both are"
        raise InvalidInput(
            f"A plan needs a difference or a number of queries, and {given} given; give the "
            "difference that must not be missed, or the queries there will be."
        )
    check_number("The power", power, least=0.5, below=1, such_as=0.8)


def plan_queries(pilot: Mapping[str, Scores], asked: Mapping[str, Any]) -> QueryPlan:
    """The number of queries that detects a difference, or the difference that some queries detect.

    Plans for the test of the primary metric in ``compare``, corrected for all deciding metrics.
    """
    wanted = ("difference", "queries", "power", "cluster")
    difference, queries, power, cluster = (asked[name] for name in wanted)
    if len(pilot) != 2:
        raise InvalidInput(
            f"A plan is made from two systems, by how their differences vary from query to query; "
            f"found {len(pilot)}: {', '.join(pilot) or 'none'}."
        )
    if blocked := obstacles(pilot):
        raise InvalidInput(
            f"{blocked[0]} How their differences vary would say nothing about a comparison; give "
            "a pilot whose systems were measured alike."
        )
    for scores in pilot.values():
        refuse_weighted(scores, "Plans")
    facts = facts_shared(pilot, None)
    decides = asked_metrics(facts, asked["primary"], named=asked["metrics"] is not None)
    metric = next((one for one in facts if one.name in decides[:1]), None)
    if metric is None:
        raise InvalidInput("The pilot has no metric of which more or less is better.")
    shared = shared_queries(pilot)
    deciding = [next(one for one in facts if one.name == name) for name in decides]
    before, now = (aligned(scores, shared, deciding) for scores in pilot.values())
    first, second = before[:, 0], now[:, 0]
    clusters = clusters_shared(pilot, shared, cluster)
    units = clusters if cluster else units_of(shared, {}, None)
    alpha = round(1.0 - asked["confidence"], 12)
    columns = [gains_of(now[:, at], before[:, at], one) for at, one in enumerate(deciding)]
    gains, row = columns[0], paired_rows(columns, units, alpha=alpha)[0]
    if row.units < FEWEST_PILOT or not row.spread:
        n = row.units
        why = "they are all alike" if n >= FEWEST_PILOT else f"at least {FEWEST_PILOT} are needed"
        raise InvalidInput(
            f"The pilot says too little about {metric.name}: it has {n} differences, and {why}; "
            "give two systems that differ, more queries, or another metric (--primary)."
        )
    low, top = metric.bounds
    largest = math.inf if top is None else top - low
    if difference is not None and abs(difference) > largest:
        raise InvalidInput(
            f"The difference is {difference:g}; two values of {metric.name} differ by {largest:g} "
            "at most, so give a smaller one, such as 0.05."
        )
    found = (
        visible_difference(gains, queries, power, row.alpha, clusters=units)
        if difference is None
        else needed_queries(gains, difference, power, row.alpha, clusters=units)
    )
    if found.difference > largest:
        raise InvalidInput(
            f"Too few queries to plan for: with {found.queries} even a difference of {largest:g} "
            f"in {metric.name}, the largest there can be, would be missed more often than the "
            "power allows; plan for more queries."
        )
    high = min(found.high, largest) if difference is None else found.high
    pilot_facts = Pilot(
        tuple(pilot),
        metric.name,
        (exact_mean(first[~np.isnan(gains)]), exact_mean(second[~np.isnan(gains)])),
        (row.better, row.worse),
        row.n,
        found.pilot,
        cluster,
    )
    if difference is None:
        smaller = rounder_below(0.6 * found.difference)
        further = needed_queries(gains, smaller, power, row.alpha, clusters=units)
        claim = plan_claim(pilot_facts, found._replace(high=high), power, further)
    else:
        claim = plan_claim(pilot_facts, found, power)
    return QueryPlan(
        found.queries,
        found.difference,
        power,
        alpha,
        claim,
        asked="difference" if difference is None else "queries",
        metric=metric.name,
        systems=tuple(pilot),
        pilot=found.pilot,
        low=found.low,
        high=high,
        cluster=cluster,
        decides=tuple(decides),
    )


@dataclass(frozen=True)
class Pilot:
    """Two systems and their scores on the queries of a pilot."""

    systems: tuple[str, ...]
    metric: str
    means: tuple[float, float]
    better_and_worse: tuple[int, int]
    queries: int
    units: int
    """The number of queries or clusters."""
    cluster: str | None

    @property
    def seen(self) -> str:
        """The pilot's result as a sentence."""
        (old, new), (before, after) = self.systems, self.means
        counts = counts_in_words(*self.better_and_worse, self.queries)
        among = f", in {self.units:,} clusters by {self.cluster}" if self.cluster else ""
        return (
            f"Pilot: {self.metric} is {number(after)} with {new} and {number(before)} with {old}; "
            f"{counts}{among}."
        )

    def counted(self, n: float, more: str = "") -> str:
        """A number of queries or clusters, with the unit."""
        unit = "cluster" if self.cluster else "query"
        many = "clusters" if self.cluster else "queries"
        return f"{n:,.0f}{more} {unit if n == 1 else many}"


def missed_how_often(power: float) -> str:
    """How often a difference is missed at a given power, in words.

    >>> missed_how_often(0.8), missed_how_often(0.9), missed_how_often(0.97)
    ('one time in five', 'one time in ten', '3% of the time')
    """
    words = {5: "five", 10: "ten", 4: "four", 3: "three", 2: "two", 20: "twenty"}
    every = 1.0 / (1.0 - power)
    if abs(every - round(every)) < 1e-6 and round(every) in words:
        return f"one time in {words[round(every)]}"
    return f"{100 * (1.0 - power):.2g}% of the time"


def plan_claim(pilot: Pilot, found: Needed, power: float, smaller: Needed | None = None) -> Claim:
    """The queries that detect a difference; with ``smaller``, the difference that queries detect.

    The claim passes if the pilot has at least the high end of the number needed.
    """
    often, tells = missed_how_often(power), "as far as this pilot can tell (90%)"
    if smaller is not None:
        return Claim(
            "no clear difference",
            f"{pilot.counted(found.queries)} show a difference of {found.difference:.2g} in "
            f"{pilot.metric}, and miss it {often}.",
            f"It may be {found.low:.2g} to {found.high:.2g}, {tells}: count on {found.high:.2g} "
            f"to be safe. {pilot.seen}",
            f"To see {smaller.difference:g} takes about {pilot.counted(smaller.queries)} "
            f"({smaller.low:,.0f} to {smaller.high:,.0f}).",
        )
    shown = (
        f"About {pilot.counted(found.queries)} show a difference of {found.difference:.2g} in "
        f"{pilot.metric}, and miss it {often}."
    )
    most = max(found.high, found.queries)
    if pilot.units >= most:
        return Claim(
            "passed",
            shown,
            f"{most:,.0f} are safe: the pilot's own are enough. {pilot.seen}",
        )
    now, later = found.queries - pilot.units, most - pilot.units
    enough = f"{pilot.counted(now, ' more')} would do, {later:,.0f} are safe"
    if now <= 0:
        enough = f"These may do; {pilot.counted(later, ' more')} are safe"
    return Claim(
        "no clear difference",
        shown,
        f"It may take {found.low:,.0f} to {most:,.0f}, {tells}. {pilot.seen}",
        f"{enough}. A larger pilot narrows the range.",
    )


def document(plan: QueryPlan) -> Document:
    """The number of queries for a difference, its range, and the pilot behind it."""
    several = len(plan.decides) > 1
    corrected = f", adjusted for {listed(plan.decides)}, which decide" if several else ""
    return of_claim(
        plan.claim,
        Note(
            "counted",
            "Fix the number before you compare: adding queries until one is "
            "significant finds differences that are not there.",
        ),
        Note(
            "method",
            f"For a comparison at {100 * (1 - plan.alpha):g}% confidence{corrected}; "
            "systems that differ in other ways than these two may need more or fewer.",
        ),
    )
