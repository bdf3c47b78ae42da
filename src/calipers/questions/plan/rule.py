"""Plan a comparison from a pilot of two systems."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.arrays import Floats
from calipers.model.claim import Claim, QueriesToDetect
from calipers.model.document import Document, Note, of_claim
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.result import SCHEMA, Plain, ShowsItself
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import refuse_weighted, units_of
from calipers.questions.compare.comparable import (
    Aligned,
    align,
    clusters_shared,
    facts_shared,
)
from calipers.questions.compare.paired_claim import counts_of, difference_of, fact_of
from calipers.questions.default_metrics import asked_metrics
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.statistics.queries_needed import FEWEST_PILOT, needed_queries
from calipers.statistics.queries_to_detect import FEWEST_CHANGED, queries_to_detect
from calipers.words import listed, plural

if TYPE_CHECKING:
    from calipers.questions.plan.settings import PlanSettings

REPAIR = "Give a pilot whose systems were measured alike."


@dataclass(frozen=True, repr=False)
class QueryPlan(Plain, ShowsItself):
    """The number of queries that detects a difference with a given power."""

    shown_by: ClassVar[str] = "calipers.questions.plan.rule"

    queries: int
    """The number of queries, or of clusters if queries are clustered."""
    difference: float
    power: float
    alpha: float
    claim: Claim
    """The pilot's result, the plan, its uncertainty, and whether the pilot is enough."""
    metric: str | None = None
    systems: tuple[str, ...] = ()
    pilot: int = 0
    """The number of pairs in the pilot."""
    low: int = 0
    """The low end of the range of the number of queries, as far as the pilot can tell."""
    high: int = 0
    cluster: str | None = None
    decides: tuple[str, ...] = ()
    """The metrics that decide in the comparison; its test is corrected for their number."""

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values: what ``--json`` prints."""
        return {"schema": SCHEMA, **super().to_dict()}


def plan_queries(pilot: Mapping[str, Scores], settings: "PlanSettings") -> QueryPlan:
    """The number of queries that detects a difference.

    Plans for the test of the primary metric in ``compare``, corrected for all deciding metrics.
    """
    check_number("The power", settings.power, least=0.5, below=1, such_as=0.8)
    cluster = settings.cluster
    decides = _deciding_metrics(pilot, settings)
    both = align(pilot, decides, anyway=False, repair=REPAIR)
    metric = both.facts[0]
    (old, new) = pilot
    clusters = clusters_shared(pilot, both.queries, cluster)
    units = clusters if cluster else units_of(both.queries, {}, None)
    alpha = round(1.0 - settings.confidence, 12)
    columns = [both.gains(new, old, name) for name in decides]
    row = paired_rows(columns, units, alpha=alpha)[0]
    _check_row(row, metric)
    _check_difference(settings.difference, metric)
    found = needed_queries(
        columns[0], settings.difference, settings.power, row.alpha, clusters=units
    )
    needed = _needed(row, metric, settings)
    many = "clusters" if cluster else "queries"
    queries = min(max(found.queries, needed.low), needed.high)
    about = sentence(
        "About {it.count} by this pilot, which miss it {it.value:.2g%} of the time.",
        it=Fact(
            about="takes", count=queries, value=1 - settings.power, metric=metric.name
        ),
    )
    seen = _seen_in_pilot(both, columns[0], row, cluster, found.pilot)
    claim = Claim(
        None,
        needed.sentence_for(many, metric.name),
        joined(about, seen),
        _enough(needed, found.pilot, many),
    )
    return QueryPlan(
        queries,
        found.difference,
        settings.power,
        alpha,
        claim,
        metric=metric.name,
        systems=tuple(pilot),
        pilot=found.pilot,
        low=needed.low,
        high=needed.high,
        cluster=cluster,
        decides=tuple(decides),
    )


def _deciding_metrics(
    pilot: Mapping[str, Scores], settings: "PlanSettings"
) -> Sequence[str]:
    """The metrics that decide in the comparison; a pilot that cannot be planned from is refused."""
    if len(pilot) != 2:
        raise InvalidInput(
            f"A plan is made from two systems, by how their differences vary from query to query; "
            f"found {len(pilot)}: {', '.join(pilot) or 'none'}."
        )
    for scores in pilot.values():
        refuse_weighted(scores, "Plans")
    facts = facts_shared(pilot, None)
    decides = asked_metrics(facts, settings.primary, named=settings.metrics is not None)
    if not decides:
        raise InvalidInput("The pilot has no metric of which more or less is better.")
    return decides


def _check_row(row: PairedRow, metric: MetricFacts) -> None:
    """Refuse a pilot with too few differences, or with differences that do not vary."""
    n = row.units
    if n >= FEWEST_PILOT and row.spread:
        return
    why = f"at least {FEWEST_PILOT} are needed"
    if n >= FEWEST_PILOT:
        why = "they are all alike" if row.changed else "no query changed"
    many = plural(n, "difference")
    raise InvalidInput(
        f"The pilot says too little about {metric.name}: it has {many}, and {why}; "
        "give two systems that differ, more queries, or another metric (--primary)."
    )


def _check_difference(difference: float, metric: MetricFacts) -> None:
    """Refuse a difference that no two values of the metric can have."""
    low, top = metric.bounds
    largest = math.inf if top is None else top - low
    if abs(difference) > largest:
        raise InvalidInput(
            f"The difference is {difference:g}; two values of {metric.name} differ by {largest:g} "
            "at most, so give a smaller one, such as 0.05."
        )


def _needed(
    row: PairedRow, metric: MetricFacts, settings: "PlanSettings"
) -> QueriesToDetect:
    """The range of the number of queries; a pilot in which too little changed is refused."""
    needed = queries_to_detect(row, settings.difference, power=settings.power)
    if needed is None:
        raise InvalidInput(
            f"The pilot says too little about {metric.name}: {row.changed} of {row.units:,} "
            f"differences are not zero, at least {FEWEST_CHANGED} are needed; give two systems "
            "that differ more, or more queries."
        )
    return needed


def _seen_in_pilot(
    both: Aligned, gains: Floats, row: PairedRow, cluster: str | None, units: int
) -> Sentence:
    """The means of the two systems in the pilot, and how many queries changed."""
    metric = both.facts[0]
    old, new = both.values
    known = ~np.isnan(gains)
    before = exact_mean(both.values[old][:, 0][known])
    after = exact_mean(both.values[new][:, 0][known])
    fact = fact_of(difference_of(row, metric, (old, new), (before, after)), metric)
    units_by = Fact(about="count", count=units, text=f"clusters by {cluster}")
    among = sentence("in {it.count} {it.text}", it=units_by) if cluster else None
    return sentence(
        "Pilot: {it.metric} is {it.value} with {it.system} and {it.before} with {it.against}; "
        "{counts}.",
        it=fact,
        counts=joined(counts_of(fact), among, by=", "),
    )


def _enough(needed: QueriesToDetect, pilot: int, many: str) -> Sentence:
    """Whether the pilot's own queries are enough, and how many are safe."""
    if needed.high <= pilot:
        return Sentence("The pilot's own are enough.")
    safe = sentence(
        "{it.count} {it.text} are safe. A larger pilot narrows the range.",
        it=Fact(about="takes", count=needed.high, text=many),
    )
    if needed.low > pilot:
        return safe
    own = Fact(about="count", count=pilot, text=f"{many} of the pilot")
    return joined(sentence("These {it.count} may do", it=own), safe, by="; ")


def document(plan: QueryPlan) -> Document:
    """The number of queries for a difference, its range, and the pilot behind it."""
    several = len(plan.decides) > 1
    corrected = f", adjusted for {listed(plan.decides)}, which decide" if several else ""
    level = Fact(about="setting", value=1 - plan.alpha, text="confidence")
    return of_claim(
        plan.claim,
        Note(
            "counted",
            "Fix the number before you compare: adding queries until one is "
            "significant finds differences that are not there.",
        ),
        Note(
            "method",
            sentence(
                "For a comparison at {level.value:g%} confidence{it.text}; systems that differ in "
                "other ways than these two may need more or fewer.",
                level=level,
                it=named(corrected),
            ),
        ),
    )
