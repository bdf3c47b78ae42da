"""How good one retriever of a report is, in one sentence."""

from calipers.model.scores import Summary
from calipers.present.words import first_results, share
from calipers.questions.report.result import SystemReport


def stem_of(system: SystemReport, stem: str) -> Summary:
    """The summary of a metric at the cut-off that is described, whatever its parameters."""
    name = next(facts.name for facts in system.head.metrics if facts.stem.partition("(")[0] == stem)
    return system.head[name]


def headline(system: SystemReport, name: str) -> str:
    """How much is found, and how much of what is shown is known to be right."""
    recall, precision = (stem_of(system, stem).mean for stem in ("recall", "precision"))
    if recall is None or precision is None:
        return f"Nothing can be said of {name}: no query has anything to find."
    # A name is written as it is given; words in place of one begin a sentence.
    named = name.capitalize() if name.startswith("the ") else name
    return (
        f"{named} finds {share(recall)} of what it should in the {first_results(system.k)}; "
        f"{share(precision)} of what it shows is known to be relevant."
    )
