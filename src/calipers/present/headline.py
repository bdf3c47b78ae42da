"""The question answered in one sentence."""

from calipers.model.report import SystemReport
from calipers.model.scores import Summary


def stem_of(system: SystemReport, stem: str) -> Summary:
    """The summary of a metric at the cut-off that is described, whatever its parameters."""
    name = next(facts.name for facts in system.head.metrics if facts.stem.partition("(")[0] == stem)
    return system.head[name]


def headline(system: SystemReport, name: str) -> str:
    """How much is found, and how much of what is shown is of use."""
    recall, precision = (stem_of(system, stem).mean for stem in ("recall", "precision"))
    if recall is None or precision is None:
        return f"Nothing can be said of {name}: no query has anything to find."
    return (
        f"Of what should be found, {name} finds {share(recall)} within {system.k}, "
        f"and {share(precision)} of what it shows is useful."
    )


def share(value: float) -> str:
    """A share in words where there is a plain one, else in whole percent.

    >>> share(0.5), share(0.826), share(1.0), share(0.9999), share(0.004)
    ('half', '83\xa0%', 'all', 'over 99\xa0%', 'under 1\xa0%')
    """
    plain = {0.0: "nothing", 0.5: "half", 1.0: "all"}
    if value in plain:
        return plain[value]
    percent = round(value * 100)
    if percent >= 100:
        return "over 99\u00a0%"
    return "under 1\u00a0%" if percent == 0 else f"{percent}\u00a0%"
