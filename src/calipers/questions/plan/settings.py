"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import MetricsInput, SystemsInput
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import (
    Cluster,
    Intervals,
    MatchingSettings,
    MetricsAsked,
    Primary,
    Truth,
    cutoff_list,
)

if TYPE_CHECKING:
    from calipers.questions.plan.rule import QueryPlan


@dataclass(frozen=True, kw_only=True)
class PlanSettings(Settings):
    """What `plan` takes."""

    matching: MatchingSettings = MatchingSettings()

    difference: Annotated[
        float, Setting("The difference that must not be missed.", metavar="D")
    ]
    power: Annotated[
        float, Setting("The chance to see the difference where it is there.")
    ] = 0.8
    primary: Primary = None
    metrics: Annotated[
        MetricsInput | None, Setting("", file="metrics", only="a file")
    ] = None
    k: Annotated[
        int | Sequence[int] | None,
        Setting(
            "Cut-offs of the usual metrics.", "-k", "LIST", read=cutoff_list, file="k"
        ),
    ] = None
    confidence: Annotated[
        float, Setting("The confidence level of the comparison that is planned.")
    ] = 0.95
    cluster: Cluster = None


@operation(page="plan", command="plan")
def plan(
    pilot: Annotated[
        SystemsInput,
        Setting("", argument="SYSTEM SYSTEM", several=True, unchecked=True),
    ] = (),
    ground_truth: Truth = None,
    *,
    settings: PlanSettings,
) -> "QueryPlan":
    """How many queries show a ``difference``.

    ``pilot`` are two systems as for ``compare``: how their differences in the ``primary`` metric
    vary from query to query is what the plan is made from, by drawing from them and asking the
    test that ``compare`` uses, adjusted for all metrics that decide there.

    >>> truth = {f"q{i}": ["a"] for i in range(40)}
    >>> old = {q: ["b", "a"] for q in truth}
    >>> new = {q: ["a", "b"] if i % 3 else ["b", "c", "a"] for i, q in enumerate(truth)}
    >>> found = plan({"old": old, "new": new}, truth, difference=0.2, primary="mrr")
    >>> found.metric, 25 <= found.queries <= 60
    ('mrr', True)
    """
    from calipers.questions.plan.rule import plan_queries
    from calipers.questions.systems import measure_systems

    intervals = Intervals(confidence=settings.confidence, cluster=settings.cluster)
    measures = MetricsAsked(metrics=settings.metrics, k=settings.k, intervals=intervals)
    measured = measure_systems(
        pilot, ground_truth, settings.matching, measures, settings.primary
    )
    return plan_queries(measured.scores, settings)
