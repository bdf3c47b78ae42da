"""One judge's label for one query and one item."""

from dataclasses import asdict, replace
from typing import Literal, Self

import msgspec

from calipers.frozen import dataclass

MACHINE = "machine:"
"""Prefix of the name of a judge that is a language model."""
PERSON = "person:"
"""Prefix of the source of a label that a human gave."""
IMPORT = "import"
"""The source of a label that came with a ground truth: its annotator is unknown."""

JUDGED_BY = "judged_by"
"""The tag of a query that says who gave its labels: person:anna, machine:small, import,
or several with commas. Only labels that come from humans alone count as human."""
QUEUE = "queue"
"""The tag that says how the judged queries were chosen: an order of the queue that was
not finished, whole where all of it was judged, or at-random where they were drawn."""
AT_RANDOM = "at-random"
ALL = "all"
"""What a caller may declare where the labels do not: humans gave all of them, to queries
drawn at random or to every query."""
WHOLE_QUEUE = "whole"
CHECKED = "checked"
"""The tag of a made question that was drawn for people to check: what they said of it."""
TO_CHECK = "drawn"
FIT = "yes"
NOBODY = "nobody asks"
WRONG = "wrong target"
"""What that tag says: drawn and not checked yet, fit, or why it is not."""

MADE_FROM = ("faq", "links", "headings", "docstrings", "history")
"""Where `init FOLDER` takes questions from, in the order in which they are drawn. A made
question has one of these, or machine:NAME, as its tag ``source``, and the tags ``file``
and ``line``."""
MADE_TAGS = ("source", "file", "line")

TargetsAs = Literal["id", "quote", "span"]
"""How a judged item is recognised in the ground truth that is made of it."""
QueueOrder = Literal["moves", "plain"]
"""Questions whose labels can move a metric most come first, or questions as they came."""

Pair = tuple[str, str]
"""The query, and what identifies the item: its id, or else its text."""


_TEXTS = (
    "query",
    "item",
    "text",
    "title",
    "document",
    "judge",
    "note",
    "quote",
    "kind",
    "saved",
)


@dataclass(frozen=True)
class Label:
    """One row of a label file. An empty text is the same as none."""

    query_id: str
    query: str | None = None
    """The text of the question."""
    item: str | None = None
    text: str | None = None
    title: str | None = None
    """The title of the text in its corpus."""
    document: str | None = None
    start: int | None = None
    end: int | None = None
    grade: float | None = None
    """None until it is judged."""
    judge: str | None = None
    note: str | None = None
    quote: str | None = None
    """The part of the text that was marked."""
    quote_start: int | None = None
    """Where it begins in the text, in characters."""
    kind: str | None = None
    """The type of the row: a label unless given, or a skip, a note, a final label."""
    saved: str | None = None
    """When it was given, in UTC."""

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if getattr(self, name) == "":
                object.__setattr__(self, name, None)

    @property
    def pair(self) -> Pair:
        """What the label is about, the same in every judge's file.

        >>> Label("q1", item="c7", text="It is a lock.").pair
        ('q1', 'id c7')
        >>> Label("q1", text="It is  a lock.").pair == Label("q1", text="It is a lock.").pair
        True
        """
        if self.item is not None:
            return self.query_id, f"id {self.item}"
        # Imported when used: listing a command's options needs only the constants above.
        from calipers.text import normalise

        return self.query_id, f"text {normalise(self.text or '')}"

    def judged(
        self, judge: str | None, grade: float | None, note: str | None = None
    ) -> Self:
        """A copy of the row with this judgement in place of its own."""
        return replace(self, judge=judge, grade=grade, note=note)


def source_of(judge: str) -> str:
    """The source of this judge's labels.

    >>> source_of("anna"), source_of("machine:small")
    ('person:anna', 'machine:small')
    """
    return judge if is_machine(judge) else PERSON + judge


def is_peoples(sources: str | None) -> bool:
    """Whether the labels of a query come from humans alone, by its ``judged_by`` tag.

    >>> is_peoples("person:anna,person:ben"), is_peoples("person:anna,import"), is_peoples(None)
    (True, False, False)
    """
    return bool(sources) and all(
        word.startswith(PERSON) for word in str(sources).split(",")
    )


def is_machine(judge: str) -> bool:
    """Whether a judge is a language model.

    >>> is_machine("machine:small-model"), is_machine("anna")
    (True, False)
    """
    return judge.startswith(MACHINE)


DRAWN = "drawn"
"""The tag of an exported query that was drawn for the sample and then judged by
humans."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How a sample was drawn: fixed before the first label."""

    seed: int
    total: int
    """Queries that it was drawn from."""
    looks: tuple[int, ...]
    """Numbers of judged queries at which the result may be read."""
    until: float
    """The largest half-width that the interval may have."""
    confidence: float = 0.95
    ground_truth: str
    """The fingerprint of the machine's ground truth."""
    runs: tuple[str, ...]
    """The fingerprints of the runs whose results are judged."""


@dataclass(frozen=True, kw_only=True)
class SwitchDraw:
    """Two runs of which only what differs is labelled: fixed before the first label."""

    old: str
    new: str
    queries: int
    """The questions that they were asked, changed or not."""
    allow: float = 0.2
    """How many relevant results per query the new run may lose."""
    confidence: float = 0.95


@dataclass(frozen=True, kw_only=True)
class DrawnQuery:
    """One query of a sample, as it was exported."""

    draw: Draw
    place: int
    """Its position in the draw, from 1."""
    labels: str
    """The fingerprint of all human labels of the sample."""

    def as_tag(self) -> str:
        """The text of the tag."""
        return msgspec.json.encode(asdict(self)).decode()


def from_tag(text: str) -> DrawnQuery:
    """The drawn query that a tag describes; ValueError for any other text."""
    return msgspec.json.decode(text, type=DrawnQuery)
