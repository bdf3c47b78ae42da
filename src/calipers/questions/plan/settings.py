"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Required, Unpack

from calipers.operation import Setting, operation
from calipers.questions.reading import Cluster, MatchingSettings, Primary, Truth, cutoff_list

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.questions.plan.rule import QueryPlan


class PlanSettings(MatchingSettings, total=False):
    """What `plan` takes."""

    difference: Required[
        Annotated[float, Setting("The difference that must not be missed.", metavar="D")]
    ]
    power: Annotated[
        float, Setting("The chance to see the difference where it is there.", default=0.8)
    ]
    primary: Primary
    metrics: Annotated[
        "str | Iterable[str | Metric] | None", Setting("", file="metrics", only="a file")
    ]
    k: Annotated[
        int | Sequence[int] | None,
        Setting("Cut-offs of the usual metrics.", "-k", "LIST", read=cutoff_list, file="k"),
    ]
    confidence: Annotated[
        float, Setting("The confidence level of the comparison that is planned.", default=0.95)
    ]
    cluster: Cluster


@operation(page="plan", command="plan")
def plan(
    pilot: Annotated[
        Mapping[str, Any] | Sequence[Any],
        Setting("", argument="SYSTEM SYSTEM", several=True),
    ] = (),
    ground_truth: Truth = None,
    **settings: Unpack[PlanSettings],
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

    measured, _ = measure_systems(pilot, ground_truth, settings)
    return plan_queries(measured, settings)
