"""A plan in words."""

from rich.console import Console

from calipers.present.notes import Note, print_notes
from calipers.present.terminal import print_claims, show_with
from calipers.questions.plan.rule import QueryPlan
from calipers.words import listed


def notes(plan: QueryPlan) -> list[Note]:
    """What the plan is for, and what it rests on."""
    several = len(plan.decides) > 1
    corrected = f", corrected for {listed(plan.decides)}, which decide" if several else ""
    said = (
        f"For a comparison at {100 * (1 - plan.alpha):g}% confidence{corrected}; systems that "
        "differ in other ways than these two may need more or fewer."
    )
    fixed = (
        "Fix the number before you compare: who adds queries until one shows finds a difference."
    )
    return [Note("doubt", fixed), Note("marks", said)]


def print_plan(plan: QueryPlan, console: Console, *, explain: bool = False) -> None:
    """What the pilot saw and what is promised, its range, and how many are missing."""
    print_claims([plan.claim], console)
    print_notes(notes(plan), console, explain=explain)


show_with(QueryPlan, print_plan)
