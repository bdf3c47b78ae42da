"""Sentences that carry the facts they are made of.

A sentence is filled in from typed facts, and keeps them beside its text. So a program can
ask of any output whether each fact is what the data says, whether two of them contradict,
and whether every number in a text is one of them (``tests/worlds`` does).
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from string import Formatter
from typing import Any, Literal, Self, SupportsIndex

from calipers.frozen import dataclass
from calipers.words import number, plural, share, signed

About = Literal[
    "mean",  # a metric over queries
    "difference",  # a system or a build against another, on the same queries
    "slice",  # some queries against the others
    "not separated",  # systems that these queries cannot tell from the best
    "outweighed",  # one query that decides a mean
    "takes",  # how many queries a fixed difference takes
    "detects",  # the smallest difference that can show
    "left out",  # queries that no mean holds
    "choice",  # a k or a floor, and what it finds
    "bound",  # how much may be lost on new queries
    "requirement",  # what a mean must reach
    "count",  # how many there are of something
    "setting",  # a number that the user or the method fixed
    "name",  # a name, a date or a command that may hold digits
]
"""What a fact is about."""
Direction = Literal["better", "worse", "same"]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing that a sentence says, as values; what does not apply is None."""

    about: About
    system: str | None = None
    """What is measured: a system, a build, a name that is measured again and again."""
    against: str | None = None
    """What it is compared with."""
    metric: str | None = None
    slice: str | None = None
    """The queries it is about as tag=value; None: all."""
    value: float | None = None
    before: float | None = None
    """The value of what it is compared with."""
    difference: float | None = None
    """The value less that of what it is compared with."""
    low: float | None = None
    high: float | None = None
    """What is likely on new queries, or the range of an estimate."""
    queries: int | None = None
    """How many queries the value is of."""
    better: int | None = None
    worse: int | None = None
    """How many of them changed which way."""
    direction: Direction | None = None
    sure: bool | None = None
    """Whether the difference is significant."""
    k: int | None = None
    count: int | None = None
    of: int | None = None
    text: str | None = None
    """A name, a date, a command, or what is counted."""

    def to_dict(self) -> dict[str, Any]:
        """What applies, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


class Sentence(str):
    """A text with the facts that it is made of; everywhere else it is a text."""

    __slots__ = ("facts",)
    facts: tuple[Fact, ...]

    def __new__(cls, text: str, facts: Iterable[Fact] = ()) -> Self:
        """A text, and the facts that it is made of, each once."""
        sentence = super().__new__(cls, text)
        sentence.facts = tuple(dict.fromkeys(facts))
        return sentence

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        return type(self), (str(self), self.facts)


Part = Fact | str | int | float | None
"""What may stand in a template: a fact, a sentence with its facts, or words."""


def sentence(template: str, **parts: Part) -> Sentence:
    """Fill in a template, and keep the facts of its parts.

    ``{fact.value}`` has three places, ``:+`` a sign, ``:%`` whole percent or a plain
    word, ``:g`` as few digits as needed, and ``:query|queries`` the noun behind a count.

    >>> found = Fact(about="mean", metric="recall@10", value=0.8171, queries=42)
    >>> text = sentence("{it.metric} is {it.value} on {it.queries:query|queries}.", it=found)
    >>> text, text.facts == (found,)
    ('recall@10 is 0.817 on 42 queries.', True)
    """
    facts = [fact for part in parts.values() for fact in facts_of(part)]
    return Sentence(_FILL.vformat(template, (), parts), facts)


def joined(*texts: str | None, by: str = " ") -> Sentence:
    """Several texts as one, with the facts of all; what is empty is left out."""
    known = [text for text in texts if text]
    return Sentence(by.join(known), (fact for text in known for fact in facts_of(text)))


def facts_of(part: object) -> tuple[Fact, ...]:
    """The facts of a sentence, or of a fact itself; none of other values."""
    if isinstance(part, Fact):
        return (part,)
    return part.facts if isinstance(part, Sentence) else ()


def replaced(text: str, other: str) -> str:
    """Another wording of a text, with the same facts."""
    return Sentence(other, text.facts) if isinstance(text, Sentence) else other


def text_of(value: object) -> str:
    """The text of a sentence, for JSON that keeps no facts; refuses anything else."""
    if isinstance(value, Sentence):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def named(text: str) -> Fact:
    """A name, a date or a command, which may hold digits that measure nothing."""
    return Fact(about="name", text=text)


def commanded(template: str, command: str) -> Sentence:
    """A sentence with a command in it, where the template has ``{it.text}``."""
    return sentence(template, it=named(command))


def signed_short(value: float) -> str:
    """A difference with its sign and two places.

    >>> signed_short(-0.051), signed_short(0.3), signed_short(0.001)
    ('−0.05', '+0.30', '0.00')
    """
    text = f"{abs(value):.2f}"
    if not float(text):
        return text
    return ("+" if value > 0 else "−") + text


class _Fill(Formatter):
    """Fills in templates: every number is formatted here, and nowhere else."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is None:
            return "undefined"
        if isinstance(value, str):
            return str(value)
        if "|" in format_spec:
            singular, many = format_spec.split("|")
            return plural(int(value), singular, many)
        if isinstance(value, int):
            return f"{value:,}"
        return _SPECS.get(format_spec, number)(float(value))


_SPECS: dict[str, Callable[[float], str]] = {
    "": number,
    "+": signed,
    "%": share,
    "g": lambda value: f"{value:g}",
    ".1g": lambda value: f"{value:.1g}",
    ".2g": lambda value: f"{value:.2g}",
    ".3g": lambda value: f"{value:.3g}",
    ".4g": lambda value: f"{value:.4g}",
    ".15g": lambda value: f"{value:.15g}",
    ".0%": lambda value: f"{value:.0%}",
    ".2g%": lambda value: f"{100 * value:.2g}%",
    "g%": lambda value: f"{100 * value:g}%",
    "+.2f": lambda value: signed_short(value),
    ".2f": lambda value: f"{value:.2f}",
    ",": lambda value: f"{value:,.0f}",
}
_FILL = _Fill()
