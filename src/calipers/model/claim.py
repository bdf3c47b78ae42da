"""An answer that leads to a decision: the fact, its standing, the likely range, what to do next.

A fact about these queries and a statement about new ones are different things. With only
the second, changes in small sets go unnoticed; with only the first, there are false
alarms.
"""

from typing import Any, Literal

from calipers.frozen import dataclass
from calipers.model.fact import Fact, Sentence, joined, sentence
from calipers.model.plain import Plain
from calipers.words import whole_commands

Standing = Literal["better", "worse", "no clear difference", "passed", "failed"]
SIGNS: dict[Standing, str] = {
    "better": "▲",
    "worse": "▼",
    "no clear difference": "~",
    "passed": "✓",
    "failed": "✗",
}
"""Five shapes that differ without colour."""


@dataclass(frozen=True)
class Claim(Plain):
    """One answer in four parts, always in this order."""

    standing: Standing | None
    """None where nothing was tested: a choice of k, an audit, a plan."""
    fact: str
    """What happened on these queries, and whether it holds beyond them."""
    range: str | None = None
    """What is likely on new queries, as a sentence."""
    next: str | None = None
    """What to do, or how many queries a fixed difference takes, as a sentence."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with commands as they can be pasted."""
        further = None if self.next is None else whole_commands(self.next)
        return {**super().to_dict(), "next": further}

    @property
    def sign(self) -> str:
        """The sign of its standing; empty without one."""
        return SIGNS[self.standing] if self.standing else ""

    @property
    def line(self) -> str:
        """The fact behind the sign of its standing.

        >>> Claim("worse", "recall@10 fell from 1.000 to 0.792.").line
        '▼ recall@10 fell from 1.000 to 0.792.'
        """
        return f"{self.sign} {self.fact}" if self.standing else self.fact


def moved(
    before: float, after: float, better: int, worse: int, n: int, unit: str = ""
) -> str:
    """How a mean moved on the same queries, and how many of them moved which way.

    >>> moved(1.0, 0.7917, 0, 3, 12)
    '1.000 → 0.792: 0 better, 3 worse of 12'
    """
    of = f"{n:,} {unit}".strip()
    return f"{before:.3f} → {after:.3f}: {better:,} better, {worse:,} worse of {of}"


PRINTED_AS_ONE = 0.995
"""A p of so much or more is printed as 1."""


def p_text(p: float) -> str:
    """A p-value as it is printed.

    >>> p_text(0.0312), p_text(0.25), p_text(0.00004), p_text(1.0)
    ('p = .031', 'p = .25', 'p < .001', 'p = 1')
    """
    if p < 0.001:
        return "p < .001"
    if p >= PRINTED_AS_ONE:
        return "p = 1"
    shown = f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return (
        "p = "
        f"{shown.removeprefix('0').rstrip('0') if p >= 0.1 else shown.removeprefix('0')}"
    )


@dataclass(frozen=True)
class QueriesToDetect:
    """About how many queries a fixed difference takes, as far as these queries can tell."""

    difference: float
    low: int
    """Queries, or clusters of them; both ends are rounded outward."""
    high: int

    @property
    def sentence(self) -> Sentence:
        """What it takes, in words.

        >>> QueriesToDetect(0.05, 200, 700).sentence
        'To detect 0.05 takes 200 to 700 queries.'
        """
        return self.sentence_for("queries")

    def fact(self, units: str = "queries", metric: str = "") -> Fact:
        """What it takes, as a fact."""
        return Fact(
            about="takes",
            metric=metric or None,
            difference=self.difference,
            low=self.low,
            high=self.high,
            text=units,
        )

    @property
    def phrase(self) -> Sentence:
        """The same as a part of a sentence.

        >>> QueriesToDetect(0.05, 200, 700).phrase
        'to detect 0.05 takes 200 to 700'
        """
        template = "to detect {it.difference:g} takes {range}"
        return sentence(template, it=self.fact(), range=self.range)

    def sentence_for(self, units: str, metric: str = "") -> Sentence:
        """The same for units that have another name, and of a metric.

        >>> QueriesToDetect(0.1, 20, 20).sentence_for("clusters", "recall@10")
        'To detect 0.1 in recall@10 takes about 20 clusters.'
        """
        within = " in {it.metric}" if metric else ""
        return sentence(
            "To detect {it.difference:g}" + within + " takes {range} {it.text}.",
            it=self.fact(units, metric),
            range=self.range,
        )

    @property
    def range(self) -> str:
        """Both ends in words."""
        return (
            f"about {self.low:,}"
            if self.low == self.high
            else f"{self.low:,} to {self.high:,}"
        )


def cannot_show(least: float, takes: QueriesToDetect) -> Sentence:
    """What some queries cannot show, however they change, and what a fixed difference takes.

    >>> cannot_show(6 / 120, QueriesToDetect(0.05, 300, 1000))
    'cannot show less than 0.05; to detect 0.05 takes 300 to 1,000'
    """
    shows = Fact(about="detects", value=least)
    less = sentence("cannot show less than {it.value:.2g}", it=shows)
    return joined(less if least < 1 else "can show no difference", takes.phrase, by="; ")


WhyNot = Literal["too few queries", "no spread", "too few moved"]
"""Why no detectable difference can be given. No spread: all differences are equal. Too
few moved: even the largest difference that there can be would often be missed."""


@dataclass(frozen=True)
class Visibility:
    """How small a difference this many queries detect (at ``power``, after correction)."""

    n: int
    power: float
    alpha: float
    """The false positive rate of one test: the total over the number of tests."""
    fewest: int
    """The smallest number of queries for which a detectable difference is given."""
    smallest: float | None
    """None where there are too few queries, or where nothing is known of the spread."""
    wanted: float | None
    """A rounder, smaller difference."""
    why_not: WhyNot | None = None
    """Where ``smallest`` is None."""
    takes: QueriesToDetect | None = None
    """How many queries would detect that one; None where too little changed to tell."""
