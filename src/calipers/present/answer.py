"""The shape of every answer on a terminal: the verdict, the table, at most three notes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from calipers.model.scores import MetricFacts, Scores, Summary
from calipers.present.table import number
from calipers.words import plural

MOST_NOTES = 3
"""What is printed below a table unless ``--explain`` asks for everything."""


def print_verdict(sentence: str, console: Console, warnings: Sequence[str] = ()) -> None:
    """The answer in one sentence, what makes it doubtful, and a blank line under both."""
    console.print(Text(sentence, style="bold"))
    for line in warnings:
        console.print(Text(line, style="bold red"))
    console.print()


def print_notes(lines: Sequence[str], console: Console, *, explain: bool = False) -> None:
    """The first notes, or all of them; how many are kept back is always said."""
    if not lines:
        return
    console.print()
    shown = lines if explain else lines[:MOST_NOTES]
    for line in shown:
        console.print(Text(line, style="dim"))
    if rest := len(lines) - len(shown):
        console.print(Text(f"{plural(rest, 'more note')}: --explain", style="dim"))


if TYPE_CHECKING:
    from calipers.questions.report.result import SystemReport

NOTHING = "Nothing can be said: no query has anything to find."


def verdict(scores: Scores) -> str:
    """What the most telling of the metrics says, in plain words."""
    if scores.weights:
        return _measured("score", scores["score"])
    facts = _deepest(scores, "recall") or _deepest(scores, "hit_rate") or scores.metrics[0]
    found = scores[facts.name]
    if found.mean is None:
        return NOTHING
    kind = facts.stem.partition("(")[0]
    much = share(found.mean)
    where = f"in the {first_results(facts.k)}" if facts.k else "in its results"
    behind = f" ({_between(found)}{plural(found.n, 'query', 'queries')})."
    if kind == "recall":
        return f"Finds {much} of what it should {where}{behind}"
    if kind == "hit_rate":
        return f"For {much} of the queries a target stands {where}{behind}"
    return _measured(facts.name, found)


def first_results(k: int) -> str:
    """The results that count, as they stand in a sentence.

    >>> first_results(1), first_results(10)
    ('first result', 'first 10 results')
    """
    return "first result" if k == 1 else f"first {k:,} results"


def _deepest(scores: Scores, kind: str) -> MetricFacts | None:
    """The metric of that kind with the largest cut-off, if it was measured and is defined."""
    some = [m for m in scores.metrics if m.stem.partition("(")[0] == kind]
    defined = [m for m in some if scores[m.name].mean is not None]
    return max(defined or some, key=lambda one: one.k or 0, default=None)


def _measured(name: str, found: Summary) -> str:
    if found.mean is None:
        return NOTHING
    return (
        f"{name} is {number(found.mean)} on average ({_between(found, percent=False)}"
        f"{plural(found.n, 'query', 'queries')})."
    )


def _between(found: Summary, *, percent: bool = True) -> str:
    """The interval in the unit of the sentence, ready to stand before the count."""
    ends = found.interval
    if ends is None:
        return ""
    if percent:
        low, high = round(ends.low * 100), round(ends.high * 100)
        return f"{low}–{high}%, "
    return f"{number(ends.low)}–{number(ends.high)}, "


def stem_of(system: "SystemReport", stem: str) -> Summary:
    """The summary of a metric at the cut-off that is described, whatever its parameters."""
    name = next(facts.name for facts in system.head.metrics if facts.stem.partition("(")[0] == stem)
    return system.head[name]


def headline(system: "SystemReport", name: str) -> str:
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


def share(value: float) -> str:
    """A share in words where there is a plain one, else in whole percent.

    >>> share(0.5), share(0.826), share(1.0), share(0.9999), share(0.004)
    ('half', '83%', 'all', 'over 99%', 'under 1%')
    """
    plain = {0.0: "nothing", 0.5: "half", 1.0: "all"}
    if value in plain:
        return plain[value]
    percent = round(value * 100)
    if percent >= 100:
        return "over 99%"
    return "under 1%" if percent == 0 else f"{percent}%"
