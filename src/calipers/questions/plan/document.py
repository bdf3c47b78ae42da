"""A plan as a document."""

from calipers.model.document import Document, Note, of_claim
from calipers.questions.plan.rule import QueryPlan
from calipers.words import listed


def document(plan: QueryPlan) -> Document:
    """How many queries a difference takes, the range, and what it rests on."""
    several = len(plan.decides) > 1
    corrected = f", corrected for {listed(plan.decides)}, which decide" if several else ""
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
