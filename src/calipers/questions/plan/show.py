"""A plan in words."""

from rich.console import Console

from calipers.present.escape import printable
from calipers.present.terminal import show_with
from calipers.questions.compare.words import missed_how_often
from calipers.questions.plan.rule import QueryPlan


def plan_lines(plan: QueryPlan) -> list[str]:
    """The answer, and what it rests on."""
    units = f"clusters by {printable(plan.cluster, 40)}" if plan.cluster else "queries"
    often = missed_how_often(plan.power)
    systems = " and ".join(printable(one, 30) for one in plan.systems)
    tells = f"as this pilot of {plan.pilot:,} can tell"
    if plan.asked == "queries":
        answer = (
            f"About {plan.queries:,} {units} ({plan.low:,.0f} to {plan.high:,.0f}, {tells}) show a "
            f"difference of {plan.difference:.2g} in {plan.metric}; it would still be missed "
            f"{often}."
        )
        safe = f"Plan for {plan.high:,.0f} to be safe"
    else:
        answer = (
            f"With {plan.queries:,} {units} a difference below {plan.difference:.2g} "
            f"({plan.low:.2g} to {plan.high:.2g}, {tells}) in {plan.metric} would be missed more "
            f"than {often}."
        )
        safe = f"Count on {plan.high:.2g} to be safe"
    return [
        answer,
        f"{safe}; a larger pilot narrows the range.",
        f"From {plan.pilot:,} differences between {systems}, for a comparison at "
        f"{100 * (1 - plan.alpha):g}% confidence; other systems may vary more or less.",
    ]


def _print_plan(plan: QueryPlan, console: Console) -> None:
    for line in plan_lines(plan):
        console.print(line, markup=False)


show_with(QueryPlan, _print_plan)
